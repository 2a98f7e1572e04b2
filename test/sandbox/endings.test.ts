// The table of endings, row by row: how the status goes, how many callbacks come and what they claim.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import type { Sandbox } from '../../src/sandbox/start-sandbox.ts';
import {
  payment,
  payout,
  SHORT_TIMES,
  startReceiver,
  startTestSandbox,
  until,
  wireClient,
  type Answer,
  type Receiver,
  type WireClient,
} from './sandbox-harness.ts';

type Expected = {
  row: string;
  status: string;
  reason?: string;
  /** What the callbacks say, in their order. */
  claims: string[];
};

/** Longer than the longest time of the table and a callback. */
const SETTLED_MS = SHORT_TIMES.undecidedMs + 80;

const ORDINARY: Expected = { row: '500', status: 'SUCCESSFUL', claims: ['SUCCESSFUL'] };
const fails = (row: string, reason: string): Expected => ({ row, status: 'FAILED', reason, claims: ['FAILED'] });

const IN_BOTH_COLUMNS: Expected[] = [
  { ...ORDINARY, row: '004', claims: [] },
  { ...ORDINARY, row: '008', claims: ['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL'] },
  { ...ORDINARY, row: '009' },
  { row: '010', status: 'PENDING', claims: [] },
  { ...ORDINARY, row: '011' },
  { ...ORDINARY, row: '012' },
  { ...ORDINARY, row: '014' },
  { row: '015', status: 'FAILED', reason: 'TRANSACTION_REVERSED', claims: ['SUCCESSFUL', 'FAILED'] },
  { row: '099', status: 'PENDING', claims: [] },
  ORDINARY,
];

const COLLECTIONS: Expected[] = [
  fails('001', 'APPROVAL_REJECTED'),
  fails('002', 'WRONG_PIN'),
  fails('003', 'EXPIRED'),
  { ...fails('005', 'APPROVAL_REJECTED'), claims: [] },
  fails('006', 'NOT_ENOUGH_FUNDS'),
  fails('007', 'PAYER_NOT_FOUND'),
  { ...fails('013', 'APPROVAL_REJECTED'), claims: ['SUCCESSFUL'] },
  ...IN_BOTH_COLUMNS,
];

const PAYOUTS: Expected[] = [
  fails('001', 'PAYEE_NOT_FOUND'),
  fails('002', 'PAYER_LIMIT_REACHED'),
  fails('003', 'NOT_ENOUGH_FUNDS'),
  { ...fails('005', 'INTERNAL_PROCESSING_ERROR'), claims: [] },
  fails('006', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'),
  { ...ORDINARY, row: '007' },
  { ...fails('013', 'INTERNAL_PROCESSING_ERROR'), claims: ['SUCCESSFUL'] },
  ...IN_BOTH_COLUMNS,
];

const COLUMNS = [
  { kind: 'collection', expected: COLLECTIONS, behaviours: COLLECTION_BEHAVIOURS },
  { kind: 'payout', expected: PAYOUTS, behaviours: PAYOUT_BEHAVIOURS },
] as const;

describe('the table of endings', () => {
  let sandbox: Sandbox;
  let receiver: Receiver;
  let client: WireClient;

  before(async () => {
    sandbox = await startTestSandbox();
    receiver = await startReceiver();
    client = wireClient(sandbox.url);
    await client.balance();
  });

  after(async () => {
    await sandbox.stop();
    await receiver.stop();
  });

  async function ask(row: string, reference: string, kind = 'collection'): Promise<Answer | 'cut'> {
    const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
    const query =
      kind === 'collection'
        ? client.requestToPay(payment(row, reference), headers)
        : client.transfer(payout(row, reference), headers);
    return query.catch(() => 'cut' as const);
  }

  function callbacksOf(reference: string) {
    return receiver.callbacks.filter(({ body }) => body['externalId'] === reference);
  }

  function isDecided(answer: Answer): boolean {
    return answer.body?.['status'] !== 'PENDING';
  }

  for (const { kind, expected, behaviours } of COLUMNS) {
    describe(`ends each row of the ${kind}s as the table says, with as many callbacks`, () => {
      const references = new Map(expected.map(({ row }) => [row, randomUUID()]));
      const statusOf = (reference: string): Promise<Answer> =>
        kind === 'collection' ? client.status(reference) : client.transferStatus(reference);

      before(async () => {
        const postUntilAccepted = async (row: string, reference: string): Promise<void> => {
          const answer = await ask(row, reference, kind);
          if (answer !== 'cut' && answer.status === 503) await postUntilAccepted(row, reference);
        };
        await Promise.all([...references].map(([row, reference]) => postUntilAccepted(row, reference)));
        await sleep(SETTLED_MS);
      });

      it('has a test for every row', () => {
        const tested = expected.map(({ row }) => row).filter((row) => behaviours.has(row));
        assert.deepEqual(tested.sort(), [...behaviours.keys()]);
      });

      for (const { row, status, reason, claims } of expected) {
        it(`${row}: ${behaviours.get(row)?.summary ?? 'any other number is paid'}`, async () => {
          const reference = references.get(row)!;
          const { body } = await statusOf(reference);
          assert.equal(body?.['status'], status);
          assert.equal((body['reason'] as { code: string } | undefined)?.code, reason);
          const received = callbacksOf(reference);
          assert.deepEqual(
            received.map((callback) => callback.body['status']),
            claims,
          );
          if (claims.at(-1) === status) assert.deepEqual(received.at(-1)?.body, body);
          const seen = await client.seen(reference);
          assert.equal(seen?.['kind'], kind);
          assert.equal(seen['promptsRaised'], kind === 'collection' ? 1 : 0);
          assert.equal(seen['transfersTaken'], kind === 'collection' ? 0 : 1);
          assert.equal(seen['requestsReceived'], row === '011' ? 4 : 1);
          assert.equal(seen['callbacksSent'], claims.length);
          const results = seen['callbackResults'] as { result: string }[];
          assert.deepEqual(
            results.map(({ result }) => result),
            claims.map(() => 'http 200'),
          );
        });
      }
    });
  }

  it('keeps the receipt of what was given back, and shows none of what was never paid', async () => {
    const [reference, refused] = [randomUUID(), randomUUID()];
    await Promise.all([ask('015', reference), ask('001', refused)]);
    const [paid, given] = await until(
      () => callbacksOf(reference).map(({ body }) => body),
      ({ length }) => length === 2,
    );
    assert.deepEqual([paid?.['status'], given?.['status']], ['SUCCESSFUL', 'FAILED']);
    assert.match(String(paid?.['financialTransactionId']), /^\d{11}$/);
    assert.equal(given?.['financialTransactionId'], paid?.['financialTransactionId']);
    assert.equal(given?.['amount'], '500');
    assert.deepEqual((await client.status(reference)).body, given);
    const seen = await client.seen(reference);
    const [decidedAt, givenBackAt] = [seen?.['decidedAt'], seen?.['givenBackAt']].map((at) => Date.parse(String(at)));
    assert.ok(givenBackAt! - decidedAt! >= SHORT_TIMES.reversalMs);
    const never = await until(() => client.status(refused), isDecided);
    assert.equal(never.body?.['financialTransactionId'], undefined);
  });

  it('leaves an ordinary payment pending until it is decided', async () => {
    const reference = randomUUID();
    await ask('999', reference);
    assert.equal((await client.status(reference)).body?.['status'], 'PENDING');
    assert.equal(callbacksOf(reference).length, 0);
  });

  it('keeps row 009 pending past the prompt window', async () => {
    const reference = randomUUID();
    await ask('009', reference);
    await sleep(SHORT_TIMES.promptExpiryMs + 10);
    assert.equal((await client.status(reference)).body?.['status'], 'PENDING');
    const decided = await until(() => client.status(reference), isDecided);
    assert.equal(decided.body?.['status'], 'SUCCESSFUL');
  });

  it('keeps row 003 open for the whole prompt window', async () => {
    const reference = randomUUID();
    const startMs = performance.now();
    await ask('003', reference);
    await until(() => client.status(reference), isDecided);
    assert.ok(performance.now() - startMs >= SHORT_TIMES.promptExpiryMs);
  });

  it('does not know row 011 by its reference before the fourth request', async () => {
    const reference = randomUUID();
    for (const request of [1, 2, 3]) {
      const answer = await ask('011', reference);
      assert.ok(answer !== 'cut');
      assert.equal(answer.status, 503);
      assert.equal(answer.body?.['code'], 'SERVICE_UNAVAILABLE');
      assert.equal((await client.status(reference)).status, 404);
      const seen = await client.seen(reference);
      assert.equal(seen?.['requestsReceived'], request);
      assert.equal(seen['promptsRaised'], 0);
    }
    const taken = await ask('011', reference);
    assert.ok(taken !== 'cut' && taken.status === 202);
  });

  it('calls back for row 012 before it answers the request', async () => {
    const slow = await startReceiver(200, 50);
    try {
      const reference = randomUUID();
      const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': slow.url };
      const answer = await client.requestToPay(payment('012', reference), headers);
      const answeredAtMs = performance.now();
      assert.equal(answer.status, 202);
      const callback = slow.callbacks[0];
      assert.ok(callback !== undefined && answeredAtMs - callback.atMs >= 45);
    } finally {
      await slow.stop();
    }
  });

  it('answers row 012 when the receiver of its callback does not', async () => {
    const silent = await startReceiver(200, 60_000);
    const impatient = await startTestSandbox({ times: { callbackTimeoutMs: 60 } });
    try {
      const reference = randomUUID();
      const impatientClient = wireClient(impatient.url);
      const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': silent.url };
      assert.equal((await impatientClient.requestToPay(payment('012', reference), headers)).status, 202);
      const seen = await impatientClient.seen(reference);
      assert.deepEqual(
        (seen?.['callbackResults'] as { result: string }[]).map(({ result }) => result),
        ['TimeoutError'],
      );
    } finally {
      await impatient.stop();
      await silent.stop();
    }
  });

  it('cuts the connection of row 014 after taking it, and answers 409 to the next request', async () => {
    const reference = randomUUID();
    assert.equal(await ask('014', reference), 'cut');
    assert.equal((await client.status(reference)).status, 200);
    const again = await ask('014', reference);
    assert.ok(again !== 'cut' && again.status === 409);
  });

  describe('callbacks', () => {
    it('are not repeated when the receiver fails, and the failure is kept', async () => {
      const failing = await startReceiver(500);
      try {
        const reference = randomUUID();
        const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': failing.url };
        await client.requestToPay(payment('999', reference), headers);
        await sleep(SHORT_TIMES.decisionMs * 3);
        assert.equal(failing.callbacks.length, 1);
        const results = (await client.seen(reference))?.['callbackResults'] as { result: string }[];
        assert.deepEqual(
          results.map(({ result }) => result),
          ['http 500'],
        );
      } finally {
        await failing.stop();
      }
    });

    it('are not sent over the number that may be under way', async () => {
      const slow = await startReceiver(200, 200);
      const small = await startTestSandbox({ limits: { callbacks: 2 } });
      try {
        const reference = randomUUID();
        const smallClient = wireClient(small.url);
        const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': slow.url };
        await smallClient.requestToPay(payment('008', reference), headers);
        const results = (seen: Record<string, unknown> | undefined) =>
          seen?.['callbackResults'] as { result: string }[];
        const seen = await until(
          () => smallClient.seen(reference),
          (now) => results(now).length === 3,
        );
        assert.equal(seen?.['callbacksSent'], 2);
        assert.deepEqual(
          results(seen).map(({ result }) => result),
          ['dropped: too many under way', 'http 200', 'http 200'],
        );
      } finally {
        await small.stop();
        await slow.stop();
      }
    });

    it('go out as PUT where the operator is set so', async () => {
      const putting = await startTestSandbox({ callbackMethod: 'PUT' });
      try {
        const reference = randomUUID();
        const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
        await wireClient(putting.url).requestToPay(payment('012', reference), headers);
        assert.deepEqual(
          callbacksOf(reference).map(({ method }) => method),
          ['PUT'],
        );
      } finally {
        await putting.stop();
      }
    });
  });
});
