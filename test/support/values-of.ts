// Reads members of every row, to compare them with a list.

/** The values of this member, in the order of the rows. */
export function valuesOf<Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((row) => row[name]);
}

/** The values of these members, a list for each row, in the order of the rows. */
export function columnsOf<Row, Name extends keyof Row>(rows: readonly Row[], ...names: readonly Name[]): Row[Name][][] {
  return rows.map((row) => names.map((name) => row[name]));
}
