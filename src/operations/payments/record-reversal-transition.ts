// Records how a refund went: with its success the collection is reversed in the same transaction.
import { recordCollectionChange } from '../../db/payments/collection-change.ts';
import { findCollection } from '../../db/payments/collection.ts';
import type { Database, Tx } from '../../db/database.ts';
import { insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import { findReversal, updateReversal } from '../../db/payments/reversal.ts';
import { changeCollection, type ChangeTimings } from '../../domain/payments/collection-change.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { FailureCode } from '../../domain/payments/failure.ts';
import type { MerchantId, ReversalId } from '../../domain/ids.ts';
import type { Reversal, ReversalState } from '../../domain/payments/reversal.ts';
import type { ReversalFact } from '../../domain/payments/reversal-progress.ts';
import { isNeverTaken } from '../../domain/payments/sent-money.ts';

export type RecordReversalFact = {
  readonly merchantId: MerchantId;
  readonly reversalId: ReversalId;
  readonly fact: ReversalFact;
  readonly environment: Environment;
  readonly timings: ChangeTimings & { readonly notFoundGraceMs: number };
  readonly at: Date;
};

/** `isBooked` is false when the refund was paid and the collection had gone back without it: money left twice. */
export type RecordedReversal = { readonly reversal: Reversal; readonly isBooked: boolean };

const STATE_OF_FACT: Readonly<Record<ReversalFact['fact'], ReversalState>> = {
  refunded: 'succeeded',
  declined: 'failed',
  never_taken: 'failed',
  outcome_unknown: 'reconciling',
};

/**
 * The reversal as it then is; one that has ended stays as it is, whatever comes after. A collection that the provider
 * reversed by itself meanwhile is left so, and that the money went back twice is kept as a discrepancy. A refund was never
 * taken only if the row and the clock say so too. Throws `reversal_not_found`.
 */
export async function recordReversalFact(db: Database, input: RecordReversalFact): Promise<RecordedReversal> {
  return db.withTransaction(async (tx) => {
    const before = await findReversal(tx, input.merchantId, input.reversalId);
    if (before === null) throw new DomainError('reversal_not_found', 'There is no reversal with this id.');
    const { fact, at, timings } = input;
    const state = STATE_OF_FACT[fact.fact];
    if (fact.fact === 'never_taken') {
      const sending = { sendDeadlineAtMs: before.sendDeadlineAt.getTime(), isTaken: before.takenAt !== null };
      const askedAtMs = Math.min(fact.askedAtMs, at.getTime());
      if (!isNeverTaken(sending, askedAtMs, timings.notFoundGraceMs)) return { reversal: before, isBooked: true };
    }
    if (before.state === 'succeeded' || before.state === 'failed' || before.state === state) {
      return { reversal: before, isBooked: true };
    }
    const after: Reversal = {
      ...before,
      state,
      failureCode: failureOf(fact),
      updatedAt: at,
    };
    const isOver = state === 'succeeded' || state === 'failed';
    const checkDueAt = isOver ? null : new Date(at.getTime() + timings.overdueAfterMs);
    const isBooked = state !== 'succeeded' || (await reverseCollection(tx, after, input));
    if (!isBooked) {
      const { id, merchantId } = after;
      const found = { table: 'reversals', id, merchantId, kind: 'refunded_twice', operatorReceipt: null } as const;
      await insertDiscrepancy(tx, { ...found, foundAt: at });
    }
    // Somebody else recorded its end meanwhile: the repeat finds that.
    const isOfUntaken = fact.fact === 'never_taken';
    if (!(await updateReversal(tx, { before, after, checkDueAt, isOfUntaken }))) {
      throw new Error('the reversal changed; again');
    }
    return { reversal: after, isBooked };
  });
}

function failureOf(fact: ReversalFact): FailureCode | null {
  if (fact.fact === 'never_taken') return 'operator_unavailable';
  return fact.fact === 'declined' ? fact.failureCode : null;
}

async function reverseCollection(tx: Tx, reversal: Reversal, input: RecordReversalFact): Promise<boolean> {
  const { at, environment, timings } = input;
  const collection = await findCollection(tx, reversal.merchantId, reversal.collectionId);
  const change = collection && changeCollection(collection, { fact: 'returned' }, at, timings);
  if (!change) return false;
  const isRecorded = await recordCollectionChange(tx, change, environment);
  if (!isRecorded)
    throw new Error(`collection ${reversal.collectionId} changed while its reversal was recorded; again`);
  return true;
}
