// Notes how far the sending of a payout or a refund got, before and after the operator is asked.
import type { Database } from '../../db/database.ts';
import {
  markSendBegun as noteBegun,
  markAccepted as markAcceptedRow,
  type SentMoney,
} from '../../db/payments/send-progress.ts';

export type { SentMoney };

/** True when no try was ever noted before: only then is a refusal of the first try the last word. */
export async function markSendBegun(db: Database, sent: SentMoney, at: Date): Promise<boolean> {
  return noteBegun(db, sent, at);
}

/** The operator has it: that it says "never heard of it" later is no reason to give the money back. Repeating is harmless. */
export async function markAccepted(db: Database, sent: SentMoney, at: Date): Promise<void> {
  await markAcceptedRow(db, sent, at);
}
