// Accepts a payout of a cached API key in one statement.
import { availableAccount } from '../../domain/payments/ledger.ts';
import type { Environment } from '../../domain/event.ts';
import type { StoredResponse } from '../../domain/payments/stored-outcome.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { KeyedRequest } from '../../security/request-fingerprint.ts';
import { PERMISSION_VERSION } from '../accounts/payout-permission.ts';
import { parametersOf } from '../platform/columns.ts';
import { findOne, isRefusedValue, statement, type Database } from '../platform/database.ts';
import { hasResponse, putKey, tryLockKey } from './idempotency-key.ts';
import { lockSpendableOf } from './ledger.ts';
import { announceNewPayout, insertNewPayout, NEW_PAYOUT, NEW_PAYOUT_WORK, newPayoutValues } from './payout.ts';
import { changeParts, consequencesOf, IS_OWED, type RecordedChange } from './change-statement.ts';

export type PayoutAcceptance = {
  readonly payout: Payout;
  readonly request: KeyedRequest;
  readonly response: StoredResponse;
  /** The version of the payout permission at its verification. */
  readonly permissionVersion: string;
  /** The most that the queued payouts of the API key may hold together; null: no limit. */
  readonly keyHeldLimitMinor: bigint | null;
};

const { merchantId, idempotencyKey, apiKeyId, amountMinor } = NEW_PAYOUT.placeOf;
/** The acceptance's own parameters, which follow those of the payout. */
const OWN = parametersOf('permission, available, limit, fingerprint, status, body, at', NEW_PAYOUT.next);
const { permission, available, limit, fingerprint, status, body, at } = OWN.placeOf;
const KEY = [merchantId, idempotencyKey] as const;
const KEY_IF_LIMITED = `CASE WHEN ${limit}::bigint IS NOT NULL THEN ${apiKeyId} END`;
const NEW_KEY = [...KEY, fingerprint, status, body, at].join(', ');

// Each part reads from the part before, so its call runs only if the part before has a row. A payout that an early part refuses does not
// lock the merchant's account, and waits for no other call.
const ACCEPT = statement('payout_accept')`
  WITH confirmed AS MATERIALIZED (
    SELECT k.merchant_id FROM api_keys k WHERE k.id = ${apiKeyId} AND ${PERMISSION_VERSION} = ${permission}),
  locked AS MATERIALIZED (
    SELECT merchant_id FROM confirmed WHERE ${tryLockKey(...KEY)} AND NOT ${hasResponse(...KEY, at)}),
  payable AS MATERIALIZED (
    SELECT FROM locked CROSS JOIN LATERAL
      ${lockSpendableOf('locked.merchant_id', available, KEY_IF_LIMITED)} AS now
    WHERE now.spendable_minor >= ${amountMinor}
      AND (${limit}::bigint IS NULL OR now.queued_of_key_minor + ${amountMinor} <= ${limit}::bigint)),
  claimed AS (${putKey(`SELECT ${NEW_KEY} FROM payable`)}),
  ${changeParts(insertNewPayout('FROM claimed', ''))},
  ${NEW_PAYOUT_WORK}
  SELECT EXISTS (SELECT FROM confirmed) AS is_confirmed, EXISTS (SELECT FROM moved) AS is_created, ${IS_OWED}`;

type Accepted = RecordedChange & { readonly isConfirmed: boolean; readonly isCreated: boolean };

/**
 * Claims the idempotency key, stores the response and inserts the payout with its money held, in one statement that is its own
 * transaction: `created`. Otherwise nothing is written. `unconfirmed`: the payout permission was written since its verification.
 * `undecided`: there is any other obstacle, such as a response under the idempotency key, too little money, or a refused value.
 */
export async function acceptPayout(
  db: Database,
  acceptance: PayoutAcceptance,
  environment: Environment,
): Promise<'created' | 'unconfirmed' | 'undecided'> {
  const { payout, request, response, permissionVersion, keyHeldLimitMinor } = acceptance;
  const consequences = consequencesOf(db, payout, environment);
  const ownValues = OWN.valuesOf({
    permission: permissionVersion,
    available: availableAccount(payout.merchantId),
    limit: keyHeldLimitMinor,
    fingerprint: request.fingerprint,
    status: response.status,
    body: response.body,
    at: request.at,
  });
  const accepted = await accept(db, [...newPayoutValues(payout, consequences), ...ownValues]);
  if (accepted?.isConfirmed === false) return 'unconfirmed';
  if (!accepted?.isCreated) return 'undecided';
  announceNewPayout(db, payout, consequences, accepted);
  return 'created';
}

async function accept(db: Database, values: readonly unknown[]): Promise<Accepted | null> {
  try {
    return await findOne<Accepted>(db, ACCEPT, values);
  } catch (error) {
    if (isRefusedValue(error)) return null;
    throw error;
  }
}
