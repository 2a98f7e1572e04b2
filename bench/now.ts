// The time of day in milliseconds, with fractions: comparable between processes of one machine.

export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
