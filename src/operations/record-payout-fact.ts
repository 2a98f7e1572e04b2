// Records what happened to a payout without anybody deciding it: its time ran out, or the operator said how it ended.
import type { Database } from '../db/database.ts';
import { recordPayoutChange } from '../db/payout-change.ts';
import { findPayout } from '../db/payout.ts';
import { newDeliveryIds } from '../domain/endpoint.ts';
import { DomainError } from '../domain/errors.ts';
import { payoutEvent, type Environment } from '../domain/event.ts';
import { newId, type MerchantId, type PayoutId } from '../domain/ids.ts';
import { posting, type PostingKind } from '../domain/ledger.ts';
import type { Payout, PayoutState } from '../domain/payout.ts';
import { changePayout, type PayoutChange } from '../domain/payout-change.ts';
import type { RecordablePayoutFact } from '../domain/payout-progress.ts';

export type RecordPayoutFact = {
  readonly merchantId: MerchantId;
  readonly payoutId: PayoutId;
  readonly fact: RecordablePayoutFact;
  readonly environment: Environment;
  readonly overdueAfterMs: number;
  readonly at: Date;
};

const POSTING_OF_STATE: Readonly<Partial<Record<PayoutState, PostingKind>>> = {
  expired: 'payout_voided',
  failed: 'payout_voided',
  succeeded: 'payout_paid',
  reversed: 'payout_returned',
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
    if (await record(db, change, input)) return change.after;
  }
  throw new Error(`payout ${input.payoutId} changed ${MAX_TRIES} times while one fact was being recorded`);
}

async function record(db: Database, change: PayoutChange, { environment, at }: RecordPayoutFact): Promise<boolean> {
  const { after } = change;
  const id = newId('evt', at.getTime());
  const kind = POSTING_OF_STATE[after.state];
  return recordPayoutChange(db, change, {
    posting: kind === undefined ? null : posting(kind, after),
    event: { id, ...payoutEvent(after, { id, at, environment }) },
    deliveryIds: newDeliveryIds(at),
    at,
  });
}
