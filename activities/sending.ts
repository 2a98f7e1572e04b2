// What workflows note alike of whatever payment: how far sending got, and what is said after its end.
import type { Database } from '../src/db/database.ts';
import type { Heard } from '../src/domain/payments/operator-status.ts';
import type { Log } from '../src/log.ts';
import { lookAgainLater } from '../src/operations/payments/look-again-later.ts';
import { noteSendBegun, noteTaken, type SentMoney } from '../src/operations/payments/note-sending.ts';
import { recordDiscrepancy, type EndedPayment } from '../src/operations/payments/record-discrepancy.ts';
import { withFailures } from './failures.ts';
import type { Witness } from './attestation.ts';

export type { EndedPayment, SentMoney };

export type SendingActivityDeps = {
  readonly db: Database;
  readonly overdueAfterMs: number;
  readonly witness: Witness;
  readonly log: Log;
};

export type SendingActivities = ReturnType<typeof createSendingActivities>;

export function createSendingActivities({ db, overdueAfterMs, witness, log }: SendingActivityDeps) {
  return {
    /** One transaction, before the first try: whether it is the first. Losing the answer makes it no longer the first. */
    async noteSendBegun(sent: SentMoney): Promise<boolean> {
      return withFailures(() => noteSendBegun(db, sent, new Date()));
    },

    /** One transaction: the operator has it. */
    async noteTaken(sent: SentMoney): Promise<void> {
      await withFailures(() => noteTaken(db, sent, new Date()));
    },

    /**
     * One transaction: keeps, and says aloud, that the operator contradicts how it ended. No money moves by it. That the
     * operator said so must have been heard by us.
     */
    async recordDiscrepancy({ ended, heard }: { ended: EndedPayment; heard: Heard }): Promise<void> {
      witness.requireProof(ended.id, heard);
      const { word } = heard;
      const kind = await withFailures(() => recordDiscrepancy(db, { ended, word, at: new Date() }));
      if (kind === null) return;
      const { id, merchantId } = ended;
      log.fatal({ id, merchantId, kind, word }, 'the operator contradicts what is booked: a person must settle it');
    },

    /** One transaction: it has ended, and the operator said nothing of use about it. The sweep has it asked again. */
    async lookAgainLater(ended: EndedPayment): Promise<void> {
      await withFailures(() => lookAgainLater(db, ended, new Date(Date.now() + overdueAfterMs)));
    },
  };
}
