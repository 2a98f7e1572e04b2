// Records what happened to a payout without anybody deciding it: its time ran out, or the operator said how it ended.
import type { Database } from '../db/database.ts';
import { recordPayoutChange } from '../db/payout-change.ts';
import { findPayout } from '../db/payout.ts';
import { DomainError } from '../domain/errors.ts';
import type { Environment } from '../domain/event.ts';
import type { MerchantId, PayoutId } from '../domain/ids.ts';
import type { Payout } from '../domain/payout.ts';
import { changePayout } from '../domain/payout-change.ts';
import type { RecordablePayoutFact } from '../domain/payout-progress.ts';

export type RecordPayoutFact = {
  readonly merchantId: MerchantId;
  readonly payoutId: PayoutId;
  readonly fact: RecordablePayoutFact;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  readonly at: Date;
};

/** Each miss means that somebody else moved the payout, and it can move only a few times in all. */
const MAX_TRIES = 10;

/**
 * The payout as it then is. A fact that leads nowhere from its state changes nothing, which is what a repeat, a late or a
 * contradicting fact does. A payout runs out only when its time has come. Throws `payout_not_found`.
 */
export async function recordPayoutFact(db: Database, input: RecordPayoutFact): Promise<Payout> {
  const { fact, at } = input;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const before = await findPayout(db, input.merchantId, input.payoutId);
    if (before === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
    if (fact.fact === 'lapsed' && at < before.expiresAt) return before;
    const change = changePayout(before, fact, at, input.overdueAfterMs);
    if (change === null) return before;
    if (await recordPayoutChange(db, change, input.environment)) return change.after;
  }
  throw new Error(`payout ${input.payoutId} changed ${MAX_TRIES} times while one fact was being recorded`);
}
