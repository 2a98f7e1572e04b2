// Payments while an operator is unavailable, throttles or refuses our account: what waits, what ends, and that all is paid once afterwards.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listOpenBreakers } from '../../src/db/work/breakers.ts';
import { changeBreaker } from '../../src/operations/payments/change-breaker.ts';
import { assertLedgerIsSound, fetchPayment, pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import {
  balanceOf,
  fetchPayout,
  fund,
  release,
  requestPayout,
  transfersAccepted,
  untilPayoutState,
  type Payout,
} from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { promptsRaised, sandboxTransactions, switchFaults } from '../support/sandbox-operator.ts';
import { startServerChild } from '../support/server-child.ts';
import { AMINA } from '../support/staff.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { inOwnEnvironment, testConcurrently } from '../support/concurrent-tests.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const FAULTS = { down: { down: true }, throttled: { throttled: true }, 'account refused': { accountRefused: true } };
const LONG_DEADLINES = { MALIPO_PROMPT_DEADLINE_MS: '120000', MALIPO_PAYOUT_SEND_DEADLINE_MS: '120000' };
const BY_HAND = { operator: 'mtn-momo', by: AMINA, at: new Date() } as const;

const openProducts = async ({ db }: TestEnvironment) => (await listOpenBreakers(db)).map(({ product }) => product);

async function openByHand({ db }: TestEnvironment, product: 'collection' | 'disbursement'): Promise<void> {
  await changeBreaker(db, { ...BY_HAND, product, opening: { reason: 'a test' } });
}
async function closeByHand({ db }: TestEnvironment, product: 'collection' | 'disbursement'): Promise<void> {
  await changeBreaker(db, { ...BY_HAND, product, opening: null });
}

async function makePayouts(testEnv: TestEnvironment, count: number): Promise<Payout[]> {
  await fund(testEnv, testEnv.merchant, 5000 * count);
  const payouts = [];
  for (let n = 0; n < count; n++) payouts.push(await requestPayout(testEnv, '000'));
  return payouts;
}

async function releaseAll(testEnv: TestEnvironment, payouts: readonly Payout[]): Promise<void> {
  const approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
  for (const payout of payouts) assert.equal((await release(approver, payout)).status, 200);
}

describe('payments in an outage of their operator', () => {
  const cases = Object.entries(FAULTS).map(([what, faults]) => ({
    title: `wait at several workers while it is ${what}, none fails, and all are paid once afterwards`,
    faults,
  }));
  testConcurrently(cases, cases.length, ({ faults }) =>
    inOwnEnvironment({ environment: LONG_DEADLINES }, (testEnv) => outlast(testEnv, faults)),
  );
});

async function outlast(testEnv: TestEnvironment, faults: object): Promise<void> {
  for (const roles of ['api,dispatcher,worker', 'worker', 'worker'])
    await testEnv.startServer({
      MALIPO_ROLES: roles,
      MALIPO_HTTP_PORT: roles === 'worker' ? '0' : testEnv.environment['MALIPO_HTTP_PORT']!,
    });
  const payouts = await makePayouts(testEnv, 12);
  await switchFaults(testEnv, faults);
  await releaseAll(testEnv, payouts);
  const collections = [];
  for (let n = 0; n < 12; n++) collections.push(await pay(testEnv, '000'));
  await eventually('both breakers to open', async () => (await openProducts(testEnv)).length === 2);
  for (const payout of payouts) assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
  for (const collection of collections) assert.equal((await fetchPayment(testEnv, collection)).state, 'initiated');
  await switchFaults(testEnv, {});
  for (const payout of payouts) {
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  }
  for (const collection of collections) {
    await untilState(testEnv, collection, 'succeeded');
    assert.equal(await promptsRaised(testEnv, collection.phone), 1);
  }
  assert.deepEqual(await openProducts(testEnv), []);
  await assertLedgerIsSound(testEnv.db);
}

describe('payments while a breaker is open', () => {
  const testEnv = useTestEnvironment({ environment: LONG_DEADLINES });
  afterEach(async () => {
    for (const product of ['collection', 'disbursement'] as const) await closeByHand(testEnv, product);
  });

  it('are not sent, and say on the console for what they wait', async () => {
    await openByHand(testEnv, 'disbursement');
    const [payout] = await makePayouts(testEnv, 1);
    assert.ok(payout);
    await releaseAll(testEnv, [payout]);
    const maker = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const shown = (await maker.call('GET', `/v1/console/payouts/${payout.id}`)).json as {
      cancellable: boolean;
      timeline: { kind: string }[];
    };
    assert.equal(shown.cancellable, true);
    assert.deepEqual(
      shown.timeline
        .filter(({ kind }) => kind === 'operator_delayed')
        .map(({ kind: _kind, at: _at, ...rest }: Record<string, unknown>) => rest),
      [{ operator: 'mtn-momo', sent: false }],
    );
    const operators = (await maker.call('GET', '/v1/console/operators')).json as {
      data: { services: { service: string; availability: string; since: string | null }[] }[];
    };
    const services = operators.data[0]?.services.map(({ service, availability }) => [service, availability]);
    assert.deepEqual(services, [
      ['collections', 'open'],
      ['money_out', 'closed'],
    ]);
    assert.deepEqual(await sandboxTransactions(testEnv, payout.phone), []);
    const { rows } = await testEnv.db.pool.query('SELECT send_begun_at FROM payments WHERE id = $1', [payout.id]);
    assert.deepEqual(rows, [{ send_begun_at: null }]);
    await closeByHand(testEnv, 'disbursement');
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
  });

  it('are cancelled by their maker as long as nobody tried to send them, which gives the money back', async () => {
    await openByHand(testEnv, 'disbursement');
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 20_000);
    const maker = await logInAs(testEnv, merchant.id, 'maker');
    const created = await maker.call('POST', '/v1/api/payouts', {
      idempotencyKey: randomUUID(),
      json: { phone: '256772000000', amount: 5000, currency: 'UGX', reference: 'INV-1' },
    });
    assert.equal(created.status, 202, created.text);
    const { id } = created.json as { id: string };
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    assert.equal((await release(approver, { id })).status, 200);
    assert.deepEqual(await balanceOf(testEnv, merchant), [15_000, 5000]);
    const cancelled = await maker.call('POST', `/v1/console/payouts/${id}/cancel`);
    assert.equal(cancelled.status, 200, cancelled.text);
    assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
    await closeByHand(testEnv, 'disbursement');
    const transitions = transitionsOf(await untilAllReceived(testEnv, { id, merchant }));
    assert.deepEqual(transitions, ['nothing > queued', 'queued > released', 'released > cancelled']);
    await assertLedgerIsSound(testEnv.db);
  });

  it('are queried once it is closed, and no process is notified of the postponed queries', async () => {
    const payment = await pay(testEnv, '004');
    await untilState(testEnv, payment, 'prompted');
    await openByHand(testEnv, 'collection');
    const due = () =>
      testEnv.db.pool.query<{ in_s: number; queries: number }>(
        `SELECT extract(epoch FROM due_at - now())::float8 AS in_s, queries FROM work WHERE id = $1 AND task = 'status_query'`,
        [payment.id],
      );
    await eventually('its query to be postponed', async () => ((await due()).rows[0]?.in_s ?? 0) > 5);
    await closeByHand(testEnv, 'collection');
    await testEnv.db.pool.query(`UPDATE work SET due_at = now() WHERE id = $1 AND task = 'status_query'`, [payment.id]);
    await untilState(testEnv, payment, 'succeeded');
  });
});

describe('a collection whose prompt deadline passes while a breaker is open', () => {
  const testEnv = useTestEnvironment({ environment: { MALIPO_PROMPT_DEADLINE_MS: '1500' } });
  afterEach(() => closeByHand(testEnv, 'collection'));

  // First: a process knows of an open breaker for up to a second after it was closed.
  it('is reconciling when somebody did, although the operator is not asked', async () => {
    await switchFaults(testEnv, { down: true });
    const payment = await pay(testEnv, '000');
    const isBegun = async () =>
      (await testEnv.db.pool.query('SELECT 1 FROM payments WHERE id = $1 AND send_begun_at IS NOT NULL', [payment.id]))
        .rowCount === 1;
    await eventually('its send to begin', isBegun);
    await openByHand(testEnv, 'collection');
    await untilState(testEnv, payment, 'reconciling');
    await switchFaults(testEnv, {});
  });

  it('expires as the outage of its operator when nobody tried to send it', async () => {
    await openByHand(testEnv, 'collection');
    const payment = await pay(testEnv, '000');
    const shown = await untilState(testEnv, payment, 'expired');
    assert.equal(shown.failure?.code, 'operator_unavailable');
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), ['initiated > expired']);
    assert.deepEqual(await sandboxTransactions(testEnv, payment.phone), []);
  });
});

describe('the one call that a breaker lets through', () => {
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: { ...LONG_DEADLINES, MALIPO_OPERATOR_TIMEOUT_MS: '3000' },
  });

  it('is made by another worker when the one that made it is killed', async () => {
    await testEnv.startServer({ MALIPO_ROLES: 'api,dispatcher' });
    const payouts = await makePayouts(testEnv, 8);
    const doomed = await startServerChild(testEnv, { overrides: { MALIPO_ROLES: 'worker', MALIPO_HTTP_PORT: '0' } });
    await switchFaults(testEnv, { down: true });
    await releaseAll(testEnv, payouts);
    await eventually('the breaker to open', async () => (await openProducts(testEnv)).length === 1);
    // The next call stays without an answer, and its worker is killed over it.
    await switchFaults(testEnv, { latencyMs: 60_000 });
    const isHalfOpen = async () => (await listOpenBreakers(testEnv.db))[0]?.state === 'half_open';
    await eventually('the call to be in progress', isHalfOpen);
    await doomed.kill();
    await switchFaults(testEnv, {});
    assert.ok(await isHalfOpen());
    await testEnv.startServer({ MALIPO_ROLES: 'worker', MALIPO_HTTP_PORT: '0' });
    for (const payout of payouts) {
      await untilPayoutState(testEnv, payout, 'succeeded');
      assert.equal(await transfersAccepted(testEnv, payout), 1);
    }
    assert.deepEqual(await openProducts(testEnv), []);
  });
});
