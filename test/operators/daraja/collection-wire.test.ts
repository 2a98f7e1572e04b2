// The Daraja adapter's prompts and their queries, and what it makes of responses that no sandbox sends.
import assert from 'node:assert/strict';
import { ONE_CALL, sentAs } from '../../support/sent-payment.ts';
import type { PromptRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { halfBody, inTurn, json, raw, startStubOperator } from '../stub-operator.ts';
import { CHECKOUT_ID, PHONE, REFERENCE } from './samples.ts';
import {
  errorOf,
  itMaps,
  NO_ANSWERS,
  promptAccepted,
  TIMEOUT_MS,
  unknown,
  unprocessed,
  useDarajaWire,
  type Case,
} from './wire-harness.ts';

const ACCEPTED: SendOutcome = { kind: 'accepted', issuedId: CHECKOUT_ID };

describe("the Daraja adapter's prompts", () => {
  const wire = useDarajaWire();

  function raisePrompt(changes: Partial<PromptRequest> = {}): Promise<SendOutcome> {
    return wire.operator.raisePrompt({
      operatorReference: REFERENCE,
      phone: PHONE,
      money: { amountMinor: 50_000n, currency: 'KES' },
      payerMessage: 'Order 17',
      ...changes,
    });
  }

  const getStatus = (): Promise<StatusOutcome> =>
    wire.operator.getCollectionStatus({ ...sentAs(REFERENCE), issuedId: CHECKOUT_ID }, ONE_CALL);

  describe('its requests', () => {
    it('have a description of thirteen plain characters at most', async () => {
      wire.reply(promptAccepted());
      const texts = ["Amina's café & Söhne 17", 'Ürün – 5€', '日本', '', 'a\u0000b\nc'];
      for (const payerMessage of texts) await raisePrompt({ payerMessage });
      const descriptions = wire.stub
        .calls()
        .map(({ body }) => (JSON.parse(body) as Record<string, string>)['TransactionDesc']);
      assert.deepEqual(descriptions, ['Aminas cafe S', 'Urun 5', 'Payment', 'Payment', 'ab c']);
    });

    it('have whole shillings, and are not made for cents or another market', async () => {
      wire.reply(promptAccepted());
      const notSent = unprocessed('not sent: of another market, or no whole shillings', 'account');
      for (const changes of [
        { money: { amountMinor: 50_050n, currency: 'KES' } },
        { money: { amountMinor: 50_000n, currency: 'UGX' } },
        { phone: '256712345678' },
      ] as const) {
        assert.deepEqual(await raisePrompt(changes), notSent);
      }
      assert.deepEqual(wire.stub.received, []);
      await raisePrompt({ money: { amountMinor: 25_000_000n, currency: 'KES' } });
      assert.match(wire.stub.calls()[0]?.body ?? '', /"Amount":"250000",/);
    });

    const tokenRefusals = [
      ['404.001.03', 404],
      ['400.003.01', 400],
      ['401.002.01', 401],
      ['401.003.01', 401],
    ] as const;
    for (const [code, status] of tokenRefusals) {
      it(`renew a token that is refused with ${code} once, and are sent again`, async () => {
        wire.reply(inTurn(errorOf(status, code), promptAccepted()));
        assert.deepEqual(await raisePrompt(), ACCEPTED);
        assert.equal(wire.stub.tokenRequests(), 2);
        const [first, second] = wire.stub.calls();
        assert.notEqual(first?.headers.authorization, second?.headers.authorization);
        assert.equal(first?.body, second?.body);
      });

      it(`are made no third time when the token stays refused with ${code}, of which nothing is done`, async () => {
        wire.reply(errorOf(status, code));
        assert.deepEqual(await raisePrompt(), unprocessed(`http ${status} ${code}`, 'account'));
        assert.equal(wire.stub.calls().length, 2);
      });
    }

    it('are not sent again after a code of a refused token with another status', async () => {
      wire.reply(inTurn(errorOf(500, '404.001.03'), promptAccepted()));
      assert.deepEqual(await raisePrompt(), unknown('http 500 404.001.03', 'no_answer'));
      assert.equal(wire.stub.calls().length, 1);
    });

    it('are not made without a token', async () => {
      const refusals = [
        [raw(400, ''), unprocessed('no token: http 400', 'account')],
        [raw(503, ''), unprocessed('no token: http 503', 'busy')],
        [json(200, { access_token: 'a b' }), unprocessed('no token: answer not understood', 'busy')],
      ] as const;
      for (const [token, outcome] of refusals) {
        wire.stub.set({ token });
        assert.deepEqual(await raisePrompt(), outcome);
      }
      assert.equal(wire.stub.calls().length, 0);
    });

    it('are not sent at all when no token comes in time', async () => {
      await wire.timeOutEarly();
      wire.stub.set({ token: () => undefined });
      const outcome = await raisePrompt();
      assert.ok(outcome.kind === 'unknown' && outcome.isUnprocessed === true, JSON.stringify(outcome));
      // Waits for what is in progress.
      await wire.operator.close();
      assert.equal(wire.stub.calls().length, 0);
    });

    it('may have been sent when nobody answers, and are sent once', async () => {
      wire.reply(promptAccepted());
      await raisePrompt();
      await wire.timeOutEarly();
      wire.reply(() => undefined);
      assert.deepEqual(await raisePrompt(), unknown(`timed out after ${TIMEOUT_MS} ms`, 'no_answer'));
      assert.equal(wire.stub.calls().length, 2);
    });

    it('are of no effect where nobody listens', async () => {
      const nobody = await startStubOperator();
      await nobody.stop();
      const tokens = { read: () => Promise.resolve({ number: 1, token: 'stored', renewInMs: 60_000 }) };
      const alone = wire.open({
        baseUrl: nobody.url,
        tokens: { ...tokens, beginRenewal: () => assert.fail('renewed'), endRenewal: () => assert.fail('renewed') },
      });
      const outcome = await alone.raisePrompt({
        operatorReference: REFERENCE,
        phone: PHONE,
        money: { amountMinor: 100n, currency: 'KES' },
        payerMessage: 'x',
      });
      assert.deepEqual(outcome, unprocessed('connection failed: ECONNREFUSED', 'busy'));
      await alone.close();
    });
  });

  describe('reading the response to a send', () => {
    const cut = unknown('connection failed: UND_ERR_SOCKET', 'no_answer');
    const cases: readonly Case<SendOutcome>[] = [
      ['0', promptAccepted(), ACCEPTED],
      ['0 as a number', promptAccepted({ ResponseCode: 0 }), ACCEPTED],
      ['0 without an id', promptAccepted({ CheckoutRequestID: undefined }), { kind: 'accepted' }],
      ['1', promptAccepted({ ResponseCode: '1' }), unknown('http 200')],
      ['no code', promptAccepted({ ResponseCode: undefined }), unknown('http 200')],
      ['0 with 201', json(201, { ResponseCode: '0', CheckoutRequestID: CHECKOUT_ID }), unknown('http 201')],
      ['500.001.1001', errorOf(500, '500.001.1001'), unknown('http 500 500.001.1001', 'no_answer')],
      ['half a body', halfBody(200, '{"ResponseCode": "0", "CheckoutRequestID": "x"}'), cut],
      ['a cut connection', (response) => response.destroy(), cut],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, () => raisePrompt());
  });

  describe('reading the response to a query', () => {
    const ended = (code: unknown, changes: object = {}) =>
      json(200, {
        ResponseCode: '0',
        ResponseDescription: 'x',
        MerchantRequestID: '1',
        CheckoutRequestID: CHECKOUT_ID,
        ResultCode: code,
        ResultDesc: 'x',
        ...changes,
      });
    const paid: StatusOutcome = { kind: 'succeeded', receipt: null };
    const cases: readonly Case<StatusOutcome>[] = [
      ['0', ended('0'), paid],
      ['0 as a number', ended(0), paid],
      ['1032', ended('1032'), { kind: 'failed', code: 'payer_cancelled', operatorCode: '1032' }],
      ['1037', ended('1037'), { kind: 'failed', code: 'payer_unreachable', operatorCode: '1037' }],
      ['2001', ended('2001'), { kind: 'failed', code: 'wrong_pin', operatorCode: '2001' }],
      ['4999', ended('4999', { ResultDesc: '' }), { kind: 'pending' }],
      ['500.001.1001 with success', ended('500.001.1001'), unknown('code 500.001.1001 is not listed')],
      ['500.001.1001', errorOf(500, '500.001.1001'), unknown('http 500 500.001.1001')],
      ['a code that is not listed', ended('1036'), unknown('code 1036 is not listed')],
      ['a code of payouts', ended('2040'), unknown('code 2040 is not listed')],
      ['no code', ended(undefined), unknown('no code')],
      ['another prompt', ended('0', { CheckoutRequestID: `${CHECKOUT_ID}0` }), unknown('status of another payment')],
      ['no prompt', ended('0', { CheckoutRequestID: undefined }), unknown('status of another payment')],
      ['a query that was not taken', ended('0', { ResponseCode: '1' }), unknown('http 200')],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, getStatus);

    it('asks nothing about a prompt that was never sent', async () => {
      const outcome = await wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
      assert.deepEqual(outcome, unprocessed('not asked: never sent'));
      assert.deepEqual(wire.stub.received, []);
    });
  });
});
