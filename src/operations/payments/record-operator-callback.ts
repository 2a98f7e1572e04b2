// Keeps what an operator called back with, and tells which payment it speaks of.
import { findCollectionByOperatorReference } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import { insertOperatorCallback, type CallbackSubject } from '../../db/payments/operator-callback.ts';
import { findPayoutByOperatorReference } from '../../db/payments/payout.ts';
import { findReversalByOperatorReference } from '../../db/payments/reversal.ts';
import { scheduleRecheckAt } from '../../db/payments/recheck.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';

/** An honest operator calls once, or a few times; the rest is noise and is not kept. */
const MOST_PER_PAYMENT = 20;
/** The workflow that the callback wakes is to ask first. */
const ASK_AGAIN_AFTER_MS = 60_000;

export type RecordOperatorCallback = {
  readonly operator: OperatorId;
  readonly operatorReference: string;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

/** The payment or refund that an operator speaks of, whichever it is. */
export type CalledBackWork =
  | { readonly noun: 'collection'; readonly work: Collection }
  | { readonly noun: 'payout'; readonly work: Payout }
  | { readonly noun: 'reversal'; readonly work: Reversal };

/**
 * What it speaks of and whether this callback is kept, or null for a reference we never gave out (nothing is kept: anyone
 * can call, and strangers fill no disk). Changes no payment: a callback is a hint.
 */
export async function recordOperatorCallback(
  db: Database,
  input: RecordOperatorCallback,
): Promise<{ calledBack: CalledBackWork; isKept: boolean } | null> {
  const calledBack = await findCalledBack(db, input);
  if (calledBack === null) return null;
  const subject = { noun: calledBack.noun, id: calledBack.work.id } as CallbackSubject;
  // Nothing polls what has ended, and strangers may have used up what is kept of its callbacks: so that nothing that
  // follows is ever missed, the sweep asks too, once for any number of callbacks. What is not paid, only the sweep asks.
  const { state } = calledBack.work;
  if (state === 'succeeded' || state === 'failed') {
    const dueAt = new Date(input.receivedAt.getTime() + (state === 'succeeded' ? ASK_AGAIN_AFTER_MS : 0));
    await scheduleRecheckAt(db, { table: `${calledBack.noun}s`, id: subject.id }, dueAt);
  }
  const { isKept } = await insertOperatorCallback(db, { ...input, subject }, MOST_PER_PAYMENT);
  return { calledBack, isKept };
}

// The most frequent kind first.
async function findCalledBack(
  db: Database,
  { operator, operatorReference }: RecordOperatorCallback,
): Promise<CalledBackWork | null> {
  const collection = await findCollectionByOperatorReference(db, operator, operatorReference);
  if (collection) return { noun: 'collection', work: collection };
  const payout = await findPayoutByOperatorReference(db, operator, operatorReference);
  if (payout) return { noun: 'payout', work: payout };
  const reversal = await findReversalByOperatorReference(db, operator, operatorReference);
  return reversal && { noun: 'reversal', work: reversal };
}
