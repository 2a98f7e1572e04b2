// Names of people and API keys beside what they did, read with the row in one statement.

/** SQL of `{ id, name }` of a row of `users` or `api_keys`, or null where an outer join found none. */
export function named(alias: string): string {
  return `CASE WHEN ${alias}.id IS NOT NULL THEN json_build_object('id', ${alias}.id, 'name', ${alias}.name) END`;
}
