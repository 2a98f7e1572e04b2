// Accepts a payout of a cached API key in one statement.
import { availableAccount } from '../../domain/payments/ledger.ts';
import type { Environment } from '../../domain/event.ts';
import type { StoredResponse } from '../../domain/payments/stored-outcome.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { KeyedRequest } from '../../security/request-fingerprint.ts';
import { PERMISSION_VERSION } from '../accounts/payout-permission.ts';
import { findOne, isRefusedValue, statement, type Database } from '../platform/database.ts';
import { hasResponse, putKey, tryLockKey } from './idempotency-key.ts';
import { lockSpendableOf } from './ledger.ts';
import { announceNewPayout, insertNewPayout, NEW_PAYOUT_WORK, newPayoutValues } from './payout.ts';
import { changeParts, consequencesOf, IS_OWED, type RecordedChange } from './change-statement.ts';

export type PayoutAcceptance = {
  readonly payout: Payout;
  readonly request: KeyedRequest;
  readonly response: StoredResponse;
  /** Of what the payout was decided on, when that was verified. */
  readonly permissionVersion: string;
  /** The most that the queued payouts of its key may hold together; null: no limit. */
  readonly keyHeldLimitMinor: bigint | null;
};

// Each part reads from the one before, so that its call runs only then: whoever is refused by what comes first takes no lock of the
// merchant's account, and waits for nobody.
const ACCEPT = statement('payout_accept')`
  WITH confirmed AS MATERIALIZED (
    SELECT k.merchant_id FROM api_keys k WHERE k.id = $26 AND ${PERMISSION_VERSION} = $32),
  locked AS MATERIALIZED (
    SELECT merchant_id FROM confirmed WHERE ${tryLockKey('$15', '$16')} AND NOT ${hasResponse('$15', '$16', '$38')}),
  payable AS MATERIALIZED (
    SELECT FROM locked CROSS JOIN LATERAL
      ${lockSpendableOf('locked.merchant_id', '$33', 'CASE WHEN $34::bigint IS NOT NULL THEN $26 END')} AS now
    WHERE now.spendable_minor >= $17
      AND ($34::bigint IS NULL OR now.queued_of_key_minor + $17 <= $34::bigint)),
  claimed AS (${putKey('SELECT $15, $16, $35, $36, $37, $38 FROM payable')}),
  ${changeParts(insertNewPayout('FROM claimed', ''))},
  ${NEW_PAYOUT_WORK}
  SELECT EXISTS (SELECT FROM confirmed) AS is_confirmed, EXISTS (SELECT FROM moved) AS is_created, ${IS_OWED}`;

type Accepted = RecordedChange & { readonly isConfirmed: boolean; readonly isCreated: boolean };

/**
 * Claims the idempotency key, stores the response and inserts the payout with its money held, in one statement that is a transaction of
 * its own: `created`. Otherwise nothing is written. `unconfirmed`: what the payout was decided on was written since. `undecided`:
 * anything else speaks against the payout, such as a response under its idempotency key, too little money, or a refused value.
 */
export async function acceptPayout(
  db: Database,
  acceptance: PayoutAcceptance,
  environment: Environment,
): Promise<'created' | 'unconfirmed' | 'undecided'> {
  const { payout, request, response, permissionVersion, keyHeldLimitMinor } = acceptance;
  const consequences = consequencesOf(db, payout, environment);
  const values = [
    ...newPayoutValues(payout, consequences),
    permissionVersion,
    availableAccount(payout.merchantId),
    keyHeldLimitMinor,
    request.fingerprint,
    response.status,
    response.body,
    request.at,
  ];
  const accepted = await accept(db, values);
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
