// The sandbox operator's MTN API: access, refusals and their codes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertRefused, isDecided, payment, submit, until, useSandbox, withSandbox } from './sandbox-harness.ts';

describe("the sandbox operator's MTN API", () => {
  const { client } = useSandbox({ callbackHosts: ['127.0.0.1'], limits: { bodyBytes: 2000 } });

  describe('for a token', () => {
    it('gives a token with its life in seconds', async () => {
      const { status, body } = await client.token();
      assert.equal(status, 200);
      assert.equal(body?.['token_type'], 'access_token');
      assert.equal(body['expires_in'], 3600);
      assert.ok(String(body['access_token']).length >= 32);
    });

    it('refuses a wrong API key and a wrong subscription key', async () => {
      const wrongKey = `Basic ${Buffer.from('someone:else').toString('base64')}`;
      assert.equal((await client.token({ Authorization: wrongKey })).status, 401);
      const { status, body } = await client.token({ 'Ocp-Apim-Subscription-Key': 'wrong' });
      assert.equal(status, 401);
      assert.equal(body?.['statusCode'], 401);
    });

    it('accepts a token until it expires', async () => {
      assert.equal((await client.status(randomUUID())).status, 404);
      await withSandbox({ times: { tokenLifeMs: 50 } }, async (short) => {
        const { status } = await until(
          () => short.status(randomUUID()),
          (response) => response.status !== 404,
        );
        assert.equal(status, 401);
      });
    });

    it('forgets the oldest token when there are too many', async () => {
      await withSandbox({ limits: { tokens: 2 } }, async (first) => {
        assert.equal((await first.status(randomUUID())).status, 404);
        await first.token();
        assert.equal((await first.status(randomUUID())).status, 404);
        await first.token();
        assert.equal((await first.status(randomUUID())).status, 401);
      });
    });
  });

  describe('for a request to pay', () => {
    it('responds 202 without a body', async () => {
      const reference = randomUUID();
      const answer = await client.requestToPay(payment('999', reference), { 'X-Reference-Id': reference });
      assert.deepEqual(answer, { status: 202, body: null });
    });

    it('responds 409 to a reference that it has accepted before, and keeps the first payment unchanged', async () => {
      const reference = await submit(client, 'requestToPay', '010');
      const changed = payment('001', reference, { amount: '900' });
      const answer = await client.requestToPay(changed, { 'X-Reference-Id': reference.toUpperCase() });
      assertRefused(answer, 409, 'RESOURCE_ALREADY_EXIST');
      assert.equal(typeof answer.body?.['message'], 'string');
      assert.equal((await client.status(reference)).body?.['amount'], '500');
      const seen = await client.seen(reference);
      assert.equal(seen?.['requestsReceived'], 2);
      assert.equal(seen['promptsRaised'], 1);
    });

    const wrongHeaders: [string, Record<string, string | undefined>, number, string | undefined][] = [
      ['a missing reference', { 'X-Reference-Id': undefined }, 400, 'REQUEST_REJECTED'],
      ['a reference that is no UUID', { 'X-Reference-Id': 'order-17' }, 400, 'REQUEST_REJECTED'],
      [
        'a UUID of another version',
        { 'X-Reference-Id': '0190a6f0-7c2b-7d51-9b43-111111111111' },
        400,
        'REQUEST_REJECTED',
      ],
      ['a missing token', { Authorization: undefined }, 401, undefined],
      ['an unknown token', { Authorization: 'Bearer made-up' }, 401, undefined],
      ['a wrong subscription key', { 'Ocp-Apim-Subscription-Key': 'wrong' }, 401, undefined],
      ['another target environment', { 'X-Target-Environment': 'mtnmoon' }, 500, 'NOT_ALLOWED_TARGET_ENVIRONMENT'],
      [
        'a callback host that is not registered',
        { 'X-Callback-Url': 'http://evil.test/' },
        500,
        'INVALID_CALLBACK_URL_HOST',
      ],
      ['a callback address that is not http', { 'X-Callback-Url': 'file:///etc/passwd' }, 400, 'REQUEST_REJECTED'],
    ];
    for (const [what, headers, status, code] of wrongHeaders) {
      it(`refuses ${what} with ${status}`, async () => {
        const reference = randomUUID();
        const answer = await client.requestToPay(payment('999', reference), {
          'X-Reference-Id': reference,
          ...headers,
        });
        assertRefused(answer, status, code);
        assert.equal((await client.status(reference)).status, 404);
      });
    }

    const wrongBodies: [string, unknown][] = [
      ['an amount of zero', { amount: '0.00' }],
      ['an amount that is a JSON number', { amount: 500 }],
      ['a negative amount', { amount: '-5' }],
      ['an amount with three decimals', { amount: '1.005' }],
      ['a payer with a plus sign', { payer: { partyIdType: 'MSISDN', partyId: '+256772123999' } }],
      ['a missing payer', { payer: undefined }],
      ['an apostrophe in the message', { payerMessage: "John's" }],
      ['an ampersand in the message', { payerMessage: 'Smith & Sons' }],
      ['an ampersand in the note', { payeeNote: 'Smith & Sons' }],
      ['an angle bracket in the message', { payerMessage: '<b' }],
      ['a quotation mark in the note', { payeeNote: '"Order" 17' }],
      ['a note of 161 characters', { payeeNote: 'x'.repeat(161) }],
    ];
    for (const [what, changes] of wrongBodies) {
      it(`refuses ${what} with 400`, async () => {
        const reference = randomUUID();
        const body = payment('999', reference, changes as Record<string, unknown>);
        assertRefused(await client.requestToPay(body, { 'X-Reference-Id': reference }), 400, 'REQUEST_REJECTED');
      });
    }

    for (const [what, changes] of [
      ['an empty message', { payerMessage: '' }],
      ['no note', { payeeNote: undefined }],
    ] as const) {
      it(`responds 500 INTERNAL_PROCESSING_ERROR to ${what}`, async () => {
        const reference = randomUUID();
        const answer = await client.requestToPay(payment('999', reference, changes), { 'X-Reference-Id': reference });
        assertRefused(answer, 500, 'INTERNAL_PROCESSING_ERROR');
        assert.equal((await client.status(reference)).status, 404);
      });
    }

    it('refuses broken JSON with 400 and a body that is too large with 413', async () => {
      const headers = { 'X-Reference-Id': randomUUID() };
      assert.equal((await client.requestToPay('{"amount": ', headers)).status, 400);
      assert.equal((await client.requestToPay('"text"', headers)).status, 400);
      assert.equal((await client.requestToPay({ filler: 'x'.repeat(3000) }, headers)).status, 413);
    });

    it('responds 500 INVALID_CURRENCY to a currency without an account', async () => {
      const reference = randomUUID();
      const body = payment('999', reference, { currency: 'USD' });
      assertRefused(await client.requestToPay(body, { 'X-Reference-Id': reference }), 500, 'INVALID_CURRENCY');
    });
  });

  describe('for a status', () => {
    it('responds 404 RESOURCE_NOT_FOUND to an unknown reference', async () => {
      assertRefused(await client.status(randomUUID()), 404, 'RESOURCE_NOT_FOUND');
    });

    it('shows the fields of the request, and the receipt number only once it is paid', async () => {
      const reference = randomUUID();
      const body = payment('009', reference);
      await client.requestToPay(body, { 'X-Reference-Id': reference });
      assert.deepEqual((await client.status(reference)).body, { ...body, status: 'PENDING' });
      const paid = await until(() => client.status(reference), isDecided);
      const { financialTransactionId, ...rest } = paid.body ?? {};
      assert.deepEqual(rest, { ...body, status: 'SUCCESSFUL' });
      assert.match(String(financialTransactionId), /^\d{11}$/);
    });

    it('requires a token', async () => {
      assert.equal((await client.status(randomUUID(), { Authorization: 'Bearer made-up' })).status, 401);
    });
  });

  it('adds paid collections to the balance, and nothing else', async () => {
    await withSandbox({ times: { decisionMs: 0 }, startingFloat: 0 }, async (fresh) => {
      const pay = async (row: string, amount: string, currency = 'UGX'): Promise<void> => {
        const reference = await submit(fresh, 'requestToPay', row, { changes: { amount, currency } });
        await until(() => fresh.status(reference), isDecided);
      };
      assert.deepEqual((await fresh.balance()).body, { availableBalance: '0.00', currency: 'UGX' });
      await pay('999', '1200.5');
      await pay('999', '99');
      await pay('001', '7000');
      await pay('999', '3', 'RWF');
      assert.deepEqual((await fresh.balance()).body, { availableBalance: '1299.50', currency: 'UGX' });
    });
  });
});
