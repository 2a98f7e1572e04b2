// Temporal stopped and started again: what was accepted is recorded, waits within bounds, and completes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { freePort } from '../../src/dev/ports.ts';
import type { Exit } from '../../src/dev/supervised-process.ts';
import { startTemporalServer, type TemporalServer } from '../../src/dev/temporal-server.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { NAMESPACE, runFolder, temporalBinary } from '../support/engines.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import {
  assertLedgerIsSound,
  fetchPayment,
  pay,
  phoneFor,
  promptsRaised,
  sandboxTransactions,
  transitionsOf,
  untilAllReceived,
  untilState,
  type Payment,
} from '../support/payments.ts';
import { startServerChild } from '../support/server-child.ts';

const PAID = ['initiated > prompted', 'prompted > succeeded'];
const BACKLOG_MAX = 4;

/** A Temporal server of this file's own, whose database outlives it. */
async function temporalOnFile(): Promise<{ address: string; start(): Promise<void>; stop(): Promise<void> }> {
  const port = await freePort();
  let server: TemporalServer | null = null;
  return {
    address: `127.0.0.1:${port}`,
    async start() {
      server = await startTemporalServer({
        binary: await temporalBinary(),
        databaseFile: join(runFolder(), 'temporal-away', 'temporal.db'),
        host: '127.0.0.1',
        port,
        namespaces: [NAMESPACE],
        logFile: join(runFolder(), 'temporal-away.log'),
        synchronous: 'off',
      });
    },
    async stop() {
      await server?.stop();
    },
  };
}

// Each test goes on where the one before it ended.
describe('while Temporal is away', () => {
  let temporal: Awaited<ReturnType<typeof temporalOnFile>>;
  let testEnv: TestEnvironment;
  let open: Payment;
  let bystanderStopped: Promise<Exit>;
  const accepted: Payment[] = [];

  before(async () => {
    temporal = await temporalOnFile();
    await temporal.start();
    await prepareTemporal({ address: temporal.address, namespace: NAMESPACE });
    testEnv = await startTestEnvironment({
      environment: {
        MALIPO_TEMPORAL_ADDRESS: temporal.address,
        MALIPO_BACKLOG_MAX_COUNT: String(BACKLOG_MAX),
        MALIPO_PROMPT_DEADLINE_MS: '120000',
        MALIPO_PROMPT_WINDOW_MS: '120000',
      },
      sandboxTimes: { decisionMs: 1000 },
    });
    const bystander = await startServerChild(testEnv, { overrides: { MALIPO_HTTP_PORT: String(await freePort()) } });
    open = await pay(testEnv, '004');
    await untilState(testEnv, open, 'prompted');
    await temporal.stop();
    // Its workers first try for a while to report what they had in hand.
    bystanderStopped = bystander.stop(40_000);
  });
  after(async () => {
    await testEnv.stop();
    await temporal.stop();
  });

  const post = (idempotencyKey: string, phone: string): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      idempotencyKey,
      json: collectionFields({ phone }),
    });
  const readiness = () => call(testEnv.baseUrl, 'GET', '/readyz');

  it('a payment is accepted and recorded, and the answer does not wait', async () => {
    const beganMs = Date.now();
    const payment = await pay(testEnv, '000');
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    accepted.push(payment);
  });

  it('readiness says that the service is degraded, soon enough for a probe, and is still 200', async () => {
    const beganMs = Date.now();
    const { status, json } = await readiness();
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.equal(status, 200);
    assert.equal(json['status'], 'degraded');
    assert.deepEqual(json['parts'], { database: 'up', temporal: 'away', backlog: 'within_bounds' });
  });

  it('new work is refused with 503 and Retry-After once too much of it waits, and readiness says why', async () => {
    // One is there already.
    for (let i = 1; i < BACKLOG_MAX; i++) accepted.push(await pay(testEnv, '000'));
    const refused = await eventually('the bound', async () => {
      const answer = await post(randomUUID(), phoneFor('000'));
      if (answer.status === 202) return null;
      return answer;
    });
    assert.equal(refused.status, 503);
    assert.equal(refused.json.error?.code, 'service_unavailable');
    assert.match(String(refused.headers.get('retry-after')), /^[0-9]+$/);
    const { json } = await readiness();
    assert.equal((json['parts'] as { backlog: string }).backlog, 'full');
  });

  it('a repeated request is answered all the same', async () => {
    const [payment] = accepted;
    const idempotencyKey = payment!.workflowId.split('/').at(-1)!;
    const answer = await post(idempotencyKey, payment!.phone);
    assert.deepEqual([answer.status, answer.json['id']], [202, payment!.id]);
  });

  it('a server that never reached it starts, and stops when it is told to', async () => {
    const child = await startServerChild(testEnv, { overrides: { MALIPO_HTTP_PORT: String(await freePort()) } });
    const { code, signal } = await child.stop();
    assert.deepEqual([code, signal], [0, null]);
  });

  it('nobody is prompted', async () => {
    for (const { phone } of accepted) assert.deepEqual(await sandboxTransactions(testEnv, phone), []);
  });

  it('all of it waits, and completes when Temporal is back', async () => {
    await temporal.start();
    for (const payment of accepted) {
      await untilState(testEnv, payment, 'succeeded', 30_000);
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID);
      assert.equal(await promptsRaised(testEnv, payment.phone), 1);
    }
  });

  it('a payment that was open is not lost: it goes on where it was', async () => {
    await untilState(testEnv, open, 'succeeded', 30_000);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, open)), PAID);
    assert.equal(await promptsRaised(testEnv, open.phone), 1);
    await assertLedgerIsSound(testEnv.db);
  });

  it('a server that was told to stop meanwhile has stopped cleanly', async () => {
    const { code, signal } = await bystanderStopped;
    assert.deepEqual([code, signal], [0, null]);
  });

  it('and back again, the service is ready and takes new work', async () => {
    await eventually('readiness', async () => (await readiness()).json['status'] === 'ready');
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
  });
});
