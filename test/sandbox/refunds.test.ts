// Refunds at the sandbox operator: what can be given back, once, and how that ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  hasAtLeast,
  callbacksOf,
  hasStatus,
  inTime,
  isDecided,
  payment,
  refundOf,
  SHORT_TIMES,
  submit,
  until,
  useSandbox,
  withSandbox,
  type WireResponse,
} from './sandbox-harness.ts';
import { valuesOf } from '../support/values-of.ts';

/** Long enough for a refund to be made before the reversal. */
const TIMES = { ...SHORT_TIMES, reversalMs: 600 };

describe('a refund at the sandbox operator', () => {
  const { receiver, client } = useSandbox({ times: TIMES });

  /** A collection of this row that its payer has paid. */
  async function paid(ending = '500', changes: Record<string, unknown> = {}): Promise<string> {
    const reference = randomUUID();
    const sendUntilAccepted = async (): Promise<void> => {
      const answer = await client
        .requestToPay(payment(ending, reference, changes), { 'X-Reference-Id': reference })
        .catch(() => null);
      if (answer?.status === 503) await sendUntilAccepted();
    };
    await sendUntilAccepted();
    const { body } = await until(() => client.status(reference), isDecided);
    assert.equal(body?.['status'], 'SUCCESSFUL');
    return reference;
  }

  function refund(original: string, reference: string, changes: Record<string, unknown> = {}): Promise<WireResponse> {
    const headers = { 'X-Reference-Id': reference, 'X-Callback-Url': receiver.url };
    return client.refund(refundOf(original, reference, changes), headers);
  }

  async function decided(reference: string): Promise<Record<string, unknown>> {
    const { body } = await until(() => client.refundStatus(reference), isDecided);
    assert.ok(body !== null);
    return body;
  }

  it('returns the whole amount to the payer after a while, and calls back', async () => {
    const original = await paid();
    const reference = randomUUID();
    assert.deepEqual(await refund(original, reference), { status: 202, body: null });
    const { financialTransactionId, ...body } = await decided(reference);
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
    const called = await until(() => callbacksOf(receiver, reference), hasAtLeast(1));
    assert.deepEqual(valuesOf(called, 'body'), [{ financialTransactionId, ...body }]);
    assert.equal((await client.status(original)).body?.['status'], 'SUCCESSFUL');
    const seen = await client.seen(reference);
    assert.deepEqual(
      [seen?.['kind'], seen?.['originalReference'], seen?.['transfersTaken'], seen?.['promptsRaised']],
      ['refund', original, 1, 0],
    );
  });

  it('is accepted once per collection: a second one is not allowed, while the first is pending or afterwards', async () => {
    const original = await paid();
    const [first, second] = [randomUUID(), randomUUID()];
    const answers = await Promise.all([refund(original, first), refund(original, second)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 404]);
    assert.equal(answers.find(({ status }) => status === 404)?.body?.['code'], 'RESOURCE_NOT_FOUND');
    await sleep(SHORT_TIMES.decisionMs * 2);
    const third = await refund(original, randomUUID());
    assert.equal(third.body?.['code'], 'RESOURCE_NOT_FOUND');
  });

  it('gets a 409 for a reference that was accepted before', async () => {
    const original = await paid();
    const reference = randomUUID();
    await refund(original, reference);
    assert.equal((await refund(original, reference.toUpperCase())).status, 409);
    await decided(reference);
    assert.equal((await refund(original, reference)).status, 409);
    assert.equal((await client.seen(reference))?.['transfersTaken'], 1);
    assert.equal((await refund(original, original)).status, 409);
  });

  it('is accepted again after one that failed', async () => {
    await withSandbox({ startingFloat: 0 }, async (poor) => {
      const statusIs = async (of: 'status' | 'transferStatus' | 'refundStatus', reference: string, wanted: string) => {
        const { body } = await until(() => poor[of](reference), hasStatus(wanted));
        assert.equal(body?.['status'], wanted);
      };
      const original = await submit(poor, 'requestToPay', '500');
      await statusIs('status', original, 'SUCCESSFUL');
      await statusIs('transferStatus', await submit(poor, 'transfer', '500'), 'SUCCESSFUL');
      await statusIs('refundStatus', await submit(poor, 'refund', original), 'FAILED');
      await statusIs('status', await submit(poor, 'requestToPay', '500'), 'SUCCESSFUL');
      await statusIs('refundStatus', await submit(poor, 'refund', original), 'PENDING');
    });
  });

  const neverPaid: [string, string][] = [
    ['that was cancelled', '001'],
    ['that is pending', '010'],
  ];
  for (const [what, row] of neverPaid) {
    it(`gets a 404 for a collection ${what}`, async () => {
      const original = await submit(client, 'requestToPay', row);
      if (row === '001') await until(() => client.status(original), isDecided);
      const reference = randomUUID();
      const answer = await refund(original, reference);
      assert.deepEqual([answer.status, answer.body?.['code']], [404, 'RESOURCE_NOT_FOUND']);
      assert.equal((await client.refundStatus(reference)).status, 404);
    });
  }

  it('gets a 404 for an unknown reference and for a payout', async () => {
    assert.equal((await refund(randomUUID(), randomUUID())).status, 404);
    const sent = await submit(client, 'transfer', '012');
    assert.equal((await refund(sent, randomUUID())).status, 404);
  });

  it('is not allowed for a collection that the provider has reversed', async () => {
    const original = await paid('015');
    await until(() => client.status(original), hasStatus('FAILED'));
    const answer = await refund(original, randomUUID());
    assert.deepEqual([answer.status, answer.body?.['code']], [404, 'RESOURCE_NOT_FOUND']);
  });

  it('prevents the reversal by the provider when it comes first', async () => {
    const original = await paid('015');
    const reference = randomUUID();
    assert.equal((await refund(original, reference)).status, 202);
    await sleep(TIMES.reversalMs + 50);
    assert.equal((await client.status(original)).body?.['status'], 'SUCCESSFUL');
    assert.equal((await decided(reference))['status'], 'SUCCESSFUL');
  });

  it('is refused with a wrong body, a wrong amount or a wrong currency', async () => {
    const original = await paid();
    for (const changes of [{ referenceIdToRefund: undefined }, { referenceIdToRefund: '17' }, { amount: '-1' }]) {
      assert.equal((await refund(original, randomUUID(), changes)).status, 400, JSON.stringify(changes));
    }
    assert.equal((await refund(original, randomUUID(), { amount: '501' })).body?.['code'], 'RESOURCE_NOT_FOUND');
    assert.equal((await refund(original, randomUUID(), { currency: 'RWF' })).body?.['code'], 'RESOURCE_NOT_FOUND');
    assert.equal((await refund(original, randomUUID(), { currency: 'USD' })).body?.['code'], 'INVALID_CURRENCY');
  });

  it('is not found as a transfer, nor is a transfer or a collection found as a refund', async () => {
    const original = await paid();
    const reference = await submit(client, 'refund', original);
    const sent = await submit(client, 'transfer', '500');
    assert.equal((await client.transferStatus(reference)).status, 404);
    assert.equal((await client.refundStatus(sent)).status, 404);
    assert.equal((await client.refundStatus(original)).status, 404);
    assert.equal((await client.transferStatus(original)).status, 404);
    assert.equal((await client.status(sent)).status, 404);
  });

  describe('for the payer’s row', () => {
    it('011 gets three 503 responses and is then accepted once', async () => {
      const original = await paid('011');
      const reference = randomUUID();
      const statuses: number[] = [];
      for (let send = 0; send < 5; send++) statuses.push((await refund(original, reference)).status);
      assert.deepEqual(statuses, [503, 503, 503, 202, 409]);
      assert.equal((await client.seen(reference))?.['transfersTaken'], 1);
    });

    it('014 is accepted although its connection is cut', async () => {
      const original = await paid('014');
      const reference = randomUUID();
      await assert.rejects(refund(original, reference));
      assert.equal((await refund(original, reference)).status, 409);
      assert.equal((await decided(reference))['status'], 'SUCCESSFUL');
    });

    it('009 is pending for long, then paid', async () => {
      const refundIt = async (original: string) => {
        const reference = randomUUID();
        await refund(original, reference);
        await sleep(SHORT_TIMES.decisionMs * 2);
        return { reference, response: await client.refundStatus(reference) };
      };
      const seen = await inTime(SHORT_TIMES.undecidedMs, () => paid('009'), refundIt);
      assert.equal(seen.response.body?.['status'], 'PENDING');
      assert.equal((await decided(seen.reference))['status'], 'SUCCESSFUL');
    });
  });
});

describe('the account balance of the sandbox operator', () => {
  it('is the float plus collections, minus payouts, refunds and reversals', async () => {
    await withSandbox({ startingFloat: 1000, times: { decisionMs: 0, reversalMs: 0 } }, async (client) => {
      const collect = async (row: string, amount: string): Promise<string> => {
        const reference = await submit(client, 'requestToPay', row, { changes: { amount } });
        await until(() => client.status(reference), isFinal(row));
        return reference;
      };
      const send = async (row: string, amount: string): Promise<Record<string, unknown> | null> => {
        const reference = await submit(client, 'transfer', row, { changes: { amount } });
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

      const refund = await submit(client, 'refund', original, { changes: { amount: '250.50' } });
      await until(() => client.refundStatus(refund), isFinal('500'));
      await send('500', '400');
      assert.equal(await balance(), '0.00');
    });
  });

  function isFinal(row: string): (response: WireResponse) => boolean {
    return ({ body }) => body?.['status'] === 'FAILED' || (body?.['status'] === 'SUCCESSFUL' && row !== '015');
  }

  it('becomes negative when a collection is reversed after its money was paid out', async () => {
    await withSandbox({ startingFloat: 0, times: { decisionMs: 0, reversalMs: 100 } }, async (client) => {
      const collected = await submit(client, 'requestToPay', '015');
      await until(() => client.status(collected), hasStatus('SUCCESSFUL'));
      await submit(client, 'transfer', '500');
      await until(
        () => client.balance(),
        ({ body }) => body?.['availableBalance'] === '-500.00',
      );
      assert.equal((await client.balance()).body?.['availableBalance'], '-500.00');
    });
  });
});
