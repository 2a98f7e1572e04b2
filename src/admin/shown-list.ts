// The lists that the staff's commands print: a line each, and what is said of none and of too many.

export const MAX_SHOWN = 100;

/** The text of a list that was read with a limit of one more than `MAX_SHOWN`. */
export function shownList<Row>(
  found: readonly Row[],
  { none, more }: { readonly none: string; readonly more: string },
  lineOf: (row: Row) => string,
): string {
  if (found.length === 0) return `${none}\n`;
  const lines = found.slice(0, MAX_SHOWN).map((row) => `${lineOf(row)}\n`);
  return `${lines.join('')}${found.length > MAX_SHOWN ? `${more}\n` : ''}`;
}
