// Access tokens of operators, shared by all processes: sealed, and renewed by one process at a time.
import type { StaffProposalId } from '../../domain/ids.ts';
import type { Product } from '../../domain/payments/breaker.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { seal, tryToOpen, type KeyRing } from '../../security/sealing.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';

const FIND = statement('operator_token_find')`
  SELECT number::float8, token_sealed, extract(epoch FROM renew_at - clock_timestamp())::float8 * 1000 AS renew_in_ms
  FROM operator_tokens WHERE operator = $1 AND product = $2`;
const BEGIN_RENEWAL = statement('operator_token_begin_renewal')`
  INSERT INTO operator_tokens AS t (operator, product, number, renewing_until)
  SELECT $1, $2, 0, now() + make_interval(secs => $4 / 1000.0)
  WHERE $3 = 0 OR EXISTS (SELECT FROM operator_tokens WHERE operator = $1 AND product = $2)
  ON CONFLICT (operator, product) DO UPDATE SET renewing_until = excluded.renewing_until
  WHERE t.number = $3 AND (t.renewing_until IS NULL OR t.renewing_until <= now())
  RETURNING 1`;
const REPLACE = statement('operator_token_replace')`
  UPDATE operator_tokens SET number = number + 1, token_sealed = $4, renew_at = now() + make_interval(secs => $5 / 1000.0),
    renewing_until = NULL
  WHERE operator = $1 AND product = $2 AND number = $3`;
const GIVE_UP = statement('operator_token_give_up')`
  UPDATE operator_tokens SET renewing_until = NULL WHERE operator = $1 AND product = $2 AND number = $3`;

export type OperatorToken = {
  readonly number: number;
  readonly token: string | null;
  readonly renewInMs: number;
};

type TokenRow = {
  readonly operator: OperatorId;
  readonly product: Product;
  /** By which the account has its present credentials: a token of earlier ones is not opened, and renewed. */
  readonly proposalId: StaffProposalId;
  readonly ring: KeyRing;
};

/** The token of one product. Each method is one statement, and rejects if the database is unavailable. */
export function operatorTokens(db: Queryable, { operator, product, proposalId, ring }: TokenRow) {
  const row = [operator, product];
  const context = [...row, proposalId].join('.');
  return {
    /** Null if there is none, or if none of our keys opens it, so that it is renewed. */
    async read(): Promise<OperatorToken | null> {
      type Row = { readonly number: number; readonly tokenSealed: string | null; readonly renewInMs: number | null };
      const found = await findOne<Row>(db, FIND, row);
      if (found === null) return null;
      const { number, tokenSealed, renewInMs } = found;
      return { number, token: tokenSealed && tryToOpen(tokenSealed, context, ring), renewInMs: renewInMs ?? 0 };
    },

    /** True: only the caller renews the token of this number until `leaseMs` have passed. */
    async beginRenewal(number: number, leaseMs: number): Promise<boolean> {
      return (await db.run(BEGIN_RENEWAL, [...row, number, leaseMs])).length === 1;
    },

    /** Replaces the token of this number if it is still stored; null only ends the renewal. */
    async endRenewal(
      number: number,
      renewed: { readonly token: string; readonly renewInMs: number } | null,
    ): Promise<void> {
      if (renewed === null) await db.run(GIVE_UP, [...row, number]);
      else await db.run(REPLACE, [...row, number, seal(renewed.token, context, ring), renewed.renewInMs]);
    },
  };
}
