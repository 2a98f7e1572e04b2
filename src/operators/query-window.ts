export type QueryWindow = { size(): number; answered(isInTime: boolean): void };
export function createQueryWindow({ max }: { readonly max: number; readonly roundMs: number }): QueryWindow {
  return { size: () => max, answered: () => undefined };
}
