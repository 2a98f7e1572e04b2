// The outcome table, row by row: the statuses, the number of callbacks and what they report.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { COLLECTION_BEHAVIOURS, PAYOUT_BEHAVIOURS } from '../../src/sandbox/behaviours.ts';
import {
  hasAtLeast,
  callbacksOf,
  callbackStatuses,
  hasStatus,
  isDecided,
  payment,
  payout,
  SHORT_TIMES,
  submit,
  until,
  useSandbox,
  withReceiver,
  withSandbox,
  type WireClient,
  type WireResponse,
} from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

type Expected = {
  row: string;
  status: string;
  reason?: string;
  /** The statuses in the callbacks, in order. */
  called: string[];
};

const UNREAD: WireResponse = { status: 200, body: null };

/** Longer than the longest time of the table and a callback. */
const ALL_DECIDED_MS = SHORT_TIMES.undecidedMs + 80;

const ORDINARY: Expected = { row: '500', status: 'SUCCESSFUL', called: ['SUCCESSFUL'] };
const fails = (row: string, reason: string): Expected => ({ row, status: 'FAILED', reason, called: ['FAILED'] });

const IN_BOTH_COLUMNS: Expected[] = [
  { ...ORDINARY, row: '004', called: [] },
  { ...ORDINARY, row: '008', called: ['SUCCESSFUL', 'SUCCESSFUL', 'SUCCESSFUL'] },
  { ...ORDINARY, row: '009' },
  { row: '010', status: 'PENDING', called: [] },
  { ...ORDINARY, row: '011' },
  { ...ORDINARY, row: '012' },
  { ...ORDINARY, row: '014' },
  { row: '015', status: 'FAILED', reason: 'TRANSACTION_REVERSED', called: ['SUCCESSFUL', 'FAILED'] },
  { ...ORDINARY, row: '016' },
  { ...ORDINARY, row: '017' },
  { ...ORDINARY, row: '018', called: [] },
  { ...ORDINARY, row: '019' },
  { row: '099', status: 'PENDING', called: [] },
  ORDINARY,
  ...['020', '021', '022', '023'].map((row) => ({ ...ORDINARY, row })),
];

const COLLECTIONS: Expected[] = [
  fails('001', 'APPROVAL_REJECTED'),
  fails('002', 'WRONG_PIN'),
  fails('003', 'EXPIRED'),
  { ...fails('005', 'APPROVAL_REJECTED'), called: [] },
  fails('006', 'NOT_ENOUGH_FUNDS'),
  fails('007', 'PAYER_NOT_FOUND'),
  { ...fails('013', 'APPROVAL_REJECTED'), called: ['SUCCESSFUL'] },
  ...IN_BOTH_COLUMNS,
];

const PAYOUTS: Expected[] = [
  fails('001', 'PAYEE_NOT_FOUND'),
  fails('002', 'PAYER_LIMIT_REACHED'),
  fails('003', 'NOT_ENOUGH_FUNDS'),
  { ...fails('005', 'INTERNAL_PROCESSING_ERROR'), called: [] },
  fails('006', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'),
  { ...ORDINARY, row: '007' },
  { ...fails('013', 'INTERNAL_PROCESSING_ERROR'), called: ['SUCCESSFUL'] },
  ...IN_BOTH_COLUMNS,
];

const COLUMNS = [
  { kind: 'collection', expected: COLLECTIONS, behaviours: COLLECTION_BEHAVIOURS },
  { kind: 'payout', expected: PAYOUTS, behaviours: PAYOUT_BEHAVIOURS },
] as const;

describe('the outcome table', () => {
  const { receiver, client } = useSandbox();
  before(() => client.balance());

  async function request(row: string, reference: string, kind = 'collection'): Promise<WireResponse | 'cut'> {
    const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
    const sent =
      kind === 'collection'
        ? client.requestToPay(payment(row, reference), headers)
        : client.transfer(payout(row, reference), headers);
    return sent.catch(() => 'cut' as const);
  }

  async function callbackResults(of: WireClient, reference: string): Promise<string[]> {
    const results = (await of.seen(reference))?.['callbackResults'] as { result: string }[];
    return results.map(({ result }) => result);
  }

  for (const { kind, expected, behaviours } of COLUMNS) {
    describe(`for ${kind}s`, () => {
      const references = new Map(expected.map(({ row }) => [row, randomUUID()]));
      const statusOf = (reference: string): Promise<WireResponse> =>
        kind === 'collection' ? client.status(reference) : client.transferStatus(reference);

      before(async () => {
        const postUntilAccepted = async (row: string, reference: string): Promise<void> => {
          const answer = await request(row, reference, kind);
          if (answer !== 'cut' && [401, 403, 429, 500, 503].includes(answer.status))
            await postUntilAccepted(row, reference);
        };
        await Promise.all([...references].map(([row, reference]) => postUntilAccepted(row, reference)));
        // No more callbacks come by then, and no more outcomes; those that are to come are waited for, however long they take.
        await sleep(ALL_DECIDED_MS);
        for (const { row, status, called } of expected) {
          const reference = references.get(row)!;
          await until(() => statusOf(reference).catch(() => UNREAD), hasStatus(status));
          await until(() => callbackResults(client, reference), hasAtLeast(called.length));
        }
      });

      it('has a test for every row', () => {
        const tested = expected.map(({ row }) => row).filter((row) => behaviours.has(row));
        assert.deepEqual(tested.sort(), [...behaviours.keys()]);
      });

      for (const { row, status, reason, called } of expected) {
        it(`decides row ${row} as documented: ${behaviours.get(row)?.summary ?? 'any other number is paid'}`, async () => {
          const reference = references.get(row)!;
          const { body } = await statusOf(reference);
          assert.equal(body?.['status'], status);
          assert.equal((body['reason'] as { code: string } | undefined)?.code, reason);
          assert.deepEqual(callbackStatuses(receiver, reference), called);
          if (called.at(-1) === status) assert.deepEqual(callbacksOf(receiver, reference).at(-1)?.body, body);
          const seen = await client.seen(reference);
          assert.equal(seen?.['kind'], kind);
          assert.equal(seen['promptsRaised'], kind === 'collection' ? 1 : 0);
          assert.equal(seen['transfersTaken'], kind === 'collection' ? 0 : 1);
          assert.equal(seen['requestsReceived'], 1 + (behaviours.get(row)?.requestsRefused ?? 0));
          assert.equal(seen['callbacksSent'], called.length);
          assert.deepEqual(
            await callbackResults(client, reference),
            called.map(() => 'http 200'),
          );
        });
      }
    });
  }

  it('keeps the receipt of a returned payment, and shows none for a payment that was never paid', async () => {
    const [reference, refused] = [randomUUID(), randomUUID()];
    await Promise.all([request('015', reference), request('001', refused)]);
    const [paid, returned] = await until(() => callbacksOf(receiver, reference).map(({ body }) => body), hasAtLeast(2));
    assert.deepEqual([paid?.['status'], returned?.['status']], ['SUCCESSFUL', 'FAILED']);
    assert.match(String(paid?.['financialTransactionId']), /^\d{11}$/);
    assert.equal(returned?.['financialTransactionId'], paid?.['financialTransactionId']);
    assert.equal(returned?.['amount'], '500');
    assert.deepEqual((await client.status(reference)).body, returned);
    const seen = await client.seen(reference);
    const [decidedAt, givenBackAt] = [seen?.['decidedAt'], seen?.['givenBackAt']].map((at) => Date.parse(String(at)));
    assert.ok(givenBackAt! - decidedAt! >= SHORT_TIMES.reversalMs);
    const never = await until(() => client.status(refused), isDecided);
    assert.equal(never.body?.['financialTransactionId'], undefined);
  });

  it('pays one unit more in row 020, which the balance shows', async () => {
    await withSandbox({ startingFloat: 1000 }, async (own) => {
      const reference = await submit(own, 'requestToPay', '020');
      const paid = await until(() => own.status(reference), isDecided);
      assert.deepEqual([paid.body?.['status'], paid.body?.['amount']], ['SUCCESSFUL', '501']);
      assert.equal((await own.balance()).body?.['availableBalance'], '1501.00');
    });
  });

  it('pays in row 021 with the receipt of the payment of that kind before, and with one of its own when there is none', async () => {
    await withSandbox({}, async (own) => {
      const receiptOf = async (kind: 'requestToPay' | 'transfer', row: string) => {
        const reference = await submit(own, kind, row);
        const read = kind === 'transfer' ? own.transferStatus : own.status;
        return (await until(() => read(reference), isDecided)).body?.['financialTransactionId'];
      };
      const first = await receiptOf('requestToPay', '021');
      const payout = await receiptOf('transfer', '021');
      assert.notEqual(payout, first);
      assert.equal(await receiptOf('requestToPay', '021'), first);
      const ordinary = await receiptOf('requestToPay', '500');
      assert.notEqual(ordinary, first);
      assert.equal(await receiptOf('requestToPay', '021'), ordinary);
    });
  });

  it('refuses the account six times in row 022, in two ways, and does not know the payment until then', async () => {
    const reference = randomUUID();
    const codes: unknown[] = [];
    for (let requests = 0; requests < 6; requests++) {
      const answer = await request('022', reference);
      assert.ok(answer !== 'cut');
      codes.push(answer.body?.['code']);
      assert.equal((await client.status(reference)).status, 404);
    }
    assert.deepEqual(codes, Array.from({ length: 3 }, () => ['NOT_ALLOWED', 'INVALID_CALLBACK_URL_HOST']).flat());
    const accepted = await request('022', reference);
    assert.ok(accepted !== 'cut' && accepted.status === 202);
  });

  it('answers the first four requests and queries of row 023 with what nobody can read, and takes the payment at the first', async () => {
    const reference = randomUUID();
    const read = async (answer: Promise<WireResponse | 'cut'>) => {
      const response = await answer.catch(() => 'cut' as const);
      return response === 'cut' ? response : response.body?.['status'];
    };
    const answers = { sends: [] as unknown[], queries: [] as unknown[] };
    for (let turn = 0; turn < 4; turn++) {
      answers.sends.push(await read(request('023', reference)));
      answers.queries.push(await read(client.status(reference)));
    }
    // What is too long can be read by a client without a limit.
    const inTurn = [7, undefined, 'cut', 'cut'];
    assert.deepEqual(answers, { sends: inTurn, queries: inTurn });
    const again = await request('023', reference);
    assert.ok(again !== 'cut' && again.status === 409);
    assert.equal((await until(() => client.status(reference), isDecided)).body?.['status'], 'SUCCESSFUL');
  });

  it('leaves an ordinary payment pending until it is decided', async () => {
    await withSandbox({ times: { decisionMs: 600_000 } }, async (undecided) => {
      const reference = await submit(undecided, 'requestToPay', '999', { callbackUrl: receiver.url });
      assert.equal((await undecided.status(reference)).body?.['status'], 'PENDING');
      assert.equal(callbacksOf(receiver, reference).length, 0);
    });
  });

  it('keeps row 009 pending past the prompt window', async () => {
    await withSandbox({ times: { undecidedMs: 600_000 } }, async (undecided) => {
      const reference = await submit(undecided, 'requestToPay', '009');
      await sleep(SHORT_TIMES.promptExpiryMs + 10);
      assert.equal((await undecided.status(reference)).body?.['status'], 'PENDING');
    });
  });

  it('keeps row 003 pending for the whole prompt window', async () => {
    const reference = randomUUID();
    const startMs = performance.now();
    await request('003', reference);
    await until(() => client.status(reference), isDecided);
    assert.ok(performance.now() - startMs >= SHORT_TIMES.promptExpiryMs);
  });

  it('responds 404 to the reference of row 011 before the fourth request', async () => {
    const reference = randomUUID();
    for (const requests of [1, 2, 3]) {
      const answer = await request('011', reference);
      assert.ok(answer !== 'cut');
      assert.equal(answer.status, 503);
      assert.equal(answer.body?.['code'], 'SERVICE_UNAVAILABLE');
      assert.equal((await client.status(reference)).status, 404);
      const seen = await client.seen(reference);
      assert.equal(seen?.['requestsReceived'], requests);
      assert.equal(seen['promptsRaised'], 0);
    }
    const accepted = await request('011', reference);
    assert.ok(accepted !== 'cut' && accepted.status === 202);
  });

  it('calls back for row 012 before it responds to the request', async () => {
    await withReceiver({ delayMs: 50 }, async (slow) => {
      const reference = randomUUID();
      const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': slow.url };
      const answer = await client.requestToPay(payment('012', reference), headers);
      const answeredAtMs = performance.now();
      assert.equal(answer.status, 202);
      const callback = slow.callbacks[0];
      assert.ok(callback !== undefined && answeredAtMs - callback.atMs >= 45);
    });
  });

  it('responds for row 012 although the receiver of its callback does not', async () => {
    await withReceiver({ delayMs: 60_000 }, (silent) =>
      withSandbox({ times: { callbackTimeoutMs: 60 } }, async (impatient) => {
        const reference = await submit(impatient, 'requestToPay', '012', { callbackUrl: silent.url });
        assert.deepEqual(await callbackResults(impatient, reference), ['TimeoutError']);
      }),
    );
  });

  it('cuts the connection of row 014 after accepting it, and responds 409 to the next request', async () => {
    const reference = randomUUID();
    assert.equal(await request('014', reference), 'cut');
    assert.equal((await client.status(reference)).status, 200);
    const again = await request('014', reference);
    assert.ok(again !== 'cut' && again.status === 409);
  });

  describe('callbacks', () => {
    it('are not repeated when the receiver fails, and the failure is recorded', async () => {
      await withReceiver({ status: 500 }, async (failing) => {
        const reference = await submit(client, 'requestToPay', '999', { callbackUrl: failing.url });
        await sleep(SHORT_TIMES.decisionMs * 3);
        assert.equal(failing.callbacks.length, 1);
        assert.deepEqual(await callbackResults(client, reference), ['http 500']);
      });
    });

    it('are dropped beyond the limit of concurrent callbacks', async () => {
      await withReceiver({ delayMs: 200 }, (slow) =>
        withSandbox({ limits: { callbacks: 2 } }, async (small) => {
          const reference = await submit(small, 'requestToPay', '008', { callbackUrl: slow.url });
          const results = await until(() => callbackResults(small, reference), hasAtLeast(3));
          assert.equal((await small.seen(reference))?.['callbacksSent'], 2);
          assert.deepEqual(results, ['dropped: too many in progress', 'http 200', 'http 200']);
        }),
      );
    });

    it('use PUT when the operator is configured so', async () => {
      await withSandbox({ callbackMethod: 'PUT' }, async (putting) => {
        const reference = await submit(putting, 'requestToPay', '012', { callbackUrl: receiver.url });
        assert.deepEqual(valuesOf(callbacksOf(receiver, reference), 'method'), ['PUT']);
      });
    });
  });
});
