// The MTN MoMo adapter's collections against responses that no sandbox sends: its requests, and its outcomes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { PromptRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { halfBody, inTurn, json, raw, startStubOperator, type Reply } from '../stub-operator.ts';
import {
  assertFirstSend,
  busy,
  cut,
  endless,
  PAID,
  REFERENCE,
  FAILED_UNLISTED,
  noAnswer,
  ofAccount,
  refused,
  SEND_CASES,
  silence,
  TIMEOUT_MS,
  unknown,
  unsent,
  useMtnWire,
  type Case,
  errorOf,
  failed,
  failedAs,
  itMaps,
  paidWith,
} from './wire-harness.ts';
import { valuesOf } from '../../support/values-of.ts';
import { ONE_CALL, sentAs } from '../../support/sent-payment.ts';

describe("the MTN adapter's collections", () => {
  const wire = useMtnWire();

  function raisePrompt(changes: Partial<PromptRequest> = {}): Promise<SendOutcome> {
    return wire.operator.raisePrompt({
      operatorReference: REFERENCE,
      phone: '256772123456',
      money: { amountMinor: 500n, currency: 'UGX' },
      payerMessage: 'Order 17',
      ...changes,
    });
  }

  function getStatus(): Promise<StatusOutcome> {
    return wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
  }

  describe('its requests', () => {
    it('request a token with both credentials, and contain it with all that MTN requires', async () => {
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      assert.deepEqual(assertFirstSend(wire.stub, '/collection/v1_0/requesttopay', 'the'), {
        amount: '500',
        currency: 'UGX',
        externalId: REFERENCE,
        payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
        payerMessage: 'Order 17',
        payeeNote: 'Order 17',
      });
    });

    it('contain an amount with its decimals and a note without apostrophes', async () => {
      await raisePrompt({ money: { amountMinor: 1050n, currency: 'GHS' }, payerMessage: "Ama's order" });
      const body = JSON.parse(wire.stub.calls()[0]?.body ?? '') as Record<string, unknown>;
      assert.equal(body['amount'], '10.50');
      assert.equal(body['payerMessage'], 'Amas order');
    });

    it('keep the path of the base address', async () => {
      const behindPath = wire.open({ baseUrl: `${wire.stub.url}/gateway/` });
      await behindPath.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
      await behindPath.close();
      assert.deepEqual(valuesOf(wire.stub.received, 'path'), [
        '/gateway/collection/token/',
        `/gateway/collection/v1_0/requesttopay/${REFERENCE}`,
      ]);
    });
  });

  describe('reading the response to a send', () => {
    const cases: readonly Case<SendOutcome>[] = [
      ...SEND_CASES,
      ['400 with a new code', errorOf(400, 'REQUEST_REJECTED'), unknown('http 400 REQUEST_REJECTED')],
      ['403 of the gateway', json(403, { statusCode: 403, message: 'x' }), ofAccount('http 403')],
      [
        '400 with the code for a known reference',
        errorOf(400, 'RESOURCE_ALREADY_EXIST'),
        unknown('http 400 RESOURCE_ALREADY_EXIST'),
      ],
      ['500 INVALID_CURRENCY', errorOf(500, 'INVALID_CURRENCY'), ofAccount('http 500 INVALID_CURRENCY')],
      ['500 PAYER_NOT_FOUND', errorOf(500, 'PAYER_NOT_FOUND'), refused('payer_not_found', 'PAYER_NOT_FOUND')],
      [
        '500 INTERNAL_PROCESSING_ERROR',
        errorOf(500, 'INTERNAL_PROCESSING_ERROR'),
        unknown('http 500 INTERNAL_PROCESSING_ERROR'),
      ],
      ["200 with a firewall's page", raw(200, '<html>Request Rejected</html>'), unknown('http 200')],
      ['302', raw(302, ''), unknown('http 302')],
      ['a personal text as code', errorOf(400, 'Amina 256772123456'), unknown('http 400')],
    ];
    itMaps(wire, cases, raisePrompt);

    it('returns unknown when the operator does not listen', async () => {
      const nobody = await startStubOperator();
      await nobody.stop();
      const alone = wire.open({ baseUrl: nobody.url });
      const outcome = await alone.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
      assert.deepEqual(outcome, unsent(busy('no token: connection failed: ECONNREFUSED')));
      await alone.close();
    });
  });

  describe('reading the response to a status query', () => {
    const succeeded = (receipt: string, amount = '500'): StatusOutcome => ({
      kind: 'succeeded',
      receipt,
      paid: { amount, currency: 'UGX' },
    });
    const paidUnreadable = { kind: 'paid_unreadable', reason: 'paid, but the amount is not understood' } as const;
    const cases: readonly Case<StatusOutcome>[] = [
      ['SUCCESSFUL', json(200, PAID), succeeded('363440463')],
      [
        'SUCCESSFUL with numbers in place of texts',
        paidWith({ amount: 500.5, financialTransactionId: 77 }),
        succeeded('77', '500.5'),
      ],
      ['SUCCESSFUL without a receipt', paidWith({ financialTransactionId: undefined }), succeeded(REFERENCE)],
      ['SUCCESSFUL with an invalid receipt', paidWith({ financialTransactionId: '<b>' }), succeeded(REFERENCE)],
      [
        'SUCCESSFUL for the same reference in capitals',
        paidWith({ externalId: REFERENCE.toUpperCase() }),
        succeeded('363440463'),
      ],
      ['SUCCESSFUL of another payment', paidWith({ externalId: randomUUID() }), unknown('status of another payment')],
      [
        'SUCCESSFUL with an amount in thousands',
        paidWith({ amount: '1,000' }),
        { ...paidUnreadable, receipt: PAID.financialTransactionId },
      ],
      [
        'SUCCESSFUL with a currency in small letters',
        paidWith({ currency: 'ugx' }),
        { ...paidUnreadable, receipt: PAID.financialTransactionId },
      ],
      [
        'SUCCESSFUL without an amount or a receipt',
        paidWith({ amount: undefined, financialTransactionId: undefined }),
        { ...paidUnreadable, receipt: null },
      ],
      ['SUCCESSFUL without a payment reference', paidWith({ externalId: undefined }), unknown('status not understood')],
      [
        'SUCCESSFUL without an amount',
        paidWith({ amount: undefined }),
        { ...paidUnreadable, receipt: PAID.financialTransactionId },
      ],
      [
        'SUCCESSFUL with an invalid currency',
        paidWith({ currency: 5 }),
        { ...paidUnreadable, receipt: PAID.financialTransactionId },
      ],
      ['PENDING', json(200, { externalId: REFERENCE, status: 'PENDING' }), { kind: 'pending' }],
      ['CREATED', json(200, { externalId: REFERENCE, status: 'CREATED' }), { kind: 'pending' }],
      [
        'PENDING with money and a phone',
        paidWith({ status: 'PENDING', payer: { partyIdType: 'MSISDN', partyId: '256772123456' } }),
        { kind: 'pending', money: { amount: '500', currency: 'UGX' }, phone: '256772123456' },
      ],
      [
        'SUCCESSFUL with a phone',
        paidWith({ payer: { partyIdType: 'MSISDN', partyId: '256772123456' } }),
        { ...succeeded('363440463'), phone: '256772123456' } as StatusOutcome,
      ],
      [
        'SUCCESSFUL with a masked phone',
        paidWith({ payer: { partyIdType: 'MSISDN', partyId: '2567****3456' } }),
        succeeded('363440463'),
      ],
      [
        'FAILED of another payment',
        paidWith({ status: 'FAILED', externalId: randomUUID() }),
        unknown('status of another payment'),
      ],
      [
        'FAILED with an object',
        failed({ code: 'APPROVAL_REJECTED', message: 'x' }),
        failedAs('payer_cancelled', 'APPROVAL_REJECTED'),
      ],
      ['FAILED with a string', failed('EXPIRED'), failedAs('prompt_expired', 'EXPIRED')],
      [
        'FAILED with the general code and a message about funds',
        failed({ code: 'INTERNAL_PROCESSING_ERROR', message: 'Insufficient funds' }),
        failedAs('insufficient_funds', 'INTERNAL_PROCESSING_ERROR'),
      ],
      [
        'FAILED with the general code',
        failed({ code: 'INTERNAL_PROCESSING_ERROR' }),
        failedAs('operator_rejected', 'INTERNAL_PROCESSING_ERROR'),
      ],
      ['FAILED without a reason', failed(), FAILED_UNLISTED],
      ['FAILED for a new reason', failed('A_NEW_CODE'), FAILED_UNLISTED],
      ['FAILED for an outage', failed('SERVICE_UNAVAILABLE'), FAILED_UNLISTED],
      ['FAILED for our account', failed('NOT_ALLOWED'), failedAs('operator_unavailable', 'NOT_ALLOWED')],
      ['a new status', paidWith({ status: 'REVERSED' }), { kind: 'unreadable', reason: 'status word not known' }],
      ['no status', paidWith({ status: undefined }), { kind: 'unreadable', reason: 'status word not known' }],
      ['404 of the API', json(404, { code: 'RESOURCE_NOT_FOUND', message: 'x' }), { kind: 'not_found' }],
      ['404 without a body', raw(404, ''), unknown('http 404')],
      ["404 of a proxy's page", raw(404, '<html>Not Found</html>'), unknown('http 404')],
      ['404 of the gateway', json(404, { statusCode: 404, message: 'Resource not found' }), unknown('http 404')],
      ['200 with a page', raw(200, '<html>Welcome</html>'), unknown('status not understood')],
      ['200 with nothing', raw(200, ''), unknown('status not understood')],
      ['200 with half a body', halfBody(200, JSON.stringify(PAID)), noAnswer('connection failed: UND_ERR_SOCKET')],
      ['200 with half of the JSON', raw(200, JSON.stringify(PAID).slice(0, -9)), unknown('status not understood')],
      [
        '200 with 65 KiB',
        json(200, { ...PAID, filler: 'x'.repeat(65 * 1024) }),
        noAnswer('connection failed: UND_ERR_RES_EXCEEDED_MAX_SIZE'),
      ],
      ['500 INVALID_CURRENCY', errorOf(500, 'INVALID_CURRENCY'), ofAccount('http 500 INVALID_CURRENCY')],
      ['400', raw(400, ''), unknown('http 400')],
      ['401', raw(401, ''), ofAccount('http 401')],
      ["403 with a firewall's page", raw(403, '<html>Request Rejected</html>'), ofAccount('http 403')],
      ['429', raw(429, ''), busy('http 429')],
      ['503', errorOf(503, 'SERVICE_UNAVAILABLE'), busy('http 503 SERVICE_UNAVAILABLE')],
      ['a body that never ends', endless, noAnswer(`timed out after ${TIMEOUT_MS} ms`)],
    ];
    itMaps(wire, cases, getStatus);
  });

  describe('its token', () => {
    it('is requested once for twenty concurrent calls', async () => {
      const token = json(200, { access_token: 'slow', expires_in: '3600' });
      wire.stub.set({
        token: (response) =>
          setTimeout(() => {
            token(response);
          }, 40),
      });
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => raisePrompt({ operatorReference: randomUUID() })),
      );
      assert.ok(outcomes.every(({ kind }) => kind === 'accepted'));
      assert.equal(wire.stub.tokenRequests(), 1);
      assert.equal(wire.stub.calls().length, 20);
    });

    it('is dropped after a 401, and the call is repeated once with a new one', async () => {
      wire.stub.set({ call: inTurn(raw(401, ''), raw(202, '')) });
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      const bearers = wire.stub.calls().map(({ headers }) => headers.authorization);
      assert.deepEqual(bearers, ['Bearer token-1', 'Bearer token-3']);
      await raisePrompt();
      assert.equal(wire.stub.tokenRequests(), 2);
    });

    it('is renewed once for twenty concurrent calls that are refused', async () => {
      await raisePrompt();
      const old = wire.stub.calls()[0]?.headers.authorization;
      wire.stub.set({
        call: (response, { headers }) => response.writeHead(headers.authorization === old ? 401 : 202).end(),
      });
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => raisePrompt()));
      assert.ok(outcomes.every(({ kind }) => kind === 'accepted'));
      assert.equal(wire.stub.tokenRequests(), 2);
    });

    it('makes the outcome unknown when it is refused twice', async () => {
      wire.stub.set({ call: raw(401, '') });
      assert.deepEqual(await raisePrompt(), ofAccount('http 401'));
      assert.equal(wire.stub.calls().length, 2);
    });

    const notUnderstood = unsent(busy('no token: answer not understood'));
    const bad: [string, Reply, SendOutcome][] = [
      ['is refused', raw(401, ''), unsent(ofAccount('no token: http 401'))],
      ['is throttled', raw(429, ''), unsent(busy('no token: http 429'))],
      ['has no text', json(200, { expires_in: 3600 }), notUnderstood],
      ['has no expiry', json(200, { access_token: 'x' }), notUnderstood],
      ['would break a header', json(200, { access_token: 'a\r\nb', expires_in: 1 }), notUnderstood],
      ['is a web page', raw(200, '<html>'), notUnderstood],
      // No payment was sent, whatever the outcome of the request for the token.
      ['is cut off', cut, unsent(busy('no token: connection failed: UND_ERR_SOCKET'))],
    ];
    for (const [what, reply, outcome] of bad) {
      it(`makes the outcome unknown when it ${what}, and is requested again by the next call`, async () => {
        wire.stub.set({ token: inTurn(reply, json(200, { access_token: 'good', expires_in: 3600 })) });
        assert.deepEqual(await raisePrompt(), outcome);
        assert.equal(wire.stub.calls().length, 0);
        assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      });
    }

    it('does not hold a call beyond its deadline when it never arrives', async () => {
      wire.stub.set({ token: silence });
      await wire.timeOutEarly();
      const startMs = performance.now();
      const outcome = await raisePrompt();
      assert.equal(outcome.kind, 'unknown');
      assert.ok(performance.now() - startMs < TIMEOUT_MS + 10_000);
    });
  });

  it('are not sent when their deadline passes while they wait for a connection', async () => {
    const narrow = wire.open({ connections: 1, requestTimeoutMs: 1000 });
    await narrow.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
    wire.stub.set({ call: silence });
    const sent = wire.stub.calls().length;
    const outcomes = await Promise.all([
      narrow.getCollectionStatus(sentAs(REFERENCE), ONE_CALL),
      narrow.getCollectionStatus(sentAs(REFERENCE), ONE_CALL),
      narrow.getCollectionStatus(sentAs(REFERENCE), ONE_CALL),
    ]);
    assert.ok(outcomes.every(({ kind }) => kind === 'unknown'));
    wire.stub.set({ call: raw(418, '') });
    const next = await narrow.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
    assert.deepEqual(next, { kind: 'unknown', reason: 'http 418' });
    assert.equal(wire.stub.calls().length, sent + 2);
    await narrow.close();
  });

  describe('a callback', () => {
    it('refers to its payment by externalId, or by referenceId when it has no other', () => {
      const named = { operatorReference: REFERENCE };
      assert.deepEqual(wire.operator.parseCallback(PAID), named);
      assert.deepEqual(wire.operator.parseCallback({ externalId: REFERENCE.toUpperCase() }), named);
      assert.deepEqual(wire.operator.parseCallback({ externalId: 'order 17', referenceId: REFERENCE }), named);
    });

    it('refers to no payment when neither is a UUID', () => {
      for (const body of [null, [], 'text', REFERENCE, {}, { externalId: '17' }, { externalId: [REFERENCE] }]) {
        assert.equal(wire.operator.parseCallback(body), null);
      }
    });
  });
});
