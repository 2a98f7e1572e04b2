// Temporal stops and starts again: accepted payments are recorded, wait within limits, and complete.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import type { Exit } from '../../src/engines/process/supervised-process.ts';
import { startTemporalServer, type TemporalServer } from '../../src/engines/temporal/server.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { NAMESPACE, runFolder, temporalBinary } from '../support/engines.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { assertLedgerIsSound, fetchPayment, pay, phoneFor, untilState, type Payment } from '../support/payments.ts';
import { sandboxTransactions } from '../support/sandbox-operator.ts';
import { untilPaidOnce } from '../support/payment-events.ts';
import { startServerChild } from '../support/server-child.ts';

const BACKLOG_MAX = 4;

/** A separate Temporal server, whose database outlives it. */
async function temporalOnFile(): Promise<{ address: string; start(): Promise<void>; stop(): Promise<void> }> {
  const port = await freePort();
  let server: TemporalServer | null = null;
  return {
    address: `127.0.0.1:${port}`,
    async start() {
      server = await startTemporalServer({
        binary: await temporalBinary(),
        databaseFile: join(runFolder(), 'temporal-down', 'temporal.db'),
        host: '127.0.0.1',
        port,
        namespaces: [NAMESPACE],
        logFile: join(runFolder(), 'temporal-down.log'),
        synchronous: 'off',
      });
    },
    async stop() {
      await server?.stop();
    },
  };
}

// Each test continues where the one before it ended.
describe('the service without Temporal', () => {
  let temporal: Awaited<ReturnType<typeof temporalOnFile>>;
  let testEnv: TestEnvironment;
  let pending: Payment;
  let otherServerStopped: Promise<Exit>;
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
    const otherServer = await startServerChild(testEnv, { overrides: { MALIPO_HTTP_PORT: String(await freePort()) } });
    pending = await pay(testEnv, '004');
    await untilState(testEnv, pending, 'prompted');
    await temporal.stop();
    // Its workers first try for a while to report their tasks.
    otherServerStopped = otherServer.stop(40_000);
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

  it('accepts and records a payment, and responds without delay', async () => {
    const beganMs = Date.now();
    const payment = await pay(testEnv, '000');
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    accepted.push(payment);
  });

  it('reports in time for a probe that it is degraded, with status 200', async () => {
    const beganMs = Date.now();
    const { status, json } = await readiness();
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.equal(status, 200);
    assert.equal(json['status'], 'degraded');
    assert.deepEqual(json['parts'], { database: 'up', temporal: 'away', backlog: 'within_bounds' });
  });

  it('refuses new work with 503 and Retry-After when the backlog is full, and reports that', async () => {
    // One payment is in the backlog already.
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

  it('responds to a repeated request nevertheless', async () => {
    const [payment] = accepted;
    const { idempotencyKey } = payment!;
    const answer = await post(idempotencyKey, payment!.phone);
    assert.deepEqual([answer.status, answer.json['id']], [202, payment!.id]);
  });

  it('starts and stops cleanly without ever reaching Temporal', async () => {
    const child = await startServerChild(testEnv, { overrides: { MALIPO_HTTP_PORT: String(await freePort()) } });
    const { code, signal } = await child.stop();
    assert.deepEqual([code, signal], [0, null]);
  });

  it('prompts nobody', async () => {
    for (const { phone } of accepted) assert.deepEqual(await sandboxTransactions(testEnv, phone), []);
  });

  it('completes all accepted payments when Temporal is back', async () => {
    await temporal.start();
    for (const payment of accepted) {
      await untilPaidOnce(testEnv, payment, 30_000);
    }
  });

  it('completes a payment that was pending before', async () => {
    await untilPaidOnce(testEnv, pending, 30_000);
    await assertLedgerIsSound(testEnv.db);
  });

  it('has cleanly stopped a server that got its signal meanwhile', async () => {
    const { code, signal } = await otherServerStopped;
    assert.deepEqual([code, signal], [0, null]);
  });

  it('is ready and accepts new work when Temporal is back', async () => {
    await eventually('readiness', async () => (await readiness()).json['status'] === 'ready');
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
  });
});
