// The queries of docs/temporal-ui.md, with payments and deliveries that each must find and others that it must not.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { untilDelivery } from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const PAGE = readFileSync(new URL('../../docs/temporal-ui.md', import.meta.url), 'utf8');
const ROW = /^- (.+): `([^`]+)` \(\[open\]\(http:\/\/localhost:8233([^)]+)\)\)$/gm;
const ROWS = [...PAGE.matchAll(ROW)].map(([, what = '', query = '', link = '']) => ({ what, query, link }));

/** What there is to be found, by a name. */
type Name = 'prompted' | 'unreleased' | 'reconciling' | 'failed' | 'queued' | 'released' | 'retried' | 'deadLettered';
const FINDS: Readonly<Record<string, readonly Name[]>> = {
  'Payments alone, without deliveries and housekeeping': [
    'prompted',
    'reconciling',
    'failed',
    'queued',
    'released',
    'unreleased',
  ],
  'One payment, by its id': ['prompted'],
  'All payments of a merchant, open and closed': ['prompted', 'failed', 'queued', 'released'],
  'All that is open of a merchant': ['prompted', 'queued', 'released'],
  'What waits for a payer': ['prompted'],
  'What waits for an approver': ['queued'],
  'Money just sent, its outcome not yet due': ['released'],
  'Outcomes that are overdue, for which the operator must act': ['reconciling'],
  'What an operator failed or left to expire since a moment': ['failed'],
  'What failed or expired at a merchant': ['failed'],
  'Runs that do not progress, because their code fails or a worker dies with them': [],
  'Failed runs that a person must look at': [],
  'Runs that were ended by hand, or that the service replaced': [],
  'Deliveries that are retried': ['retried'],
  'Deliveries that are dead-lettered': ['deadLettered'],
  'All retried deliveries of one endpoint': ['retried'],
  Housekeeping: [],
};

describe('a query on the page about the Temporal UI', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_PROMPT_WINDOW_MS: '600000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '600000',
      MALIPO_DELIVERY_SCHEDULE_MS: '0,50',
    },
  });
  const overdueEnv = useTestEnvironment({
    environment: {
      MALIPO_PROMPT_WINDOW_MS: '1000',
      MALIPO_RECONCILE_FOR_MS: '600000',
      MALIPO_PAYOUT_EXPIRY_MS: '1000',
      MALIPO_DELIVERY_SCHEDULE_MS: '0,600000',
    },
    sandboxTimes: { undecidedMs: 600_000 },
  });
  const runs = new Map<Name, string>();
  let prompted: Payment;
  let endpointId: string;

  before(async () => {
    const { merchant } = testEnv;
    for (const { merchant: failing, receiver } of [testEnv, overdueEnv]) {
      receiver.answerWith(failing.id, (_, response) => response.writeHead(500).end());
    }
    await fund(testEnv, merchant, 20_000);
    prompted = await pay(testEnv, '010');
    const [failed, reconciling] = [await pay(testEnv, '001'), await pay(overdueEnv, '010')];
    const queued = await requestPayout(testEnv, '000', { merchant, amount: 1000 });
    const released = await requestPayout(testEnv, '010', { merchant, amount: 1000 });
    await release(await logInAs(testEnv, merchant.id, 'approver'), released);
    await fund(overdueEnv, overdueEnv.merchant, 20_000);
    const unreleased = await requestPayout(overdueEnv, '000', { amount: 1000 });
    await untilState(testEnv, prompted, 'prompted');
    await untilState(testEnv, failed, 'failed');
    await untilState(overdueEnv, reconciling, 'reconciling');
    await untilPayoutState(testEnv, released, 'released');
    await untilPayoutState(overdueEnv, unreleased, 'expired');
    const deadLettered = await untilDelivery(testEnv, merchant, 'dead_lettered');
    const retried = await untilDelivery(overdueEnv, overdueEnv.merchant, 'retrying');
    endpointId = retried.endpointId;
    runs.set('prompted', prompted.workflowId).set('failed', failed.workflowId);
    runs.set('reconciling', reconciling.workflowId);
    runs.set('queued', queued.workflowId).set('unreleased', unreleased.workflowId);
    runs.set('released', released.workflowId);
    runs.set('deadLettered', deliveryWorkflowId(deadLettered.id)).set('retried', deliveryWorkflowId(retried.id));
  });

  /** The query with the ids of this test instead of placeholders. */
  function filledIn(query: string): string {
    return query
      .replace('col_…', prompted.id)
      .replace('mer_…', testEnv.merchant.id)
      .replace('whe_…', endpointId)
      .replace(/CloseTime > '[^']+'/, `CloseTime > '${new Date(Date.now() - 3_600_000).toISOString()}'`);
  }

  async function namesFoundBy(query: string): Promise<Name[]> {
    const found = new Set<string>();
    for await (const { workflowId } of (await temporalClient()).workflow.list({ query })) found.add(workflowId);
    return [...runs].filter(([, workflowId]) => found.has(workflowId)).map(([name]) => name);
  }

  for (const { what, query, link } of ROWS) {
    it(`finds: ${what}`, async () => {
      const expected = FINDS[what];
      assert.ok(expected !== undefined, 'this test must say what it finds');
      let found: Name[] = [];
      // Temporal lists what happened a moment later.
      await eventually(`${query} to find ${expected.join(', ')}`, async () => {
        found = await namesFoundBy(filledIn(query));
        return found.length === expected.length;
      }).catch(() => null);
      assert.deepEqual(found.sort(), [...expected].sort());
      assert.equal(decodeURIComponent(link), `/namespaces/malipo-test/workflows?query=${query}`);
    });
  }

  it('is there for each of those that this test knows', () => {
    assert.deepEqual(ROWS.map(({ what }) => what).sort(), Object.keys(FINDS).sort());
  });

  it('is not needed with the idempotency key: its digest names the run', () => {
    const digest = createHash('sha256').update(prompted.idempotencyKey).digest('hex');
    assert.equal(prompted.workflowId, `collection/${prompted.merchant.id}/${digest}`);
  });
});
