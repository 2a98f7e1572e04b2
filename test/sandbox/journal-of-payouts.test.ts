// What the sandbox operator knows of payouts, refunds and returned payments after a restart.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxConfig } from '../../src/sandbox/sandbox-config.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import {
  hasAtLeast,
  callbackStatuses,
  hasStatus,
  payout,
  refundOf,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  submit,
  until,
  wireClient,
  type Receiver,
  type WireClient,
} from './sandbox-harness.ts';

describe('the journal of payouts, refunds and returned payments', () => {
  let folder: string;
  let dataFile: string;
  let receiver: Receiver;
  let running: Sandbox | null = null;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'malipo-sandbox-'));
    dataFile = join(folder, 'sandbox.jsonl');
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await running?.stop();
    running = null;
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Stops the sandbox that runs on the journal, and starts another one. */
  async function start(changes: Partial<SandboxConfig> = {}): Promise<WireClient> {
    await running?.stop();
    running = await startTestSandbox({ dataFile, ...changes });
    return wireClient(running);
  }

  const request = (client: WireClient, kind: 'requestToPay' | 'transfer' | 'refund', target: string, changes = {}) =>
    submit(client, kind, target, { callbackUrl: receiver.url, changes });
  const calledBack = (reference: string): unknown[] => callbackStatuses(receiver, reference);

  it('keeps payouts and refunds unchanged over a restart, and accepts neither twice', async () => {
    const first = await start();
    const collected = await request(first, 'requestToPay', '500');
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const sent = await request(first, 'transfer', '500');
    const refunded = await request(first, 'refund', collected);
    const before = [
      await until(() => first.transferStatus(sent), hasStatus('SUCCESSFUL')),
      await until(() => first.refundStatus(refunded), hasStatus('SUCCESSFUL')),
      await first.balance(),
    ];

    const again = await start();
    const after = [await again.transferStatus(sent), await again.refundStatus(refunded), await again.balance()];
    assert.deepEqual(after, before);
    assert.equal((await again.seen(sent))?.['transfersTaken'], 1);
    assert.equal((await again.seen(refunded))?.['originalReference'], collected);
    const repeated = { 'X-Reference-Id': sent };
    assert.equal((await again.transfer(payout('500', sent), repeated)).status, 409);
    const second = randomUUID();
    const answer = await again.refund(refundOf(collected, second), { 'X-Reference-Id': second });
    assert.equal(answer.body?.['code'], 'RESOURCE_NOT_FOUND');
  });

  it('decides a pending payout and refund at their own time after a restart, and calls back', async () => {
    const first = await start({ times: { ...SHORT_TIMES, decisionMs: 0 } });
    const collected = await request(first, 'requestToPay', '500');
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const slow = await start({ times: { ...SHORT_TIMES, decisionMs: 1200 } });
    const sent = await request(slow, 'transfer', '500');
    const refunded = await request(slow, 'refund', collected);

    const again = await start({ times: { decisionMs: 60_000 } });
    assert.deepEqual([calledBack(sent), calledBack(refunded)], [[], []]);
    await until(() => again.transferStatus(sent), hasStatus('SUCCESSFUL'));
    await until(() => again.refundStatus(refunded), hasStatus('SUCCESSFUL'));
    await until(() => calledBack(refunded), hasAtLeast(1));
    assert.deepEqual([calledBack(sent), calledBack(refunded)], [['SUCCESSFUL'], ['SUCCESSFUL']]);
  });

  it('returns a payment after a restart, exactly once', async () => {
    const slow = { ...SHORT_TIMES, reversalMs: 1500 };
    const first = await start({ times: slow });
    const collected = await request(first, 'requestToPay', '015');
    const sent = await request(first, 'transfer', '015');
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const paid = await until(() => first.transferStatus(sent), hasStatus('SUCCESSFUL'));
    await until(() => [...calledBack(collected), ...calledBack(sent)], hasAtLeast(2));

    const again = await start({ times: slow });
    assert.deepEqual(await again.transferStatus(sent), paid);
    const returned = await until(() => again.transferStatus(sent), hasStatus('FAILED'));
    assert.equal((returned.body?.['reason'] as { code: string }).code, 'TRANSACTION_REVERSED');
    assert.equal(returned.body?.['financialTransactionId'], paid.body?.['financialTransactionId']);
    await until(() => again.status(collected), hasStatus('FAILED'));
    await until(() => [...calledBack(collected), ...calledBack(sent)], hasAtLeast(4));

    const third = await start({ times: slow });
    assert.deepEqual(await third.transferStatus(sent), returned);
    await sleep(40);
    assert.deepEqual(
      [calledBack(collected), calledBack(sent)],
      [
        ['SUCCESSFUL', 'FAILED'],
        ['SUCCESSFUL', 'FAILED'],
      ],
    );
    assert.equal((await third.balance()).body?.['availableBalance'], '1000000000.00');
  });

  it('leaves a pending payment to a person after a restart, and keeps a person’s decision', async () => {
    const first = await start();
    const [waiting, decided] = [await request(first, 'transfer', '099'), await request(first, 'transfer', '099')];
    const body = new URLSearchParams({ reference: decided, choice: 'fail' });
    assert.equal((await fetch(`${running?.url}/sandbox/operator`, { method: 'POST', body })).status, 200);
    const again = await start();
    assert.equal((await again.transferStatus(waiting)).body?.['status'], 'PENDING');
    assert.equal((await again.transferStatus(decided)).body?.['status'], 'FAILED');
    const approval = new URLSearchParams({ reference: waiting, choice: 'approve' });
    await fetch(`${running?.url}/sandbox/operator`, { method: 'POST', body: approval });
    assert.equal((await again.transferStatus(waiting)).body?.['status'], 'SUCCESSFUL');
  });

  it('forgets the oldest payments beyond its limits, and keeps their sums in the balance', async () => {
    const limited = { limits: { transactions: 2 }, startingFloat: 1000, times: { ...SHORT_TIMES, decisionMs: 0 } };
    const first = await start(limited);
    const collected = await request(first, 'requestToPay', '500');
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const refunded = await request(first, 'refund', collected);
    await until(() => first.refundStatus(refunded), hasStatus('SUCCESSFUL'));
    for (let count = 0; count < 2; count++) {
      const sent = await request(first, 'transfer', '500', { amount: '100' });
      await until(() => first.transferStatus(sent), hasStatus('SUCCESSFUL'));
    }
    const check = async (client: WireClient): Promise<void> => {
      assert.equal((await client.status(collected)).status, 404);
      assert.equal((await client.refundStatus(refunded)).status, 404);
      assert.equal((await client.balance()).body?.['availableBalance'], '800.00');
    };
    await check(first);
    await check(await start(limited));
    await check(await start(limited));
    const emptied = await start({ ...limited, limits: { transactionAgeMs: 0 } });
    assert.equal((await emptied.balance()).body?.['availableBalance'], '800.00');
  });

  it('reads a journal of the older version with collections only', async () => {
    const first = await start();
    const reference = await request(first, 'requestToPay', '500');
    const paid = await until(() => first.status(reference), hasStatus('SUCCESSFUL'));
    await running?.stop();
    running = null;
    const newer = ['kind', 'originalReference', 'transfersTaken', 'givenBackAtMs'];
    const lines = (await readFile(dataFile, 'utf8')).split('\n').filter((line) => line.includes(reference));
    const older = lines.map((line) =>
      JSON.stringify(
        Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([name]) => !newer.includes(name))),
      ),
    );
    await writeFile(dataFile, `{"carried":{"UGX":"70000"}}\n${older.join('\n')}\n`);
    const again = await start({ startingFloat: 0 });
    assert.deepEqual(await again.status(reference), paid);
    assert.equal((await again.seen(reference))?.['kind'], 'collection');
    assert.equal((await again.balance()).body?.['availableBalance'], '1200.00');
    await request(again, 'refund', reference);
  });
});
