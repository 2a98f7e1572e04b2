// Records what happened to a payout without anybody deciding it: its time ran out, or the operator said how it ended.
import type { Database } from '../../db/database.ts';
import { recordPayoutChange } from '../../db/payments/payout-change.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import type { PayoutOutcomeInput } from '../../domain/payments/payout-progress.ts';
import { isNeverAccepted } from '../../domain/payments/sent-money.ts';

export type RecordPayoutTransition = {
  readonly merchantId: MerchantId;
  readonly payoutId: PayoutId;
  readonly transition: PayoutOutcomeInput;
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
export async function recordPayoutTransition(db: Database, input: RecordPayoutTransition): Promise<Payout> {
  const { transition, at } = input;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const before = await findPayout(db, input.merchantId, input.payoutId);
    if (before === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
    if (!isTimely(before, input)) return before;
    const change = changePayout(before, transition, at, input.overdueAfterMs);
    if (change === null) return before;
    if (await recordPayoutChange(db, change, input.environment)) return change.after;
  }
  throw new Error(`payout ${input.payoutId} changed ${MAX_TRIES} times while one fact was being recorded`);
}

function isTimely(
  { expiresAt, sendDeadlineAt, acceptedAt }: Payout,
  { transition, at, notFoundGraceMs }: RecordPayoutTransition,
) {
  if (transition.kind === 'approval_expired') return at >= expiresAt;
  if (transition.kind !== 'never_accepted') return true;
  const sending = { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isAccepted: acceptedAt !== null };
  return isNeverAccepted(sending, Math.min(transition.queriedAtMs, at.getTime()), notFoundGraceMs);
}
