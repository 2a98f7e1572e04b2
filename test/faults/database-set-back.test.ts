// The database is set back to an earlier moment: the service is in recovery, and when two of the staff open it, merchants repeat what they
// requested since, and nothing is paid twice.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RunningServer } from '../../src/server/assemble-server.ts';
import { listOpenRestores } from '../../src/db/platform/fence.ts';
import { countDoubtful, listFindings } from '../../src/db/payments/restore-finding.ts';
import { countUnmatchedCallbacks } from '../../src/db/service-figures.ts';
import { collectionWorkflowId, payoutWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import type { Browser } from '../support/browser.ts';
import { call, collectionFields } from '../support/api.ts';
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts';
import { assertLedgerIsSound, createPayment, pay, phoneFor, untilState, type Payment } from '../support/payments.ts';
import { balanceOf, fund, release, releaseRefund } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { addFirstStaff, agree } from '../support/staff.ts';
import { decideAtSandbox, promptsRaised, sandboxTransactions } from '../support/sandbox-operator.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';

const FUNDS = 1_000_000;

type Request = {
  readonly path: '/v1/api/collections' | '/v1/api/payouts';
  readonly idempotencyKey: string;
  readonly phone: string;
};

function requestOf(path: Request['path'], row: string): Request {
  return { path, idempotencyKey: randomUUID(), phone: phoneFor(row) };
}

// One loss serves all cases: each checks its own payments.
describe('the service on a database that was set back', () => {
  let postgres: OwnPostgres;
  let testEnv: TestEnvironment;
  let server: RunningServer;
  let maker: Browser;
  let approver: Browser;
  let refundable: Payment;

  const collections = ['000', '001', '004', '006', '014'].map((row) => requestOf('/v1/api/collections', row));
  const waiting = requestOf('/v1/api/collections', '099');
  const calling = requestOf('/v1/api/collections', '099');
  let callingBack: string;
  const changed = requestOf('/v1/api/collections', '000');
  const payouts = ['000', '001', '004', '014'].map((row) => requestOf('/v1/api/payouts', row));
  const firstEnds = new Map<string, string>();
  let balance: unknown;
  let queued: Payment;
  let keptKey: string;

  function send({ path, idempotencyKey, phone }: Request, amount = 5000): Promise<Payment> {
    const { merchant } = testEnv;
    const workflowId = (path.endsWith('payouts') ? payoutWorkflowId : collectionWorkflowId)(
      merchant.id,
      idempotencyKey,
    );
    const json = collectionFields({ phone, amount });
    return createPayment(testEnv, path, { merchant, idempotencyKey, json, workflowId });
  }

  async function endOf({ id }: Payment): Promise<string> {
    return eventually(`${id} to end`, async () => {
      const sql = "SELECT state FROM payments WHERE id = $1 AND state IN ('succeeded', 'failed', 'expired')";
      return (await testEnv.db.pool.query<{ state: string }>(sql, [id])).rows[0]?.state;
    });
  }

  /** How often the operator prompted or paid. */
  async function sentTransactions(): Promise<unknown> {
    const phones = [...collections, ...payouts, waiting, calling, changed].map(({ phone }) => phone);
    const found = await Promise.all([...phones, queued.phone].map((phone) => sandboxTransactions(testEnv, phone)));
    return found.flat().map(({ promptsRaised: prompts, transfersTaken }) => [prompts, transfersTaken]);
  }

  async function refund(): Promise<void> {
    const path = `/v1/console/collections/${refundable.id}/reversal`;
    const requested = await maker.call('POST', path, { idempotencyKey: randomUUID() });
    assert.equal(requested.status, 202, requested.text);
    const released = await releaseRefund(approver, String(requested.json['id']));
    assert.equal(released.status, 200, released.text);
    await untilState(testEnv, refundable, 'reversed');
  }

  /** All of it, at about the same time, until it has ended; returns the payments by their keys. */
  async function requestAll(): Promise<Map<string, string>> {
    const requests = [...collections, ...payouts];
    const payments = await Promise.all(requests.map((request) => send(request)));
    for (const [index, payment] of payments.entries()) {
      if (requests[index]?.path === '/v1/api/payouts') assert.equal((await release(approver, payment)).status, 200);
    }
    await refund();
    return new Map(await Promise.all(payments.map(async (each) => [each.idempotencyKey, await endOf(each)] as const)));
  }

  before(async () => {
    postgres = await startOwnPostgres('set-back');
    testEnv = await startTestEnvironment({
      database: postgres,
      startsServer: false,
      environment: { MALIPO_DATABASE_TIMEOUT_MS: '5000' },
      sandboxTimes: { decisionMs: 300 },
    });
    server = await testEnv.startServer();
    await fund(testEnv, testEnv.merchant, FUNDS);
    maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    refundable = await pay(testEnv, '000');
    await untilState(testEnv, refundable, 'succeeded');
    keptKey = refundable.idempotencyKey;
    queued = await send(requestOf('/v1/api/payouts', '000'));
    await setDown(() => {
      postgres.backUp();
    });
    for (const [key, state] of await requestAll()) firstEnds.set(key, state);
    assert.equal((await release(approver, queued)).status, 200);
    assert.equal(await endOf(queued), 'succeeded');
    await untilState(testEnv, await send(waiting), 'prompted');
    const open = await send(calling);
    await untilState(testEnv, open, 'prompted');
    callingBack = open.operatorReference;
    await untilState(testEnv, await send(changed), 'succeeded');
    balance = await balanceOf(testEnv, testEnv.merchant);
    await setDown(() => {
      postgres.restore();
    });
  });
  after(async () => {
    await testEnv.stop();
    await postgres.stop();
  });

  async function setDown(meanwhile: () => void): Promise<void> {
    await server.stop();
    await postgres.halt();
    meanwhile();
    await postgres.start();
    server = await testEnv.startServer();
  }

  it('is in recovery, serves, and says so', async () => {
    const ready = await call(testEnv.baseUrl, 'GET', '/readyz');
    assert.deepEqual([ready.status, ready.json['status']], [200, 'degraded'], ready.text);
    assert.match(
      String(ready.json['reason']),
      /in recovery since .*: the database is older than a marker of its fence/,
    );
    const shown = await call(testEnv.baseUrl, 'GET', `/v1/api/payouts/${queued.id}`, { key: testEnv.merchant.key });
    assert.deepEqual([shown.status, shown.json['state']], [200, 'queued']);
  });

  it('refuses in recovery what merchants repeat, all at once, and sends nothing', async () => {
    const { baseUrl, merchant } = testEnv;
    const before = await sentTransactions();
    const requests = [...collections, ...payouts, waiting, calling, changed];
    const sendAll = () =>
      Promise.all(
        requests.map(({ path, idempotencyKey, phone }) => {
          const json = collectionFields({ phone, amount: 5000 });
          return call(baseUrl, 'POST', path, { key: merchant.key, idempotencyKey, json });
        }),
      );
    for (const { status, json, text } of [...(await sendAll()), ...(await sendAll())]) {
      assert.deepEqual([status, json.error?.code], [503, 'service_unavailable'], text);
      assert.match(text, /Our records were restored/);
    }
    assert.deepEqual(await sentTransactions(), before);
  });

  it('replays in recovery the response of a key that is on record', async () => {
    const { baseUrl, merchant } = testEnv;
    const json = collectionFields({ phone: refundable.phone });
    const replayed = await call(baseUrl, 'POST', '/v1/api/collections', {
      ...{ key: merchant.key, idempotencyKey: keptKey, json },
    });
    assert.deepEqual([replayed.status, replayed.json['id']], [202, refundable.id], replayed.text);
  });

  it('has ended all sessions, and decides nothing in recovery', async () => {
    assert.equal((await maker.call('GET', '/v1/console/session')).status, 401);
    const again = await logInAs(testEnv, testEnv.merchant.id, 'approver');
    assert.equal((await again.call('GET', '/v1/console/session')).json['in_recovery'], true);
    assert.equal((await release(again, queued)).status, 503);
    const rejected = await again.call('POST', `/v1/console/payouts/${queued.id}/reject`, { json: { reason: 'no' } });
    assert.equal(rejected.status, 503, rejected.text);
    const refunded = await again.call('POST', `/v1/console/collections/${refundable.id}/reversal`, {
      idempotencyKey: randomUUID(),
    });
    assert.notEqual(refunded.status, 202, refunded.text);
  });

  it('asks the operator in recovery about what may be sent, under every reference', async () => {
    const [{ id: restore } = { id: '' }] = await listOpenRestores(testEnv.db);
    await eventually('every answer', async () => (await countDoubtful(testEnv.db, restore)) === 0);
    const found = (await listFindings(testEnv.db, restore, 10)).filter(({ paymentId }) => paymentId === queued.id);
    assert.deepEqual(
      found.map(({ generation, said, state }) => [generation, said, state]),
      [[1, 'paid', 'queued']],
    );
  });

  it('goes on once two of the staff opened it', async () => {
    const [{ id: restore } = { id: '' }] = await listOpenRestores(testEnv.db);
    await addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS);
    await agree(testEnv.db, { kind: 'recovery_opening', payload: { restore, reason: 'a test' } });
    await eventually('the end of the recovery', async () => {
      const { json } = await call(testEnv.baseUrl, 'GET', '/readyz');
      return json['status'] === 'ready';
    });
    maker = await logInAs(testEnv, testEnv.merchant.id, 'maker');
    approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
  });

  it('gives up no payout that the operator paid, and adopts it when it is released', async () => {
    const rejected = await approver.call('POST', `/v1/console/payouts/${queued.id}/reject`, { json: { reason: 'no' } });
    assert.deepEqual([rejected.status, rejected.json.error !== undefined], [409, true], rejected.text);
    assert.equal((await release(approver, queued)).status, 200);
    assert.equal(await endOf(queued), 'succeeded');
    const sent = await sandboxTransactions(testEnv, queued.phone);
    assert.deepEqual(
      sent.map(({ transfersTaken }) => transfersTaken),
      [1],
    );
  });

  it('gives what is requested again the end that it had', async () => {
    assert.deepEqual(await requestAll(), firstEnds);
  });

  it('prompts no payer again, and sends no payout again', async () => {
    for (const { path, phone } of [...collections, ...payouts]) {
      const sent = await sandboxTransactions(testEnv, phone);
      assert.equal(sent.length, 1, phone);
      const [{ promptsRaised: prompts, transfersTaken } = { promptsRaised: 0, transfersTaken: 0 }] = sent;
      assert.deepEqual([prompts, transfersTaken], path === '/v1/api/payouts' ? [0, 1] : [1, 0], phone);
    }
  });

  it('gives a collection back once', async () => {
    const refunds = (await sandboxTransactions(testEnv, refundable.phone)).filter(({ kind }) => kind === 'refund');
    assert.deepEqual(
      refunds.map(({ transfersTaken }) => transfersTaken),
      [1],
    );
  });

  it('keeps the callback about a payment that is lost, and adopts the payment when it is requested again', async () => {
    await decideAtSandbox(testEnv, 'handset', { reference: callingBack, choice: 'approve', pin: '1234' });
    const unmatched = () => countUnmatchedCallbacks(testEnv.db, 100);
    await eventually('the callback to be kept', async () => (await unmatched()) === 1);
    await untilState(testEnv, await send(calling), 'succeeded');
    assert.equal(await unmatched(), 0);
    assert.equal(await promptsRaised(testEnv, calling.phone), 1);
  });

  it('adopts a collection whose prompt is still open, and records its outcome', async () => {
    const adopted = await send(waiting);
    await untilState(testEnv, adopted, 'prompted');
    await decideAtSandbox(testEnv, 'handset', { reference: adopted.operatorReference, choice: 'approve', pin: '1234' });
    await untilState(testEnv, adopted, 'succeeded');
    assert.equal(await promptsRaised(testEnv, waiting.phone), 1);
  });

  it('has the balance that it had, but for what nobody requested again', async () => {
    const [available, held] = await balanceOf(testEnv, testEnv.merchant);
    const [availableBefore, heldBefore] = balance as [number, number];
    // The two that were still open are paid now, and one is not requested again yet.
    assert.deepEqual([available, held], [availableBefore + 5000, heldBefore]);
    await assertLedgerIsSound(testEnv.db);
  });

  it('credits no other amount than was requested, and shows a person that another was paid', async () => {
    const repeated = await send(changed, 7000);
    await untilState(testEnv, repeated, 'reconciling' satisfies CollectionState);
    const found = await eventually('the discrepancy', async () => {
      const sql = 'SELECT kind, reported_amount FROM discrepancies WHERE payment_id = $1';
      return (await testEnv.db.pool.query<{ kind: string; reported_amount: string }>(sql, [repeated.id])).rows[0];
    });
    assert.deepEqual(found, { kind: 'paid_otherwise', reported_amount: '5000' });
    assert.equal(await promptsRaised(testEnv, changed.phone), 1);
  });
});
