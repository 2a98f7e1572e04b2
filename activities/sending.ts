// What workflows note alike of whatever payment: how far sending got, and what is said after its end.
import type { Database } from '../src/db/database.ts';
import type { AttestedStatus } from '../src/domain/payments/operator-status.ts';
import type { Log } from '../src/log.ts';
import { scheduleRecheck } from '../src/operations/payments/look-again-later.ts';
import { markSendBegun, markAccepted, type SentMoney } from '../src/operations/payments/note-sending.ts';
import { recordDiscrepancy, type EndedPayment } from '../src/operations/payments/record-discrepancy.ts';
import { withFailures } from './failures.ts';
import type { StatusAttestor } from './attestation.ts';

export type { EndedPayment, SentMoney };

export type SendingActivityDeps = {
  readonly db: Database;
  readonly overdueAfterMs: number;
  readonly attestor: StatusAttestor;
  readonly log: Log;
};

export type SendingActivities = ReturnType<typeof createSendingActivities>;

export function createSendingActivities({ db, overdueAfterMs, attestor, log }: SendingActivityDeps) {
  return {
    /** One transaction, before the first try: whether it is the first. Losing the answer makes it no longer the first. */
    async markSendBegun(sent: SentMoney): Promise<boolean> {
      return withFailures(() => markSendBegun(db, sent, new Date()));
    },

    /** One transaction: the operator has it. */
    async markAccepted(sent: SentMoney): Promise<void> {
      await withFailures(() => markAccepted(db, sent, new Date()));
    },

    /**
     * One transaction: keeps, and says aloud, that the operator contradicts how it ended. No money moves by it. That the
     * operator said so must have been heard by us.
     */
    async recordDiscrepancy({ ended, attested }: { ended: EndedPayment; attested: AttestedStatus }): Promise<void> {
      attestor.requireAttestation(ended.id, attested);
      const { status } = attested;
      const kind = await withFailures(() => recordDiscrepancy(db, { ended, status, at: new Date() }));
      if (kind === null) return;
      const { id, merchantId } = ended;
      log.fatal({ id, merchantId, kind, status }, 'the operator contradicts what is booked: a person must settle it');
    },

    /** One transaction: it has ended, and the operator said nothing of use about it. The sweep has it asked again. */
    async scheduleRecheck(ended: EndedPayment): Promise<void> {
      await withFailures(() => scheduleRecheck(db, ended, new Date(Date.now() + overdueAfterMs)));
    },
  };
}
