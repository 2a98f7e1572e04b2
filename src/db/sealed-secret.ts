// Sealed secrets in all the places where they are kept, to be sealed anew under another key.
import { statement, type Queryable, type Tx } from './database.ts';

export type SealedSecret = {
  /** Of the row, which the secret is sealed for. */
  readonly id: string;
  readonly sealed: string;
};

const COLUMNS = [
  ['endpoints', 'secret_sealed'],
  ['endpoints', 'previous_secret_sealed'],
  ['users', 'totp_secret_sealed'],
  ['users', 'totp_pending_sealed'],
] as const;

/** One kind of secret. */
export type SealedColumn = {
  /** At most `limit` that are sealed by one of these keys. */
  list(db: Queryable, keyNames: readonly string[], limit: number): Promise<SealedSecret[]>;
  /** Replaces those that are still what they were read as; returns how many. */
  replace(tx: Tx, secrets: readonly (SealedSecret & { readonly anew: string })[]): Promise<number>;
  /** How many are sealed by none of these keys. */
  countOthers(db: Queryable, keyNames: readonly string[]): Promise<number>;
};

/** All there are. */
export const SEALED_COLUMNS: readonly SealedColumn[] = COLUMNS.map(([table, column]) => {
  // What stands before the first dot names the key.
  const keyName = `split_part(${column}, '.', 1)`;
  const LIST = statement(
    `sealed_list_${column}`,
    `SELECT id, ${column} AS sealed FROM ${table} WHERE ${keyName} = ANY($1) ORDER BY id LIMIT $2`,
  );
  const REPLACE = statement(
    `sealed_replace_${column}`,
    `UPDATE ${table} SET ${column} = r.anew FROM unnest($1::text[], $2::text[], $3::text[]) AS r (id, sealed, anew)
     WHERE ${table}.id = r.id AND ${table}.${column} = r.sealed RETURNING 1`,
  );
  const COUNT_OTHERS = statement(
    `sealed_count_others_${column}`,
    `SELECT count(*)::int AS count FROM ${table} WHERE ${keyName} <> ALL($1)`,
  );
  return {
    list: (db, keyNames, limit) => db.run<{ id: string; sealed: string }>(LIST, [keyNames, limit]),
    async replace(tx, secrets) {
      const columns = [
        secrets.map(({ id }) => id),
        secrets.map(({ sealed }) => sealed),
        secrets.map(({ anew }) => anew),
      ];
      return (await tx.run(REPLACE, columns)).length;
    },
    async countOthers(db, keyNames) {
      const [row] = await db.run<{ count: number }>(COUNT_OTHERS, [keyNames]);
      return row?.count ?? 0;
    },
  };
});
