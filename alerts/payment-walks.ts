// Walks of payments, their operator and their webhooks: what fails, is undecided, waits for people or is not received.
import { stopProcess, switchReceiver } from '../chaos/faults.ts';
import { change, holdOpen } from './database.ts';
import { decideAtOperator, UNDECIDED_ROW } from './operator.ts';
import {
  keepRequesting,
  merchantOf,
  pays,
  release,
  request,
  requestMany,
  untilDelivered,
  untilState,
} from './payments.ts';
import type { Stage } from './stage.ts';
import type { Walk } from './walk.ts';

const REFUSED_ROW = '007';
const REFUSED = 40;
/** Each of the first merchant has two changes of state, each for two endpoints: more than a thousand deliveries. */
const UNRECEIVED = 300;
const DELIVERED_LIMIT_MS = 240_000;
const quiet = () => undefined;

export const PAYMENT_WALKS: readonly Walk[] = [
  {
    alerts: ['MalipoCollectionsReconciling', 'MalipoPayoutsReconciling'],
    fault: 'the operator decides neither a collection nor a payout; in the database both are made an hour older',
    remedy: 'the operator, who is asked, decides them',
    async begin(stage) {
      const collection = await request(stage, 'collections', { row: UNDECIDED_ROW });
      const payout = await request(stage, 'payouts', { row: UNDECIDED_ROW });
      await release(stage, payout);
      await untilState(stage, 'collections', collection, 'reconciling');
      await untilState(stage, 'payouts', payout, 'reconciling');
      await change(stage, `UPDATE payments SET updated_at = updated_at - interval '1 hour' WHERE id = $1`, [
        collection,
      ]);
      await change(stage, `UPDATE payments SET updated_at = updated_at - interval '1 hour' WHERE id = $1`, [payout]);
      return async () => {
        for (const id of [collection, payout]) await decideAtOperator(stage, id);
        await untilState(stage, 'collections', collection, 'succeeded');
        await untilState(stage, 'payouts', payout, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoApprovalsWait'],
    fault: 'nobody approves a payout; in the database it is made two days older',
    remedy: 'the merchant, who is called, approves it',
    async begin(stage) {
      const payout = await request(stage, 'payouts');
      await change(stage, `UPDATE payments SET updated_at = updated_at - interval '2 days' WHERE id = $1`, [payout]);
      return async () => {
        await release(stage, payout);
        await untilState(stage, 'payouts', payout, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoPaymentsFail'],
    fault: 'the operator refuses forty collections in a row: it has no account of their payers',
    remedy: 'it is seen to be the payers, and others pay',
    begin(stage) {
      const stopRequesting = keepRequesting(stage, 250, { row: REFUSED_ROW });
      return async () => {
        for (const id of await stopRequesting()) await untilState(stage, 'collections', id, 'failed');
        await requestMany(stage, REFUSED);
        await pays(stage);
      };
    },
  },
  {
    // The breaker opens, and lets a call through now and then.
    alerts: ['MalipoOperatorNotAnswering', 'MalipoOperatorSlow', 'MalipoOperatorAway'],
    fault: 'the operator stands still',
    remedy: 'it goes on: its breaker closes by itself',
    async begin(stage) {
      const goOn = await stopProcess(stage.topology.sandbox);
      const ids = await requestMany(stage, 5);
      return async () => {
        await goOn();
        for (const id of ids) await untilState(stage, 'collections', id, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoStatusQueriesLate'],
    fault:
      'a transaction that somebody left open locks the status query of a collection, which is made two minutes overdue',
    remedy: 'it is ended with pg_terminate_backend',
    async begin(stage) {
      const id = await request(stage, 'collections', { row: UNDECIDED_ROW });
      await untilState(stage, 'collections', id, 'prompted');
      const query = `work WHERE id = '${id}' AND task = 'status_query'`;
      await change(
        stage,
        `UPDATE work SET due_at = now() - interval '2 minutes', claimed_until = NULL WHERE id = $1 AND task = 'status_query'`,
        [id],
      );
      const terminate = await holdOpen(stage, `SELECT FROM ${query} FOR UPDATE`);
      return async () => {
        await terminate();
        await decideAtOperator(stage, id);
        await untilState(stage, 'collections', id, 'succeeded');
      };
    },
  },
  {
    alerts: ['MalipoDeliveriesRetry', 'MalipoDeliveriesDeadLettered'],
    fault: 'the first merchant’s endpoints answer 500 to more than a thousand webhooks',
    remedy: 'the endpoints are mended, and the merchant replays what was given up',
    async begin(stage) {
      const mend = await switchReceiver(stage.topology, quiet, { name: 'errors' });
      await requestMany(stage, UNRECEIVED);
      return async () => {
        await mend();
        await replay(stage);
        await untilDelivered(stage, DELIVERED_LIMIT_MS);
      };
    },
  },
  {
    alerts: ['MalipoEndpointDisabled'],
    fault: 'the first merchant’s endpoints answer 410',
    remedy: 'the merchant enables them again, and replays what was withheld',
    async begin(stage) {
      const mend = await switchReceiver(stage.topology, quiet, { name: 'gone' });
      await pays(stage);
      return async () => {
        await mend();
        const merchant = merchantOf(stage, 0);
        for (const { id } of merchant.endpoints) {
          const enabled = await stage.client.asPerson(merchant, merchant.maker, {
            method: 'PATCH',
            action: null,
            key: null,
            subjects: [id],
            path: `/v1/console/endpoints/${id}`,
            body: { state: 'enabled' },
          });
          if (enabled?.status !== 200) throw new Error(`not enabled: ${enabled?.body ?? 'no response'}`);
        }
        await replay(stage);
        await untilDelivered(stage, DELIVERED_LIMIT_MS);
      };
    },
  },
];

async function replay(stage: Stage): Promise<void> {
  const merchant = merchantOf(stage, 0);
  const begun = await stage.client.asPerson(merchant, merchant.maker, {
    action: null,
    key: null,
    subjects: [],
    path: '/v1/console/deliveries/replay',
    body: { states: ['dead_lettered', 'withheld'] },
  });
  if (begun?.status !== 202) throw new Error(`not replayed: ${begun?.body ?? 'no response'}`);
}
