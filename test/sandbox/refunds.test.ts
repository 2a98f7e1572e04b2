// Refunds at the sandbox operator: what can be given back, once, and how that ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Long enough for a refund to come first. */
const TIMES = { ...SHORT_TIMES, reversalMs: 600 };

describe('a refund at the sandbox operator', () => {
  let sandbox: Sandbox;
  let receiver: Receiver;
  let client: WireClient;

  before(async () => {
    sandbox = await startTestSandbox({ times: TIMES });
    receiver = await startReceiver();
    client = wireClient(sandbox.url);
  });

  after(async () => {
    await sandbox.stop();
    await receiver.stop();
  });

  const isDecided = ({ body }: Answer): boolean => body?.['status'] !== 'PENDING';

  /** A collection of this row that its payer has paid. */
  async function paid(ending = '500', changes: Record<string, unknown> = {}): Promise<string> {
    const reference = randomUUID();
    const ask = async (): Promise<void> => {
      const answer = await client
        .requestToPay(payment(ending, reference, changes), { 'X-Reference-Id': reference })
        .catch(() => null);
      if (answer?.status === 503) await ask();
    };
    await ask();
    const { body } = await until(() => client.status(reference), isDecided);
    assert.equal(body?.['status'], 'SUCCESSFUL');
    return reference;
  }

  function refund(original: string, reference: string, changes: Record<string, unknown> = {}): Promise<Answer> {
    const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
    return client.refund(refundOf(original, reference, changes), headers);
  }

  async function ended(reference: string): Promise<Record<string, unknown>> {
    const { body } = await until(() => client.refundStatus(reference), isDecided);
    assert.ok(body !== null);
    return body;
  }

  it('gives the whole amount back to the payer after a while, and calls back', async () => {
    const original = await paid();
    const reference = randomUUID();
    assert.deepEqual(await refund(original, reference), { status: 202, body: null });
    const { financialTransactionId, ...body } = await ended(reference);
    assert.match(String(financialTransactionId), /^\d{11}$/);
    assert.deepEqual(body, {
      amount: '500',
      currency: 'UGX',
      externalId: reference,
      payee: { partyIdType: 'MSISDN', partyId: '256772123500' },
      payerMessage: 'Order 17',
      payeeNote: 'Order 17',
      status: 'SUCCESSFUL',
    });
    const called = await until(
      () => receiver.callbacks.filter((callback) => callback.body['externalId'] === reference),
      ({ length }) => length > 0,
    );
    assert.deepEqual(
      called.map((callback) => callback.body),
      [{ financialTransactionId, ...body }],
    );
    assert.equal((await client.status(original)).body?.['status'], 'SUCCESSFUL');
    const seen = await client.seen(reference);
    assert.deepEqual(
      [seen?.['kind'], seen?.['originalReference'], seen?.['transfersTaken'], seen?.['promptsRaised']],
      ['refund', original, 1, 0],
    );
  });

  it('is taken once per collection: a second one is not allowed, while the first is under way and after it', async () => {
    const original = await paid();
    const [first, second] = [randomUUID(), randomUUID()];
    const answers = await Promise.all([refund(original, first), refund(original, second)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 500]);
    assert.equal(answers.find(({ status }) => status === 500)?.body?.['code'], 'NOT_ALLOWED');
    await sleep(SHORT_TIMES.decisionMs * 2);
    const third = await refund(original, randomUUID());
    assert.equal(third.body?.['code'], 'NOT_ALLOWED');
  });

  it('answers 409 to a reference that it has already taken', async () => {
    const original = await paid();
    const reference = randomUUID();
    await refund(original, reference);
    assert.equal((await refund(original, reference.toUpperCase())).status, 409);
    await ended(reference);
    assert.equal((await refund(original, reference)).status, 409);
    assert.equal((await client.seen(reference))?.['transfersTaken'], 1);
    assert.equal((await refund(original, original)).status, 409);
  });

  it('may be tried again after one that failed', async () => {
    const poor = await startTestSandbox({ startingFloat: 0 });
    try {
      const poorClient = wireClient(poor.url);
      const ask = async (resource: 'requestToPay' | 'transfer' | 'refund', body: unknown): Promise<string> => {
        const reference = randomUUID();
        await poorClient[resource](body, { 'X-Reference-Id': reference });
        return reference;
      };
      const statusIs = (of: 'status' | 'transferStatus' | 'refundStatus', reference: string, wanted: string) =>
        until(
          () => poorClient[of](reference),
          ({ body }) => body?.['status'] === wanted,
        ).then(({ body }) => {
          assert.equal(body?.['status'], wanted);
        });
      const original = await ask('requestToPay', payment('500', randomUUID()));
      await statusIs('status', original, 'SUCCESSFUL');
      await statusIs('transferStatus', await ask('transfer', payout('500', randomUUID())), 'SUCCESSFUL');
      await statusIs('refundStatus', await ask('refund', refundOf(original, randomUUID())), 'FAILED');
      await statusIs('status', await ask('requestToPay', payment('500', randomUUID())), 'SUCCESSFUL');
      await statusIs('refundStatus', await ask('refund', refundOf(original, randomUUID())), 'PENDING');
    } finally {
      await poor.stop();
    }
  });

  const neverPaid: [string, string][] = [
    ['that was cancelled', '001'],
    ['that is undecided', '010'],
  ];
  for (const [what, row] of neverPaid) {
    it(`of a collection ${what} is not found`, async () => {
      const original = randomUUID();
      await client.requestToPay(payment(row, original), { 'X-Reference-Id': original });
      await sleep(SHORT_TIMES.decisionMs + 20);
      const reference = randomUUID();
      const answer = await refund(original, reference);
      assert.deepEqual([answer.status, answer.body?.['code']], [404, 'RESOURCE_NOT_FOUND']);
      assert.equal((await client.refundStatus(reference)).status, 404);
    });
  }

  it('of nothing that it knows, or of a payout, is not found', async () => {
    assert.equal((await refund(randomUUID(), randomUUID())).status, 404);
    const sent = randomUUID();
    await client.transfer(payout('012', sent), { 'X-Reference-Id': sent });
    assert.equal((await refund(sent, randomUUID())).status, 404);
  });

  it('of a collection that the provider gave back is not allowed', async () => {
    const original = await paid('015');
    await until(
      () => client.status(original),
      ({ body }) => body?.['status'] === 'FAILED',
    );
    const answer = await refund(original, randomUUID());
    assert.deepEqual([answer.status, answer.body?.['code']], [500, 'NOT_ALLOWED']);
  });

  it('that comes before the provider gives back by itself is the only one to do so', async () => {
    const original = await paid('015');
    const reference = randomUUID();
    assert.equal((await refund(original, reference)).status, 202);
    await sleep(TIMES.reversalMs + 50);
    assert.equal((await client.status(original)).body?.['status'], 'SUCCESSFUL');
    assert.equal((await ended(reference))['status'], 'SUCCESSFUL');
  });

  it('refuses a wrong body, a wrong amount and a wrong currency', async () => {
    const original = await paid();
    for (const changes of [{ referenceIdToRefund: undefined }, { referenceIdToRefund: '17' }, { amount: '-1' }]) {
      assert.equal((await refund(original, randomUUID(), changes)).status, 400, JSON.stringify(changes));
    }
    assert.equal((await refund(original, randomUUID(), { amount: '501' })).body?.['code'], 'NOT_ALLOWED');
    assert.equal((await refund(original, randomUUID(), { currency: 'RWF' })).body?.['code'], 'NOT_ALLOWED');
    assert.equal((await refund(original, randomUUID(), { currency: 'USD' })).body?.['code'], 'INVALID_CURRENCY');
  });

  it('is not shown as a transfer, nor a transfer or a collection as a refund', async () => {
    const original = await paid();
    const [reference, sent] = [randomUUID(), randomUUID()];
    await refund(original, reference);
    await client.transfer(payout('500', sent), { 'X-Reference-Id': sent });
    assert.equal((await client.transferStatus(reference)).status, 404);
    assert.equal((await client.refundStatus(sent)).status, 404);
    assert.equal((await client.refundStatus(original)).status, 404);
    assert.equal((await client.transferStatus(original)).status, 404);
    assert.equal((await client.status(sent)).status, 404);
  });

  describe('by the row of the payer', () => {
    it('011 is unavailable three times, then taken once', async () => {
      const original = await paid('011');
      const reference = randomUUID();
      const statuses: number[] = [];
      for (let send = 0; send < 5; send++) statuses.push((await refund(original, reference)).status);
      assert.deepEqual(statuses, [503, 503, 503, 202, 409]);
      assert.equal((await client.seen(reference))?.['transfersTaken'], 1);
    });

    it('014 is taken and cut off', async () => {
      const original = await paid('014');
      const reference = randomUUID();
      await assert.rejects(refund(original, reference));
      assert.equal((await refund(original, reference)).status, 409);
      assert.equal((await ended(reference))['status'], 'SUCCESSFUL');
    });

    it('009 is undecided, then paid', async () => {
      const original = await paid('009');
      const reference = randomUUID();
      await refund(original, reference);
      await sleep(SHORT_TIMES.decisionMs * 2);
      assert.equal((await client.refundStatus(reference)).body?.['status'], 'PENDING');
      assert.equal((await ended(reference))['status'], 'SUCCESSFUL');
    });
  });
});

describe('the account of the sandbox operator', () => {
  it('is the float and what was collected, less what was paid out, refunded and given back', async () => {
    const sandbox = await startTestSandbox({ startingFloat: 1000, times: { decisionMs: 0, reversalMs: 0 } });
    try {
      const client = wireClient(sandbox.url);
      const collect = async (row: string, amount: string): Promise<string> => {
        const reference = randomUUID();
        await client.requestToPay(payment(row, reference, { amount }), { 'X-Reference-Id': reference });
        await until(() => client.status(reference), isFinal(row));
        return reference;
      };
      const send = async (row: string, amount: string): Promise<Record<string, unknown> | null> => {
        const reference = randomUUID();
        await client.transfer(payout(row, reference, { amount }), { 'X-Reference-Id': reference });
        return (await until(() => client.transferStatus(reference), isFinal(row))).body;
      };
      const balance = async (): Promise<unknown> => (await client.balance('disbursement')).body?.['availableBalance'];

      assert.equal(await balance(), '1000.00');
      const original = await collect('500', '250.5');
      await send('500', '600');
      assert.equal(await balance(), '650.50');
      assert.equal((await client.balance('collection')).body?.['availableBalance'], '650.50');
      await send('001', '600');
      await send('015', '600');
      await collect('015', '9999');
      assert.equal(await balance(), '650.50');

      const tooMuch = await send('500', '650.51');
      assert.equal(tooMuch?.['status'], 'FAILED');
      assert.equal((tooMuch['reason'] as { code: string }).code, 'NOT_ENOUGH_FUNDS');

      const refund = randomUUID();
      await client.refund(refundOf(original, refund, { amount: '250.50' }), { 'X-Reference-Id': refund });
      await until(() => client.refundStatus(refund), isFinal('500'));
      await send('500', '400');
      assert.equal(await balance(), '0.00');
    } finally {
      await sandbox.stop();
    }
  });

  function isFinal(row: string): (answer: Answer) => boolean {
    return ({ body }) => body?.['status'] === 'FAILED' || (body?.['status'] === 'SUCCESSFUL' && row !== '015');
  }

  it('may be overdrawn by what the provider gives back after it was paid out', async () => {
    const sandbox = await startTestSandbox({ startingFloat: 0, times: { decisionMs: 0, reversalMs: 100 } });
    try {
      const client = wireClient(sandbox.url);
      const [collected, sent] = [randomUUID(), randomUUID()];
      await client.requestToPay(payment('015', collected), { 'X-Reference-Id': collected });
      await until(
        () => client.status(collected),
        ({ body }) => body?.['status'] === 'SUCCESSFUL',
      );
      await client.transfer(payout('500', sent), { 'X-Reference-Id': sent });
      await until(
        () => client.balance(),
        ({ body }) => body?.['availableBalance'] === '-500.00',
      );
      assert.equal((await client.balance()).body?.['availableBalance'], '-500.00');
    } finally {
      await sandbox.stop();
    }
  });
});
