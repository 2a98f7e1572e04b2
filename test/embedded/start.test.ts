// `npm start` as its user has it: engines that die under it, a stop in the middle of that, and starts that cannot succeed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { existingDatabase } from '../../src/dev/embedded-engines.ts';
import { SUPERUSER } from '../../src/engines/postgres/cluster.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway, until } from '../engines/throwaway.ts';
import { build, chosenPorts, DEV, startEmbedded, type EmbeddedRun } from './embedded-run.ts';

const ENGINES = ['PostgreSQL', 'the Temporal server'] as const;
const LIMIT_MS = 180_000;

async function pay({ MALIPO_BASE_URL: baseUrl, MALIPO_API_KEY: key }: Readonly<Record<string, string>>) {
  const response = await fetch(`${baseUrl}/v1/api/collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() },
    body: new URLSearchParams({ phone: '256772000100', amount: '700', reference: 'KILLED' }),
  });
  assert.equal(response.status, 202);
  const { id } = (await response.json()) as { id: string };
  const read = async (): Promise<string> => {
    const found = await fetch(`${baseUrl}/v1/api/collections/${id}`, { headers: { authorization: `Bearer ${key}` } });
    return found.ok ? ((await found.json()) as { state: string }).state : String(found.status);
  };
  return { id, read };
}

async function balanceWith(demo: Readonly<Record<string, string>>, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${demo[key]}` };
  return (await fetch(`${demo['MALIPO_BASE_URL']}/v1/api/balance`, { headers })).json();
}

describe('npm start', function () {
  this.timeout(3 * LIMIT_MS);
  const { folder, defer, cleanUp } = throwaway();
  before(build);
  afterEach(cleanUp);

  async function start(
    dataDir: string,
    settings: Readonly<Record<string, string>> = {},
    program?: string,
  ): Promise<EmbeddedRun> {
    const run = startEmbedded(dataDir, { ...(await chosenPorts()), ...settings }, program);
    defer(async () => {
      run.signal('SIGKILL');
      await run.exited;
      for (const pid of run.recorded()) if (startOfProcess(pid) !== undefined) process.kill(pid, 'SIGKILL');
    });
    return run;
  }

  /** It ends cleanly when it is interrupted, and leaves no process. */
  async function assertEnds(run: EmbeddedRun): Promise<void> {
    run.signal('SIGINT');
    assert.equal(await run.exited, 0, run.errors());
    for (const pid of run.recorded()) assert.equal(startOfProcess(pid), undefined);
  }

  function kill(run: EmbeddedRun, name: string): void {
    const pid = run.pidOf(name);
    assert.ok(pid !== undefined, `${name} runs`);
    process.kill(pid, 'SIGKILL');
  }

  it('pays on each wire, starts its engines again when they are killed, one by one and both at once, and a payment succeeds', async () => {
    const run = await start(folder());
    await run.untilPrinted('Ctrl-C stops all of it');
    const demo = run.demo();
    for (const [operator, count] of [
      ['MTN MoMo', 1],
      ['Airtel Money', 2],
      ['M-Pesa', 3],
    ] as const) {
      await run.untilPrinted(`the prompt of ${operator}`);
      await run.untilPrinted('collection.succeeded, signature verified', count);
    }
    assert.deepEqual(
      [await balanceWith(demo, 'MALIPO_API_KEY'), await balanceWith(demo, 'MALIPO_KES_API_KEY')],
      [
        { available: 10_000, held: 0, currency: 'UGX' },
        { available: 5000, held: 0, currency: 'KES' },
      ],
    );
    for (const [round, killed] of [[ENGINES[0]], [ENGINES[1]], ENGINES].entries()) {
      const payment = await pay(demo);
      for (const name of killed) kill(run, name);
      for (const name of killed) await run.untilPrinted(`${name} runs again`, round < 2 ? 1 : 2);
      await until('the payment to succeed', async () => (await payment.read()) === 'succeeded', LIMIT_MS);
    }
    await assertEnds(run);
  });

  it('leaves nothing when it is stopped while an engine is down or starts again', async () => {
    const dataDir = folder();
    for (const waits of [false, true]) {
      const run = await start(dataDir);
      await run.untilPrinted('Ctrl-C stops all of it');
      for (const name of ENGINES) kill(run, name);
      if (waits) await run.untilPrinted('is started again', 2);
      await assertEnds(run);
      assert.doesNotMatch(run.output().split('stopping')[1]!, /runs again|is started/);
      assert.equal(readdirSync(dataDir).includes('run.json'), false);
    }
  });

  it('serves the console from its sources under npm run dev, and restarts the server when a source changes', async () => {
    const ports = await chosenPorts();
    const run = await start(folder(), ports, DEV);
    await run.untilPrinted('restarts the server');
    const { MALIPO_BASE_URL: baseUrl } = run.demo();
    assert.equal(baseUrl, `http://localhost:${ports.MALIPO_CONSOLE_PORT}`);
    const page = await fetch(`${baseUrl}/console/`);
    assert.match(await page.text(), /\/console\/@vite\/client/);
    // Its content is the same, so nothing is built, and other tests see nothing of it.
    utimesSync(join(findProjectRoot(), 'src', 'log.ts'), new Date(), new Date());
    await run.untilPrinted(/the server runs/, 2);
    const payment = await pay(run.demo());
    await until('the payment to succeed', async () => (await payment.read()) === 'succeeded', LIMIT_MS);
    await assertEnds(run);
    await assert.rejects(fetch(`${baseUrl}/console/`), TypeError);
  });

  describe('that cannot succeed', () => {
    /** It says this one line, and has started nothing. */
    async function assertRefused(run: EmbeddedRun, line: RegExp): Promise<void> {
      const code = await run.exited;
      const [empty, said, ...others] = run.errors().split('\n');
      assert.match(said ?? '', line);
      assert.deepEqual([code, empty, others], [1, '', ['']], run.errors());
      assert.doesNotMatch(run.output(), /starting|stopped/);
    }

    it('names both settings when two chosen ports are the same', async () => {
      const { MALIPO_HTTP_PORT: port } = await chosenPorts();
      const run = await start(folder(), { MALIPO_HTTP_PORT: port, MALIPO_POSTGRES_PORT: port });
      await assertRefused(run, /MALIPO_POSTGRES_PORT and MALIPO_HTTP_PORT are both \d+/);
    });

    it('names a chosen port that is taken', async () => {
      const squatter = createServer().listen(0, '127.0.0.1');
      await once(squatter, 'listening');
      defer(() => squatter.close());
      const { port } = squatter.address() as { port: number };
      const run = await start(folder(), { MALIPO_RECEIVER_PORT: String(port) });
      await assertRefused(run, new RegExp(`port ${port} for the demo receiver \\(MALIPO_RECEIVER_PORT\\) is taken`));
    });

    it('names the data folder’s setting when the folder cannot be used', async () => {
      const file = join(folder(), 'file');
      writeFileSync(file, '');
      await assertRefused(await start(file), /the data folder .* is a file and no folder\. .* MALIPO_DATA_DIR/);
    });

    it('names every setting that cannot be used', async () => {
      const run = await start(folder(), { MALIPO_BACKLOG_MAX_COUNT: '0' });
      assert.equal(await run.exited, 1);
      assert.match(
        run.errors(),
        /^\nMalipo cannot run: the configuration is invalid:\n {2}MALIPO_BACKLOG_MAX_COUNT: .*\n$/,
      );
      assert.doesNotMatch(run.output(), /starting|stopped/);
    });

    it('names the secrets’ file when it or its key is gone and the database is there, or it is damaged', async () => {
      const dataDir = folder();
      mkdirSync(join(dataDir, 'postgres', 'cluster'), { recursive: true });
      await assertRefused(await start(dataDir), /secrets\.json is gone, and the database in .* Put a copy of it back/);
      const file = join(dataDir, 'secrets.json');
      writeFileSync(file, '{}');
      await assertRefused(
        await start(dataDir),
        /secrets\.json has no MALIPO_SECRET_KEYS, and the database in .* Put a copy of it back/,
      );
      assert.equal(readFileSync(file, 'utf8'), '{}');
      writeFileSync(file, '{"MALIPO_SECRET_KEYS": "de');
      await assertRefused(
        await start(dataDir),
        /secrets\.json cannot be read: it is not JSON\. .* Put a copy of it back/,
      );
      assert.equal(readFileSync(file, 'utf8'), '{"MALIPO_SECRET_KEYS": "de');
    });
  });

  it('names the demo merchant’s file when it is damaged, goes on without a demonstration that does not end, and names the data folder of another schema', async () => {
    const dataDir = folder();
    const settings = await chosenPorts();
    const file = join(dataDir, 'demo-merchant.json');
    writeFileSync(file, '{"merchantId": ');
    const refused = await start(dataDir, settings);
    assert.equal(await refused.exited, 1);
    assert.match(
      refused.errors(),
      /^\nMalipo cannot run: .*demo-merchant\.json cannot be read: it is not JSON\. .*\n$/,
    );
    assert.equal(readFileSync(file, 'utf8'), '{"merchantId": ');
    rmSync(file);
    // As behind a backlog: the payment takes longer than the start waits for it.
    const run = await start(dataDir, { ...settings, MALIPO_SANDBOX_DECISION_MS: '600000' });
    await run.untilPrinted('the demo collection did not finish: the webhook of its success did not arrive');
    await run.untilPrinted('Ctrl-C stops all of it');
    await addSchemaFile(dataDir, settings.MALIPO_POSTGRES_PORT);
    run.signal('SIGTERM');
    assert.equal(await run.exited, 0);
    const another = await start(dataDir, settings);
    assert.equal(await another.exited, 1);
    assert.match(
      another.errors(),
      /^\nMalipo cannot run: this version does not know these schema files of the database.*: 999-other\.sql\. .* remove its data folder/,
    );
  });
});

/** The database of the running start gets a file that no version has. */
async function addSchemaFile(dataDir: string, port: string): Promise<void> {
  const cluster = existingDatabase(dataDir);
  assert.ok(cluster !== undefined);
  const password = readFileSync(join(dirname(cluster), 'password'), 'utf8').trim();
  const client = new Client({ host: '127.0.0.1', port: Number(port), user: SUPERUSER, password, database: 'malipo' });
  await client.connect();
  await client.query("INSERT INTO schema_migrations VALUES ('999-other.sql', '', now())");
  await client.end();
}
