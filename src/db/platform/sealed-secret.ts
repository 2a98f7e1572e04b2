// The columns with sealed secrets, for resealing them with another key.
import { columnsOf } from './columns.ts';
import { readCount, statement, type Queryable, type Tx } from './database.ts';

export type SealedSecret = {
  /** The id of the row. */
  readonly id: string;
  /** The context for which the secret is sealed. */
  readonly context: string;
  readonly sealed: string;
};

/** The same secret, sealed with the current key as `resealed`. */
export type ResealedSecret = SealedSecret & { readonly resealed: string };

const COLUMNS = [
  ['endpoints', 'secret_sealed', 'id'],
  ['endpoints', 'previous_secret_sealed', 'id'],
  ['staff_members', 'totp_secret_sealed', 'coalesce(proposal_id, id)'],
  ['users', 'totp_secret_sealed', 'id'],
  ['users', 'totp_pending_sealed', 'id'],
] as const;

/** One column of sealed secrets. */
export type SealedColumn = {
  /** At most `limit` secrets that one of these keys sealed. */
  list(db: Queryable, keyNames: readonly string[], limit: number): Promise<SealedSecret[]>;
  /** Replaces the secrets that have not changed since they were read; returns how many. */
  replace(tx: Tx, secrets: readonly ResealedSecret[]): Promise<number>;
  /** How many secrets none of these keys sealed. */
  countOthers(db: Queryable, keyNames: readonly string[]): Promise<number>;
};

export const SEALED_COLUMNS: readonly SealedColumn[] = COLUMNS.map(([table, column, context]) => {
  // The text before the first dot is the key's name.
  const keyName = `split_part(${column}, '.', 1)`;
  const LIST = statement(`sealed_list_${table}_${column}`)`
    SELECT id, ${context} AS context, ${column} AS sealed FROM ${table} WHERE ${keyName} = ANY($1) ORDER BY id LIMIT $2`;
  const REPLACE = statement(`sealed_replace_${table}_${column}`)`
    UPDATE ${table} SET ${column} = r.resealed
    FROM unnest($1::text[], $2::text[], $3::text[]) AS r (id, sealed, resealed)
    WHERE ${table}.id = r.id AND ${table}.${column} = r.sealed RETURNING 1`;
  const COUNT_OTHERS = statement(`sealed_count_${table}_${column}`)`
    SELECT count(*)::int AS count FROM ${table} WHERE ${keyName} <> ALL($1)`;
  return {
    list: (db, keyNames, limit) => db.run<SealedSecret>(LIST, [keyNames, limit]),
    async replace(tx, secrets) {
      return (await tx.run(REPLACE, columnsOf(secrets, 'id', 'sealed', 'resealed'))).length;
    },
    async countOthers(db, keyNames) {
      return readCount(db, COUNT_OTHERS, [keyNames]);
    },
  };
});
