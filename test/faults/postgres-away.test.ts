// PostgreSQL stopped and started again: requests are refused while nothing can be recorded, and nothing is lost.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { freePort } from '../../src/dev/ports.ts';
import { startPostgresServer, type PostgresServer } from '../../src/dev/postgres-server.ts';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { call, collectionFields, type ApiResponse } from '../support/api.ts';
import { runFolder, temporalClient, type TestDatabase } from '../support/engines.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import {
  assertLedgerIsSound,
  callBack,
  pay,
  phoneFor,
  promptsRaised,
  transitionsOf,
  switchFaults,
  untilAllReceived,
  untilState,
  type Payment,
} from '../support/payments.ts';

type RestartablePostgres = TestDatabase & {
  start(): Promise<void>;
  /** Its data stay. */
  halt(): Promise<void>;
  stop(): Promise<void>;
};

/** A PostgreSQL server of this file's own with one database, which is not dropped: its folder goes with the run. */
async function postgresOfOurOwn(): Promise<RestartablePostgres> {
  const port = await freePort();
  const fallbackDataDir = `${runFolder()}-postgres-away`;
  let server: PostgresServer;
  const start = async (): Promise<void> => {
    server = await startPostgresServer({
      dataDir: join(runFolder(), 'postgres-away'),
      fallbackDataDir,
      port,
      settings: { fsync: 'off' },
      logFile: join(runFolder(), 'postgres-away.log'),
    });
  };
  await start();
  await server!.ensureDatabase('malipo');
  const url = server!.urlFor('malipo');
  await migrate(url, join(findProjectRoot(), 'src/db/migrations'));
  const db: Database = openDatabase({
    url,
    poolSize: 5,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(fallbackDataDir, { recursive: true, force: true });
  };
  return { url, db, start, halt: () => server.stop(), stop, drop: () => db.close() };
}

// Each test goes on where the one before it ended.
describe('while PostgreSQL is away', () => {
  let postgres: RestartablePostgres;
  let testEnv: TestEnvironment;
  let open: Payment;
  let answered: Payment;
  const idempotencyKey = randomUUID();
  const phone = phoneFor('000');

  before(async () => {
    postgres = await postgresOfOurOwn();
    testEnv = await startTestEnvironment({
      database: postgres,
      environment: {
        MALIPO_DATABASE_TIMEOUT_MS: '1000',
        MALIPO_PROMPT_WINDOW_MS: '60000',
        MALIPO_OPERATOR_TIMEOUT_MS: '5000',
        MALIPO_NOT_FOUND_GRACE_MS: '6000',
      },
      sandboxTimes: { decisionMs: 1000 },
    });
    // So that the document that answers are held against is there already.
    open = await pay(testEnv, '000');
    await untilState(testEnv, open, 'prompted');
    // So slow that its answer to this one comes when there is no database any more.
    await switchFaults(testEnv, { latencyMs: 1500 });
    answered = await pay(testEnv, '000');
    await eventually('the operator to be asked', () => isAskingOperator(answered));
    await sleep(200);
    await postgres.halt();
  });
  after(async () => {
    await testEnv.stop();
    await postgres.stop();
  });

  async function isAskingOperator({ workflowId }: Payment): Promise<boolean> {
    const handle = (await temporalClient()).workflow.getHandle(workflowId);
    const description = await handle.describe().catch(() => null);
    return description?.raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime) === true;
  }

  const post = (): Promise<ApiResponse> =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      idempotencyKey,
      json: collectionFields({ phone }),
    });

  it('a request for a payment is refused with 503, to be repeated with the same key', async () => {
    const answer = await post();
    assert.deepEqual([answer.status, answer.json.error?.code], [503, 'service_unavailable']);
    assert.match(String(answer.headers.get('retry-after')), /^[0-9]+$/);
  });

  it('a question is refused with 503 too', async () => {
    const { status } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${open.id}`, {
      key: testEnv.merchant.key,
    });
    assert.equal(status, 503);
  });

  it('an operator’s callback is refused with 503, since it cannot be kept', async () => {
    assert.equal((await callBack(testEnv, open.operatorReference, 'SUCCESSFUL')).status, 503);
  });

  it('readiness is 503, and the process is up', async () => {
    const { status, json } = await call(testEnv.baseUrl, 'GET', '/readyz');
    assert.equal(status, 503);
    assert.equal((json['parts'] as { database: string }).database, 'down');
    assert.equal((await call(testEnv.baseUrl, 'GET', '/healthz')).status, 200);
  });

  it('an open payment waits, and completes when it is back, though the operator’s callback was refused', async () => {
    await eventually('the operator to have called in vain', async () => {
      const response = await fetch(`${testEnv.sandbox.url}/sandbox/transactions?phone=${open.phone}`);
      const [transaction] = (await response.json()) as { callbackResults: { result: string }[] }[];
      return transaction?.callbackResults[0]?.result === 'http 503';
    });
    await eventually('the operator to have answered in vain', async () => {
      return (await promptsRaised(testEnv, answered.phone)) === 1;
    });
    // Longer than a workflow task may take by itself: the recording is tried again and again within it.
    await sleep(1500);
    await switchFaults(testEnv, {});
    await postgres.start();
    await untilState(testEnv, open, 'succeeded', 40_000);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, open)), [
      'initiated > prompted',
      'prompted > succeeded',
    ]);
    assert.equal(await promptsRaised(testEnv, open.phone), 1);
  });

  it('what an operator answered meanwhile is recorded when it is back', async () => {
    await untilState(testEnv, answered, 'succeeded', 40_000);
    assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, answered)), [
      'initiated > prompted',
      'prompted > succeeded',
    ]);
    assert.equal(await promptsRaised(testEnv, answered.phone), 1);
  });

  it('what was refused was not recorded, and the same key makes one payment now', async () => {
    const { rows } = await testEnv.db.pool.query('SELECT id FROM collections WHERE phone = $1', [phone]);
    assert.deepEqual(rows, []);
    const answer = await post();
    assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [202, null]);
    const payment: Payment = { ...open, id: String(answer.json['id']), phone };
    await untilState(testEnv, payment, 'succeeded');
    await untilAllReceived(testEnv, payment);
    assert.equal(await promptsRaised(testEnv, phone), 1);
    await assertLedgerIsSound(testEnv.db);
  });
});
