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
import type { ReversalTransitionInput } from '../../domain/payments/reversal-progress.ts';
import { isNeverAccepted } from '../../domain/payments/sent-money.ts';

export type RecordReversalTransition = {
  readonly merchantId: MerchantId;
  readonly reversalId: ReversalId;
  readonly transition: ReversalTransitionInput;
  readonly environment: Environment;
  readonly timings: ChangeTimings & { readonly notFoundGraceMs: number };
  readonly at: Date;
};

/** `isBooked` is false when the refund was paid and the collection had gone back without it: money left twice. */
export type RecordedReversal = { readonly reversal: Reversal; readonly isBooked: boolean };

const STATE_AFTER: Readonly<Record<ReversalTransitionInput['kind'], ReversalState>> = {
  refunded: 'succeeded',
  declined: 'failed',
  never_accepted: 'failed',
  outcome_unknown: 'reconciling',
};

/**
 * The reversal as it then is; one that has ended stays as it is, whatever comes after. A collection that the provider
 * reversed by itself meanwhile is left so, and that the money went back twice is kept as a discrepancy. A refund was never
 * taken only if the row and the clock say so too. Throws `reversal_not_found`.
 */
export async function recordReversalTransition(
  db: Database,
  input: RecordReversalTransition,
): Promise<RecordedReversal> {
  return db.withTransaction(async (tx) => {
    const before = await findReversal(tx, input.merchantId, input.reversalId);
    if (before === null) throw new DomainError('reversal_not_found', 'There is no reversal with this id.');
    const { transition, at, timings } = input;
    const state = STATE_AFTER[transition.kind];
    if (transition.kind === 'never_accepted') {
      const sending = { sendDeadlineAtMs: before.sendDeadlineAt.getTime(), isAccepted: before.acceptedAt !== null };
      const queriedAtMs = Math.min(transition.queriedAtMs, at.getTime());
      if (!isNeverAccepted(sending, queriedAtMs, timings.notFoundGraceMs)) return { reversal: before, isBooked: true };
    }
    if (before.state === 'succeeded' || before.state === 'failed' || before.state === state) {
      return { reversal: before, isBooked: true };
    }
    const after: Reversal = {
      ...before,
      state,
      failureCode: failureOf(transition),
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
    const requiresNotAccepted = transition.kind === 'never_accepted';
    if (!(await updateReversal(tx, { before, after, checkDueAt, requiresNotAccepted }))) {
      throw new Error('the reversal changed; again');
    }
    return { reversal: after, isBooked };
  });
}

function failureOf(transition: ReversalTransitionInput): FailureCode | null {
  if (transition.kind === 'never_accepted') return 'operator_unavailable';
  return transition.kind === 'declined' ? transition.failureCode : null;
}

async function reverseCollection(tx: Tx, reversal: Reversal, input: RecordReversalTransition): Promise<boolean> {
  const { at, environment, timings } = input;
  const collection = await findCollection(tx, reversal.merchantId, reversal.collectionId);
  const change = collection && changeCollection(collection, { kind: 'returned' }, at, timings);
  if (!change) return false;
  const isRecorded = await recordCollectionChange(tx, change, environment);
  if (!isRecorded)
    throw new Error(`collection ${reversal.collectionId} changed while its reversal was recorded; again`);
  return true;
}
