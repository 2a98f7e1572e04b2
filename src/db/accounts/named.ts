// People and API keys beside what they did, read with the row in one statement.

/** SQL of `{ id, name, email }` of a row of `users`, or null where an outer join found none. */
export function namedPerson(alias: string): string {
  return `CASE WHEN ${alias}.id IS NOT NULL
    THEN json_build_object('id', ${alias}.id, 'name', ${alias}.name, 'email', ${alias}.email) END`;
}

/** SQL of `{ id, name }` of a row of `api_keys`, or null where an outer join found none. */
export function namedKey(alias: string): string {
  return `CASE WHEN ${alias}.id IS NOT NULL THEN json_build_object('id', ${alias}.id, 'name', ${alias}.name) END`;
}
