// What the sandbox operator still knows of payouts, refunds and money given back after it was started again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxConfig } from '../../src/sandbox/sandbox-config.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import {
  payment,
  payout,
  refundOf,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  until,
  wireClient,
  type Answer,
  type Receiver,
  type WireClient,
} from './sandbox-harness.ts';

describe('the journal of money that went out or back', () => {
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

  /** Ends what runs on the journal and starts it again. */
  async function start(changes: Partial<SandboxConfig> = {}): Promise<WireClient> {
    await running?.stop();
    running = await startTestSandbox({ dataFile, ...changes });
    return wireClient(running.url);
  }

  type Asked = 'requestToPay' | 'transfer' | 'refund';
  async function ask(client: WireClient, what: Asked, body: (reference: string) => unknown): Promise<string> {
    const reference = randomUUID();
    const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
    assert.equal((await client[what](body(reference), headers)).status, 202);
    return reference;
  }

  const hasStatus =
    (status: string) =>
    ({ body }: Answer): boolean =>
      body?.['status'] === status;

  function claimsOf(reference: string): unknown[] {
    return receiver.callbacks.filter(({ body }) => body['externalId'] === reference).map(({ body }) => body['status']);
  }

  it('keeps payouts and refunds as they were, and takes neither twice', async () => {
    const first = await start();
    const collected = await ask(first, 'requestToPay', (reference) => payment('500', reference));
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const sent = await ask(first, 'transfer', (reference) => payout('500', reference));
    const refunded = await ask(first, 'refund', (reference) => refundOf(collected, reference));
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
    assert.equal(answer.body?.['code'], 'NOT_ALLOWED');
  });

  it('takes up an undecided payout and refund at their own time, and calls back', async () => {
    const first = await start({ times: { ...SHORT_TIMES, decisionMs: 0 } });
    const collected = await ask(first, 'requestToPay', (reference) => payment('500', reference));
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const slow = await start({ times: { ...SHORT_TIMES, decisionMs: 1200 } });
    const sent = await ask(slow, 'transfer', (reference) => payout('500', reference));
    const refunded = await ask(slow, 'refund', (reference) => refundOf(collected, reference));

    const again = await start({ times: { decisionMs: 60_000 } });
    assert.deepEqual([claimsOf(sent), claimsOf(refunded)], [[], []]);
    await until(() => again.transferStatus(sent), hasStatus('SUCCESSFUL'));
    await until(() => again.refundStatus(refunded), hasStatus('SUCCESSFUL'));
    await until(
      () => claimsOf(refunded),
      ({ length }) => length > 0,
    );
    assert.deepEqual([claimsOf(sent), claimsOf(refunded)], [['SUCCESSFUL'], ['SUCCESSFUL']]);
  });

  it('gives back after a restart what was to be given back, and once', async () => {
    const slow = { ...SHORT_TIMES, reversalMs: 1500 };
    const first = await start({ times: slow });
    const collected = await ask(first, 'requestToPay', (reference) => payment('015', reference));
    const sent = await ask(first, 'transfer', (reference) => payout('015', reference));
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const paid = await until(() => first.transferStatus(sent), hasStatus('SUCCESSFUL'));
    await until(
      () => [...claimsOf(collected), ...claimsOf(sent)],
      ({ length }) => length === 2,
    );

    const again = await start({ times: slow });
    assert.deepEqual(await again.transferStatus(sent), paid);
    const returned = await until(() => again.transferStatus(sent), hasStatus('FAILED'));
    assert.equal((returned.body?.['reason'] as { code: string }).code, 'TRANSACTION_REVERSED');
    assert.equal(returned.body?.['financialTransactionId'], paid.body?.['financialTransactionId']);
    await until(() => again.status(collected), hasStatus('FAILED'));
    await until(
      () => [...claimsOf(collected), ...claimsOf(sent)],
      ({ length }) => length === 4,
    );

    const third = await start({ times: slow });
    assert.deepEqual(await third.transferStatus(sent), returned);
    await sleep(40);
    assert.deepEqual(
      [claimsOf(collected), claimsOf(sent)],
      [
        ['SUCCESSFUL', 'FAILED'],
        ['SUCCESSFUL', 'FAILED'],
      ],
    );
    assert.equal((await third.balance()).body?.['availableBalance'], '1000000000.00');
  });

  it('leaves a payment to a person still, and keeps what a person decided', async () => {
    const first = await start();
    const [waiting, decided] = [
      await ask(first, 'transfer', (reference) => payout('099', reference)),
      await ask(first, 'transfer', (reference) => payout('099', reference)),
    ];
    const body = new URLSearchParams({ reference: decided, choice: 'fail' });
    assert.equal((await fetch(`${running?.url}/sandbox/operator`, { method: 'POST', body })).status, 200);
    const again = await start();
    assert.equal((await again.transferStatus(waiting)).body?.['status'], 'PENDING');
    assert.equal((await again.transferStatus(decided)).body?.['status'], 'FAILED');
    const approval = new URLSearchParams({ reference: waiting, choice: 'approve' });
    await fetch(`${running?.url}/sandbox/operator`, { method: 'POST', body: approval });
    assert.equal((await again.transferStatus(waiting)).body?.['status'], 'SUCCESSFUL');
  });

  it('forgets the oldest over its bounds, and what they took stays taken from the account', async () => {
    const bounds = { limits: { transactions: 2 }, startingFloat: 1000, times: { ...SHORT_TIMES, decisionMs: 0 } };
    const first = await start(bounds);
    const collected = await ask(first, 'requestToPay', (reference) => payment('500', reference));
    await until(() => first.status(collected), hasStatus('SUCCESSFUL'));
    const refunded = await ask(first, 'refund', (reference) => refundOf(collected, reference));
    await until(() => first.refundStatus(refunded), hasStatus('SUCCESSFUL'));
    for (let count = 0; count < 2; count++) {
      const sent = await ask(first, 'transfer', (reference) => payout('500', reference, { amount: '100' }));
      await until(() => first.transferStatus(sent), hasStatus('SUCCESSFUL'));
    }
    const check = async (client: WireClient): Promise<void> => {
      assert.equal((await client.status(collected)).status, 404);
      assert.equal((await client.refundStatus(refunded)).status, 404);
      assert.equal((await client.balance()).body?.['availableBalance'], '800.00');
    };
    await check(first);
    await check(await start(bounds));
    await check(await start(bounds));
    const emptied = await start({ ...bounds, limits: { transactionAgeMs: 0 } });
    assert.equal((await emptied.balance()).body?.['availableBalance'], '800.00');
  });

  it('of a version that knew collections only is read as it was meant', async () => {
    const first = await start();
    const reference = await ask(first, 'requestToPay', (own) => payment('500', own));
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
    await ask(again, 'refund', (own) => refundOf(reference, own));
  });
});
