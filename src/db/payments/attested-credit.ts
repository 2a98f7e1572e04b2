// Transfers and failed refunds make money of a merchant available. The process that records one attests it with the operator status
// that is its basis.
import { setImmediate } from 'node:timers/promises';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import {
  availableAccount,
  makesAvailable,
  type AccountId,
  type Posting,
  type PostingKind,
} from '../../domain/payments/ledger.ts';
import type { OperatorStatus, StatusBasis } from '../../domain/payments/operator-status.ts';
import type { PaymentId, PaymentRef } from '../../domain/payments/payment.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { columnsOf } from '../platform/columns.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import type { EntryRange } from './unposted.ts';

/** The attested basis of a credit. Kind and time are null if no status decided: a person did, or the payment was never sent. */
export type AttestedCreditStatus = {
  readonly kind: OperatorStatus['kind'] | null;
  readonly queriedAt: Date | null;
  readonly attestation: string;
};

/** The attested status of a posting of this payment, or null if the posting makes no money available. */
export function attestedStatusOf(
  { attestor }: Queryable,
  posting: Posting,
  paymentId: PaymentId,
  basis: StatusBasis | null,
): AttestedCreditStatus | null {
  return makesAvailable(posting.kind) ? attested(attestor, { ...posting, paymentId }, basis) : null;
}

/** The attested status of a refund that fails: its reserved money becomes available. */
export function attestedFailureOf(
  { attestor }: Queryable,
  refund: Reversal,
  basis: StatusBasis | null,
): AttestedCreditStatus {
  const { id: paymentId, merchantId, amountMinor, currency } = refund;
  const creditAccount = availableAccount(merchantId);
  return attested(attestor, { kind: REFUND_FAILED, paymentId, creditAccount, amountMinor, currency }, basis);
}

function attested(
  attestor: Queryable['attestor'],
  credit: Omit<Credit, 'statusKind' | 'statusQueriedAt'>,
  basis: StatusBasis | null,
): AttestedCreditStatus {
  const kind = basis?.kind ?? null;
  const queriedAt = basis && new Date(basis.queriedAtMs);
  const values = valuesOf({ ...credit, statusKind: kind, statusQueriedAt: queriedAt });
  return { kind, queriedAt, attestation: attestor.attest(TABLE, values, null) };
}

const TABLE = 'ledger_transfers';
const REFUND_FAILED = 'refund_failed';

type Credit = {
  readonly kind: PostingKind | typeof REFUND_FAILED;
  readonly paymentId: PaymentId;
  readonly creditAccount: AccountId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly statusKind: OperatorStatus['kind'] | null;
  readonly statusQueriedAt: Date | null;
};

function valuesOf(credit: Credit) {
  const { kind, paymentId, creditAccount, amountMinor, currency, statusKind, statusQueriedAt } = credit;
  return [kind, paymentId, creditAccount, amountMinor, currency, statusKind, statusQueriedAt];
}

type StoredCredit = Credit & { readonly statusAttestation: string | null; readonly isClosed?: boolean };

function isAttested({ attestor }: Queryable, credit: StoredCredit): boolean {
  return attestor.isAttested(TABLE, valuesOf(credit), credit.statusAttestation);
}

const COLUMNS = `kind, payment_id, credit_account_id AS credit_account, amount_minor, currency,
  status_kind, status_queried_at, status_attestation`;

// The limit forces the planner to read the index with the number of the entry.
const OF_ENTRIES = statement('ledger_credits_of_entries')`
  SELECT t.* FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (account_id, after, entry)
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM ledger_transfers
    WHERE credit_account_id = moved.account_id AND credit_entry > moved.after AND credit_entry <= moved.entry
    ORDER BY credit_entry LIMIT moved.entry - moved.after) AS t
  WHERE t.kind IN ('collection_paid', 'payout_voided', 'payout_returned')`;

const REFUND_COLUMNS = `'${REFUND_FAILED}' AS kind, r.id AS payment_id, r.merchant_id || '/available' AS credit_account,
    r.amount_minor, r.currency, r.status_kind, r.status_queried_at, r.status_attestation`;

// If the operator returned the collection, the money is gone, however the refund ended.
const OF_REFUNDS = statement('ledger_credits_of_refunds')`
  SELECT ${REFUND_COLUMNS},
    EXISTS (SELECT FROM discrepancies d WHERE d.payment_id = r.id AND d.kind = 'credit_unattested' AND d.settled_at IS NOT NULL) AS is_closed
  FROM payments r JOIN payments c ON c.id = r.collection_id
  WHERE r.merchant_id = ANY($1::text[]) AND r.kind = 'reversal' AND r.state = 'failed' AND c.state = 'succeeded'`;

/** Money that is available by a transfer or a failed refund that no process of ours attested. */
export type UnattestedCredit = {
  readonly ref: PaymentRef;
  readonly accountId: AccountId;
  readonly amountMinor: bigint;
  /** The table of the row that makes the money available. */
  readonly table: 'ledger_transfers' | 'payments';
  /** Whether a person settled the discrepancy of a refund. */
  readonly isClosed: boolean;
};

/** Verifying an attestation takes microseconds: after so many, the loop lets other tasks run. */
const AT_ONCE = 1000;

const ENTRIES_AT_ONCE = 10_000n;

/** The unattested credits among the entries of one account, of any number. */
export async function findAllUnattestedCredits(db: Queryable, range: EntryRange): Promise<UnattestedCredit[]> {
  const { accountId, entry: newest } = range;
  const unattested: UnattestedCredit[] = [];
  for (let after = range.after; after < newest; after += ENTRIES_AT_ONCE) {
    const entry = after + ENTRIES_AT_ONCE < newest ? after + ENTRIES_AT_ONCE : newest;
    unattested.push(...(await findUnattestedCredits(db, [{ accountId, after, entry }])));
  }
  return unattested;
}

/** The unattested credits by failed refunds of these merchants. A merchant has few failed refunds. */
export async function findUnattestedRefunds(
  db: Queryable,
  merchantIds: readonly string[],
): Promise<UnattestedCredit[]> {
  return unattestedAmong(db, await db.run<StoredCredit>(OF_REFUNDS, [merchantIds]));
}

/** The unattested credits among the entries of the ranges, read by one statement. */
export async function findUnattestedCredits(db: Queryable, ranges: readonly EntryRange[]): Promise<UnattestedCredit[]> {
  const values = columnsOf(ranges, 'accountId', 'after', 'entry');
  return unattestedAmong(db, await db.run<StoredCredit>(OF_ENTRIES, values));
}

async function unattestedAmong(db: Queryable, credits: readonly StoredCredit[]): Promise<UnattestedCredit[]> {
  const unattested: UnattestedCredit[] = [];
  for (const [index, credit] of credits.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (!isAttested(db, credit)) unattested.push(toUnattested(credit));
  }
  return unattested;
}

function toUnattested(credit: StoredCredit): UnattestedCredit {
  const { paymentId: id, creditAccount: accountId, amountMinor, isClosed = false } = credit;
  const merchantId = accountId.slice(0, accountId.indexOf('/')) as MerchantId;
  const kind = isId('col', id) ? 'collection' : isId('pay', id) ? 'payout' : 'reversal';
  const table = kind === 'reversal' ? 'payments' : 'ledger_transfers';
  return { ref: { kind, id, merchantId } as PaymentRef, accountId, amountMinor, table, isClosed };
}

const OF_COLLECTION = statement('ledger_credit_of_collection')`
  SELECT ${COLUMNS}, credit_entry,
    EXISTS (SELECT FROM discrepancies d WHERE d.payment_id = $1 AND d.kind = 'credit_unattested') AS is_reported
  FROM ledger_transfers WHERE payment_id = $1 AND kind = 'collection_paid'`;

type CollectionCredit = StoredCredit & { readonly creditEntry: bigint; readonly isReported: boolean };

/**
 * Whether a process of ours recorded that the operator reported this collection as paid. A check verified the entries up to `checkedTo`
 * and reported unattested ones, so these count without a valid attestation: the key may have been replaced since.
 */
export async function isPaymentAttested(db: Queryable, collectionId: string, checkedTo: bigint): Promise<boolean> {
  const credit = await findOne<CollectionCredit>(db, OF_COLLECTION, [collectionId]);
  if (credit === null) return false;
  return isAttested(db, credit) || (credit.creditEntry <= checkedTo && !credit.isReported);
}

const FAILED_REFUNDS = statement('ledger_failed_refunds')`
  SELECT ${REFUND_COLUMNS}
  FROM payments r WHERE r.kind = 'reversal' AND r.state = 'failed' AND r.id > greatest($1, 'rev_') ORDER BY r.id LIMIT $2`;
const RENEW_REFUNDS = statement('ledger_failed_refunds_renew')`
  UPDATE payments r SET status_attestation = renewed.attestation
  FROM unnest($1::text[], $2::text[], $3::text[]) AS renewed (id, before, attestation)
  WHERE r.id = renewed.id AND r.status_attestation = renewed.before`;

export type RenewedRefunds = {
  readonly attested: number;
  readonly unattested: readonly string[];
  readonly last: string | null;
};

/**
 * Verifies the next failed refunds after this id, at most `limit`. With `isRenewed`, attests the valid ones again with the key ring's
 * first key. `last` is null if there are no more.
 */
export async function renewFailedRefunds(
  db: Queryable,
  { after, limit, isRenewed }: { readonly after: string; readonly limit: number; readonly isRenewed: boolean },
): Promise<RenewedRefunds> {
  const refunds = await db.run<StoredCredit>(FAILED_REFUNDS, [after, limit]);
  const ours = refunds.filter((refund) => isAttested(db, refund));
  if (isRenewed && ours.length > 0) {
    const ids = ours.map(({ paymentId }) => paymentId);
    const before = ours.map(({ statusAttestation }) => statusAttestation);
    await db.run(RENEW_REFUNDS, [ids, before, ours.map((refund) => db.attestor.attest(TABLE, valuesOf(refund), null))]);
  }
  const unattested = refunds.filter((refund) => !ours.includes(refund)).map(({ paymentId }) => paymentId);
  return { attested: ours.length, unattested, last: refunds.at(-1)?.paymentId ?? null };
}
