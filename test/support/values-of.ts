// Reads one member of every row, to compare it with a list.

/** The values of this member, in the order of the rows. */
export function valuesOf<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((row) => row[name]);
}
