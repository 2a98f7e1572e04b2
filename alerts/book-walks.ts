// Walks of the books and of housekeeping: balances and records that were changed, checks that are not made, entries that are kept out.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { APPLICATION } from '../src/db/platform/access.ts';
import { ledgerCheckScheduleId } from '../workflows/contract.ts';
import { change, holdOpen } from './database.ts';
import { correctAtOperator } from './operator.ts';
import { merchantOf, pays, release, request, untilState } from './payments.ts';
import type { Stage } from './stage.ts';
import type { Walk } from './walk.ts';

const QUEUE_PREFIX = 'malipo';
const LOCK = `SELECT * FROM audit_chains WHERE chain = 'service' FOR UPDATE`;

export const BOOK_WALKS: readonly Walk[] = [
  {
    alerts: ['MalipoLedgerFaults'],
    fault: 'somebody adds a shilling to a merchant’s balance in the database',
    remedy: 'it is taken away again, and the ledger check is triggered',
    async begin(stage) {
      const account = `${merchantOf(stage, 0).id}/available`;
      const add = (amount: number) =>
        change(stage, 'UPDATE ledger_accounts SET balance_minor = balance_minor + $2 WHERE id = $1', [account, amount]);
      await add(1);
      await checkLedgerNow(stage);
      return async () => {
        await add(-1);
        await checkLedgerNow(stage);
        await pays(stage);
      };
    },
  },
  {
    alerts: ['MalipoDiscrepancyOpen'],
    fault: 'the operator, which said that a payout was paid, says later that it was not',
    remedy: 'the staff settle it with the operator and the merchant: npm run staff -- settle',
    async begin(stage) {
      const payout = await request(stage, 'payouts');
      await release(stage, payout);
      await untilState(stage, 'payouts', payout, 'succeeded');
      const reason = { code: 'INTERNAL_PROCESSING_ERROR', message: 'Not paid.' };
      await correctAtOperator(stage, payout, { state: 'FAILED', reason });
      return async () => {
        const open = await stage.staff.read('discrepancies');
        const [, id = ''] = /^(\d+) /m.exec(open) ?? [];
        if (!open.includes(payout)) throw new Error(`the staff are not shown it: ${open}`);
        await correctAtOperator(stage, payout, { state: 'SUCCESSFUL', reason: null });
        await stage.staff.act('settle', '--id', id, '--how', 'The operator paid it after all.');
        await checkLedgerNow(stage);
      };
    },
  },
  {
    alerts: ['MalipoCallbackUnmatched'],
    fault: 'a callback is kept about a payment that is not on record, as after the database was set back',
    remedy: 'the payment is on record again: in the database the callback gets the reference of one',
    async begin(stage) {
      const reference = randomUUID();
      const columns = 'operator, operator_reference, body, content_type, source_address, received_at';
      const insert = `INSERT INTO operator_callbacks (${columns}) VALUES ('mtn-momo', $1, '{}', '', '127.0.0.1', now())`;
      await change(stage, insert, [reference]);
      return async () => {
        const anyReference = '(SELECT operator_reference FROM payments LIMIT 1)';
        const update = `UPDATE operator_callbacks SET operator_reference = ${anyReference} WHERE operator_reference = $1`;
        await change(stage, update, [reference]);
        await pays(stage);
      };
    },
  },
  {
    alerts: ['MalipoInRecovery'],
    fault: 'the fence of the database is that of some minutes ago, as after the database was set back',
    remedy: 'two of the staff open the service: npm run staff -- recovery open, and confirm',
    async begin(stage) {
      await change(stage, 'UPDATE fence SET counter = greatest(1, counter - 300)');
      return async () => {
        const shown = await stage.staff.read('recovery');
        if (!shown.includes('older than a marker')) throw new Error(`the staff are not shown it: ${shown}`);
        const proposed = await stage.staff.act(
          'recovery',
          'open',
          '--reason',
          'Nothing was lost: a walk of the alerts.',
        );
        const [, proposal = ''] = /^proposal +(spr_\S+)$/m.exec(proposed) ?? [];
        await stage.staff.actAsOther('confirm', '--proposal', proposal);
        await pays(stage);
      };
    },
  },
  {
    alerts: ['MalipoFenceStale'],
    fault: 'a transaction that somebody left open has locked the fence',
    remedy: 'the transaction is ended',
    async begin(stage) {
      const end = await holdOpen(stage, 'SELECT * FROM fence FOR UPDATE');
      return async () => {
        await end();
        await pays(stage);
      };
    },
  },
  {
    alerts: ['MalipoHousekeepingNeverDone'],
    fault: 'the only worker is away, as since the deployment began: nothing is recorded of the ledger check',
    remedy: 'the worker is started, and the ledger check is triggered',
    async begin(stage) {
      await stage.worker.stop();
      await change(stage, `DELETE FROM housekeeping WHERE task = 'ledger_check'`);
      return async () => {
        await stage.worker.start();
        await checkLedgerNow(stage);
        await pays(stage);
      };
    },
  },
  {
    alerts: ['MalipoAuditNotLinked', 'MalipoAuditNotSigned'],
    fault:
      'somebody with the application’s account keeps the audit log locked, and who owns the database removes its signatures; in the database what waits is made three hours older',
    remedy: 'the connection is ended with pg_terminate_backend',
    async begin(stage) {
      const { id } = merchantOf(stage, 0);
      const terminate = await holdOpen(stage, LOCK, APPLICATION);
      await release(stage, await request(stage, 'payouts'));
      await change(stage, 'DELETE FROM audit_heads WHERE chain = $1', [id]);
      await change(stage, `UPDATE audit_chains SET unsigned_since = now() - interval '3 hours' WHERE chain = $1`, [id]);
      await change(stage, `UPDATE audit_entries_to_link SET queued_at = queued_at - interval '3 hours'`);
      return async () => {
        await terminate();
        await pays(stage);
      };
    },
  },
];

/** As `temporal schedule trigger` does. */
async function checkLedgerNow({ topology }: Stage): Promise<void> {
  const { temporalAddress: address, namespace } = topology.evidence;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  await client.schedule.getHandle(ledgerCheckScheduleId(QUEUE_PREFIX)).trigger();
  await connection.close();
}
