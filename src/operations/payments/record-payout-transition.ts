// Records what happened to a payout without anybody deciding it: its time ran out, or the operator said how it ended.
import type { Database } from '../../db/database.ts';
import { recordPayoutChange } from '../../db/payments/payout-change.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import type { RecordablePayoutFact } from '../../domain/payments/payout-progress.ts';
import { isNeverTaken } from '../../domain/payments/sent-money.ts';

export type RecordPayoutFact = {
  readonly merchantId: MerchantId;
  readonly payoutId: PayoutId;
  readonly fact: RecordablePayoutFact;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  /** How long after the last moment to send a send may still be on its way. Ours: no caller's word counts. */
  readonly notFoundGraceMs: number;
  readonly at: Date;
};

/** Each miss means that somebody else moved the payout, and it can move only a few times in all. */
const MAX_TRIES = 10;

/**
 * The payout as it then is. A fact that leads nowhere from its state changes nothing, which is what a repeat, a late or a
 * contradicting fact does. A payout runs out only when its time has come, and was never taken only if the row and the
 * clock say so too. Throws `payout_not_found`.
 */
export async function recordPayoutFact(db: Database, input: RecordPayoutFact): Promise<Payout> {
  const { fact, at } = input;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const before = await findPayout(db, input.merchantId, input.payoutId);
    if (before === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
    if (!isTimely(before, input)) return before;
    const change = changePayout(before, fact, at, input.overdueAfterMs);
    if (change === null) return before;
    if (await recordPayoutChange(db, change, input.environment)) return change.after;
  }
  throw new Error(`payout ${input.payoutId} changed ${MAX_TRIES} times while one fact was being recorded`);
}

function isTimely({ expiresAt, sendDeadlineAt, takenAt }: Payout, { fact, at, notFoundGraceMs }: RecordPayoutFact) {
  if (fact.fact === 'lapsed') return at >= expiresAt;
  if (fact.fact !== 'never_taken') return true;
  const sending = { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isTaken: takenAt !== null };
  return isNeverTaken(sending, Math.min(fact.askedAtMs, at.getTime()), notFoundGraceMs);
}
