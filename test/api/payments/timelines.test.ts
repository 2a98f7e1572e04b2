// One payment in the console, through the whole service: everything that happened to it, by whom and when.
import assert from 'node:assert/strict';
import type { CollectionId } from '../../../src/domain/ids.ts';
import { insertDiscrepancy } from '../../../src/db/payments/discrepancy.ts';
import { tamper } from '../../db/rows.ts';
import { pay, phoneFor, untilState } from '../../support/payments.ts';
import { untilAllReceived } from '../../support/payment-events.ts';
import { fund, release, requestPayout, untilPayoutState } from '../../support/payouts.ts';
import { addPerson, logIn } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { temporalClient } from '../../support/engines.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';

type Entry = Readonly<Record<string, unknown>> & { readonly kind: string; readonly at: string };

describe('one payment in the console', () => {
  const testEnv = useTestEnvironment({ environment: { MALIPO_TEMPORAL_UI_URL: 'http://127.0.0.1:8233/' } });
  let viewer: Browser;

  before(async () => {
    viewer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
  });

  async function timelineOf(path: string): Promise<Entry[]> {
    const { status, json, text } = await viewer.call('GET', path);
    assert.equal(status, 200, text);
    const timeline = json['timeline'] as Entry[];
    const times = timeline.map(({ at }) => at);
    assert.deepEqual(times, [...times].sort());
    return timeline;
  }
  const only = (timeline: readonly Entry[], kind: string) => timeline.filter((entry) => entry.kind === kind);
  const fieldsOf = (entries: readonly Entry[], ...names: string[]) =>
    entries.map((entry) => names.map((name) => entry[name]));

  it('shows the states of a collection with the operator’s part, its money and its deliveries', async () => {
    const payment = await pay(testEnv, '000', { fields: { amount: 4000 } });
    await untilState(testEnv, payment, 'succeeded');
    await untilAllReceived(testEnv, payment);
    const path = `/v1/console/collections/${payment.id}`;
    await eventually('both deliveries are recorded', async () => {
      const states = only(await timelineOf(path), 'delivery').map(({ state }) => state);
      return states.length > 0 && states.every((state) => state === 'delivered') ? states : null;
    });
    const timeline = await timelineOf(path);
    assert.deepEqual(fieldsOf(only(timeline, 'state'), 'state', 'previous_state', 'late'), [
      ['initiated', null, false],
      ['prompted', 'initiated', false],
      ['succeeded', 'prompted', false],
    ]);
    const exchanges = fieldsOf(only(timeline, 'operator_exchange'), 'exchange', 'outcome', 'payment_id');
    assert.deepEqual(exchanges[0], ['send', 'accepted', payment.id]);
    assert.deepEqual(exchanges.at(-1), ['status_query', 'succeeded', payment.id]);
    const callbacks = fieldsOf(only(timeline, 'operator_callback'), 'purpose');
    assert.ok(callbacks.length > 0 && callbacks.every(([purpose]) => purpose === null), JSON.stringify(callbacks));
    const money = fieldsOf(only(timeline, 'ledger_transfer'), 'transfer', 'amount', 'available_change', 'held_change');
    assert.deepEqual(money, [['collection_paid', 4000, 4000, 0]]);
    const [delivery] = only(timeline, 'delivery');
    assert.equal(delivery?.['event_type'], 'collection.prompted');
    const attempts = delivery['attempts'] as { number: number; status_code: number }[];
    assert.deepEqual(
      attempts.map(({ number, status_code: status }) => [number, Math.floor(status / 100)]),
      [[1, 2]],
    );
  });

  it('shows how often, when last and when next the operator is asked, while it is', async () => {
    const queriesOf = async (id: string) => {
      const { json } = await viewer.call('GET', `/v1/console/collections/${id}`);
      return json['status_queries'] as { count: number; last_at: string | null; next_at: string | null } | null;
    };
    const undecided = await pay(testEnv, '010');
    await untilState(testEnv, undecided, 'prompted');
    const asked = await eventually('a status query', async () => {
      const queries = await queriesOf(undecided.id);
      return queries !== null && queries.count > 0 && queries.next_at !== null && queries;
    });
    assert.ok(asked.last_at !== null && asked.next_at !== null && asked.last_at < asked.next_at);
    const failed = await pay(testEnv, '001');
    await untilState(testEnv, failed, 'failed');
    assert.equal(await queriesOf(failed.id), null);
  });

  it('shows who made and released a payout, and each change of the balances', async () => {
    await fund(testEnv, testEnv.merchant, 50_000);
    const payout = await requestPayout(testEnv, '000', { amount: 3000 });
    const path = `/v1/console/payouts/${payout.id}`;
    const { json } = await viewer.call('GET', path);
    const { warnings } = json['judgement'] as { warnings: { code: string }[] };
    assert.deepEqual(warnings, [{ code: 'first_payout_to_number' }]);
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    await release(await logIn(testEnv, person), payout);
    await untilPayoutState(testEnv, payout, 'succeeded');
    const timeline = await timelineOf(path);
    const states = only(timeline, 'state').map(({ state, by }) => [state, (by as { id: string } | null)?.id ?? null]);
    const createdBy = (json['created_by'] as { id: string }).id;
    assert.deepEqual(states, [
      ['queued', createdBy],
      ['released', person.id],
      ['succeeded', null],
    ]);
    const [approval] = only(timeline, 'approval');
    assert.equal((approval?.['person'] as { email: string }).email, person.email);
    assert.deepEqual(fieldsOf(only(timeline, 'ledger_transfer'), 'transfer', 'available_change', 'held_change'), [
      ['payout_held', -3000, 3000],
      ['payout_paid', 0, -3000],
    ]);
    assert.deepEqual((await viewer.call('GET', path)).json['judgement'], null);
  });

  it('shows its workflow to developers, and to nobody who has no use for it', async () => {
    const payment = await pay(testEnv, '000');
    const developer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['developer']));
    const urlFor = async (browser: Browser) =>
      (await browser.call('GET', `/v1/console/collections/${payment.id}`)).json['workflow_url'];
    const path = `/namespaces/${testEnv.config.temporalNamespace}/workflows/${encodeURIComponent(payment.workflowId)}`;
    assert.equal(await urlFor(developer), `http://127.0.0.1:8233${path}`);
    assert.equal(await urlFor(viewer), null);
  });

  /** Developers are shown where the refund's workflow is, which Temporal knows by that id; others are not. */
  async function assertLinks(refundId: string): Promise<void> {
    const developer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['developer']));
    const urlFor = async (browser: Browser) =>
      (await browser.call('GET', `/v1/console/reversals/${refundId}`)).json['workflow_url'];
    const url = new URL(String(await urlFor(developer)));
    const base = `/namespaces/${testEnv.config.temporalNamespace}/workflows/`;
    assert.ok(url.pathname.startsWith(base), url.href);
    const workflow = (await temporalClient()).workflow.getHandle(decodeURIComponent(url.pathname.slice(base.length)));
    await eventually('the workflow that the link names exists', () => workflow.describe().catch(() => null));
    assert.equal(await urlFor(viewer), null);
  }

  it('shows refunds that were requested, with their workflows, and what the operator contradicts', async () => {
    const payment = await pay(testEnv, '000', { fields: { phone: phoneFor('000') } });
    await untilState(testEnv, payment, 'succeeded');
    const maker = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    const requested = await (
      await logIn(testEnv, maker)
    ).call('POST', `/v1/console/collections/${payment.id}/reversal`, {
      idempotencyKey: `refund-${payment.id}`,
    });
    assert.equal(requested.status, 202, requested.text);
    const refundId = String(requested.json['id']);
    await assertLinks(refundId);
    const ref = { kind: 'collection', id: payment.id as CollectionId, merchantId: testEnv.merchant.id } as const;
    const found = { kind: 'declined_after_paid', operatorReceipt: null, foundAt: new Date(), reported: null } as const;
    await testEnv.db.withTransaction((tx) => insertDiscrepancy(tx, ref, found));
    const timeline = await timelineOf(`/v1/console/collections/${payment.id}`);
    const reversals = only(timeline, 'reversal').map(({ id, state, requested_by: by }) => [
      id,
      state,
      (by as { id: string }).id,
    ]);
    assert.deepEqual(reversals, [[requested.json['id'], 'queued', maker.id]]);
    await tamper(testEnv.db, 'DELETE FROM discrepancies WHERE payment_id = $1', [payment.id]);
    assert.deepEqual(fieldsOf(only(timeline, 'discrepancy'), 'discrepancy', 'settled_at'), [
      ['declined_after_paid', null],
    ]);
  });
});
