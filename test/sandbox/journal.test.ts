// What the sandbox operator knows after a restart, a kill, or with a damaged journal.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openJournal, readJournal } from '../../src/sandbox/journal.ts';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { useFolderPerCase } from '../support/use-folder.ts';
import {
  hasAtLeast,
  hasStatus,
  payment,
  sandboxConfig,
  startReceiver,
  startTestSandbox,
  submit,
  until,
  wireClient,
  type WireClient,
} from './sandbox-harness.ts';

describe('the journal of the sandbox operator', () => {
  const place = useFolderPerCase();
  let dataFile: string;
  beforeEach(() => {
    dataFile = join(place.folder, 'sandbox.jsonl');
  });

  async function read(): Promise<unknown[]> {
    const entries: unknown[] = [];
    await readJournal(dataFile, (entry) => entries.push(entry));
    return entries;
  }

  const pay = (client: WireClient, row: string, callbackUrl?: string): Promise<string> =>
    submit(client, 'requestToPay', row, callbackUrl === undefined ? {} : { callbackUrl });

  describe('as a file', () => {
    it('returns every entry in order', async () => {
      const journal = await openJournal({ path: dataFile, snapshot: () => ['first'], growthBytes: 1e6 });
      await Promise.all(Array.from({ length: 100 }, (_, index) => journal.append({ index })));
      await journal.close();
      assert.deepEqual(await read(), ['first', ...Array.from({ length: 100 }, (_, index) => ({ index }))]);
    });

    it('has written an entry when append settles', async () => {
      const journal = await openJournal({ path: dataFile, snapshot: () => [], growthBytes: 1e6 });
      await journal.append('kept');
      assert.deepEqual(await read(), ['kept']);
      await journal.close();
    });

    it('skips a truncated last line and a damaged line in the middle', async () => {
      await writeFile(dataFile, '{"a":1}\n{"b":\n\n{"c":3}\n{"d":');
      assert.deepEqual(await read(), [{ a: 1 }, { c: 3 }]);
    });

    it('has no entries when it does not exist', async () => {
      assert.deepEqual(await read(), []);
    });

    it('is rewritten when it has grown, and keeps entries that are appended meanwhile', async () => {
      const latest = new Map<number, number>();
      let rewrites = 0;
      const snapshot = () => {
        rewrites += 1;
        return [...latest];
      };
      const journal = await openJournal({ path: dataFile, snapshot, growthBytes: 2000 });
      for (let round = 0; round < 50; round++) {
        const appends = Array.from({ length: 20 }, (_, key) => {
          latest.set(key, round);
          return journal.append([key, round]);
        });
        await Promise.all(appends);
      }
      await journal.close();
      assert.deepEqual(new Map((await read()) as [number, number][]), latest);
      assert.ok((await readFile(dataFile)).length < 4000);
      assert.deepEqual(await readdir(place.folder), ['sandbox.jsonl']);
      assert.ok(rewrites > 1 && rewrites < 10, `${rewrites} rewrites`);
    });

    it('keeps an entry apart from a line that a failed write has truncated', async () => {
      const journal = await openJournal({ path: dataFile, snapshot: () => [], growthBytes: 1e6 });
      await writeFile(dataFile, '{"torn":');
      await journal.append('whole');
      await journal.close();
      assert.ok((await readFile(dataFile, 'utf8')).endsWith('\n"whole"\n'));
    });

    it('rejects an entry that can no longer be written', async () => {
      const journal = await openJournal({ path: dataFile, snapshot: () => [], growthBytes: 1e6 });
      await journal.close();
      await assert.rejects(journal.append('lost'));
    });
  });

  it('keeps pending, decided and refused payments over a restart', async () => {
    const first = await startTestSandbox({ dataFile });
    const client = wireClient(first);
    const paid = await pay(client, '004');
    const refused = randomUUID();
    await client.requestToPay(payment('011', refused), { 'X-Reference-Id': refused });
    const endless = await pay(client, '010');
    const before = await until(() => client.status(paid), hasStatus('SUCCESSFUL'));
    await first.stop();

    const second = await startTestSandbox({ dataFile });
    const again = wireClient(second);
    assert.deepEqual(await again.status(paid), before);
    assert.equal((await again.status(endless)).body?.['status'], 'PENDING');
    assert.equal((await again.seen(refused))?.['requestsReceived'], 1);
    const repeated = await again.requestToPay(payment('004', paid), { 'X-Reference-Id': paid });
    assert.equal(repeated.status, 409);
    await second.stop();
  });

  it('decides a pending payment at its own time after a restart, and calls back', async () => {
    const receiver = await startReceiver();
    const times = { decisionMs: 1500 };
    const first = await startTestSandbox({ dataFile, times });
    const acceptedAtMs = performance.now();
    const reference = await pay(wireClient(first), '999', receiver.url);
    await first.stop();
    assert.equal(receiver.callbacks.length, 0);
    const second = await startTestSandbox({ dataFile, times: { decisionMs: 60_000 } });
    const [callback] = await until(() => receiver.callbacks, hasAtLeast(1));
    assert.ok(callback !== undefined && callback.atMs - acceptedAtMs >= times.decisionMs);
    assert.deepEqual((await wireClient(second).status(reference)).body, callback.body);
    await second.stop();
    await receiver.stop();
  });

  it('does not repeat a callback after a restart', async () => {
    const receiver = await startReceiver();
    const first = await startTestSandbox({ dataFile });
    await pay(wireClient(first), '012', receiver.url);
    await first.stop();
    const second = await startTestSandbox({ dataFile });
    await sleep(30);
    assert.equal(receiver.callbacks.length, 1);
    await second.stop();
    await receiver.stop();
  });

  it('forgets the oldest payments beyond its limits, and keeps their sums in the balance', async () => {
    const limits = { transactions: 2 };
    const times = { decisionMs: 0 };
    const startingFloat = 0;
    const first = await startTestSandbox({ dataFile, limits, times, startingFloat });
    const client = wireClient(first);
    const references: string[] = [];
    for (let count = 0; count < 4; count++) {
      const reference = await pay(client, '999');
      await until(() => client.status(reference), hasStatus('SUCCESSFUL'));
      references.push(reference);
    }
    const check = async (now: WireClient): Promise<void> => {
      const statuses = await Promise.all(references.map(async (reference) => (await now.status(reference)).status));
      assert.deepEqual(statuses, [404, 404, 200, 200]);
      assert.equal((await now.balance()).body?.['availableBalance'], '2000.00');
    };
    await check(client);
    await first.stop();
    const second = await startTestSandbox({ dataFile, limits, startingFloat });
    await check(wireClient(second));
    await second.stop();
    const third = await startTestSandbox({ dataFile, limits: { transactionAgeMs: 0 }, startingFloat });
    assert.equal((await wireClient(third).balance()).body?.['availableBalance'], '2000.00');
    await third.stop();
    assert.equal((await read()).length, 1);
  });

  it('is not touched by a second start on a port that is taken', async () => {
    const first = await startTestSandbox({ dataFile });
    const port = Number(new URL(first.url).port);
    await assert.rejects(startSandbox(sandboxConfig({ dataFile, port })), { code: 'EADDRINUSE' });
    const reference = await pay(wireClient(first), '010');
    await first.stop();
    assert.ok((await readFile(dataFile, 'utf8')).includes(reference));
  });

  it('makes the operator respond 500 and never 202 when it cannot be written', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const sandbox = await startSandbox(sandboxConfig({ dataFile, limits: { journalGrowthBytes: 1 }, onError }));
    const client = wireClient(sandbox);
    await client.token();
    await rm(place.folder, { recursive: true });
    const reference = randomUUID();
    const answer = await client.requestToPay(payment('010', reference), { 'X-Reference-Id': reference });
    assert.equal(answer.status, 500);
    assert.equal(answer.body?.['code'], 'INTERNAL_PROCESSING_ERROR');
    assert.equal(errors.length, 1);
    await sandbox.stop();
  });

  it('fails the start and frees the port when it cannot be opened', async () => {
    const missing = join(place.folder, 'missing', 'sandbox.jsonl');
    await assert.rejects(startSandbox(sandboxConfig({ dataFile: missing })), { code: 'ENOENT' });
  });

  it('survives a killed process, even with a truncated last line', async () => {
    const receiver = await startReceiver();
    const config = sandboxConfig({ dataFile, times: { decisionMs: 30, undecidedMs: 1200 } });
    const children: ChildProcess[] = [];
    const start = async (): Promise<WireClient> => {
      const { child, url } = await startChild(config);
      children.push(child);
      return wireClient({ url });
    };
    try {
      const first = await start();
      const paid = await pay(first, '999', receiver.url);
      await until(() => receiver.callbacks, hasAtLeast(1));
      const late = await pay(first, '009', receiver.url);
      const endless = await pay(first, '010', receiver.url);
      await kill(children[0]!);
      assert.equal(receiver.callbacks.length, 1);
      await appendFile(dataFile, '{"operatorReference":"torn');

      const second = await start();
      assert.equal((await second.status(paid)).body?.['status'], 'SUCCESSFUL');
      assert.equal((await second.status(endless)).body?.['status'], 'PENDING');
      assert.equal((await second.seen(endless))?.['requestsReceived'], 1);
      const [called] = await until(() => receiver.callbacks.slice(1), hasAtLeast(1));
      assert.equal(called?.body['externalId'], late);
      assert.equal((await second.status(late)).body?.['status'], 'SUCCESSFUL');
      assert.equal(receiver.callbacks.length, 2);
    } finally {
      await Promise.all(children.map(kill));
      await receiver.stop();
    }
  });
});

async function startChild(config: unknown): Promise<{ child: ChildProcess; url: string }> {
  const script = new URL('./sandbox-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(config)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
