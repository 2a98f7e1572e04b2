// The MTN MoMo adapter against answers that no sandbox gives: what it sends, and what it makes of odd replies.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createMtnMomo, type MtnMomoConfig } from '../../../src/operators/mtn-momo/mtn-momo.ts';
import type { Operator, PromptRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { halfBody, inTurn, json, raw, startStubOperator, type Reply, type StubOperator } from '../stub-operator.ts';

const REFERENCE = randomUUID();
// Of those that meet silence; all others have more time than any machine needs.
const TIMEOUT_MS = 150;
const AMPLE_MS = 20_000;

const silence: Reply = () => undefined;
const endless: Reply = (response) => response.writeHead(200).write('{');
const cut: Reply = (response) => response.destroy();
const PAID = {
  amount: '500',
  currency: 'UGX',
  externalId: REFERENCE,
  financialTransactionId: '363440463',
  status: 'SUCCESSFUL',
};

describe("MTN's wire", () => {
  let stub: StubOperator;
  let operator: Operator;

  beforeEach(async () => {
    stub = await startStubOperator();
    operator = open();
  });

  afterEach(async () => {
    await operator.close();
    await stub.stop();
  });

  function open(changes: Partial<MtnMomoConfig> = {}): Operator {
    return createMtnMomo({
      baseUrl: stub.url,
      targetEnvironment: 'mtnuganda',
      callbackUrl: 'https://pay.example/operators/mtn-momo/callbacks',
      collection: { subscriptionKey: 'the-key', apiUser: 'the-user', apiKey: 'the-secret' },
      disbursement: { subscriptionKey: 'out-key', apiUser: 'out-user', apiKey: 'out-secret' },
      requestTimeoutMs: AMPLE_MS,
      connections: 4,
      ...changes,
    });
  }

  /** Answers every call so; silence is not waited for longer than it must be. */
  async function meet(reply: Reply): Promise<void> {
    stub.set({ call: reply });
    if (reply === silence || reply === endless) await beImpatient();
  }

  async function beImpatient(): Promise<void> {
    await operator.close();
    operator = open({ requestTimeoutMs: TIMEOUT_MS });
  }

  function raisePrompt(changes: Partial<PromptRequest> = {}): Promise<SendOutcome> {
    return operator.raisePrompt({
      operatorReference: REFERENCE,
      phone: '256772123456',
      money: { amountMinor: 500n, currency: 'UGX' },
      payerMessage: 'Order 17',
      ...changes,
    });
  }

  function getStatus(): Promise<StatusOutcome> {
    return operator.getCollectionStatus(REFERENCE);
  }

  describe('what it sends', () => {
    it('asks for a token with both credentials, and carries it with everything MTN wants', async () => {
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      const [token, call] = stub.received;
      assert.equal(`${token?.method} ${token?.path}`, 'POST /collection/token/');
      assert.equal(token?.headers.authorization, `Basic ${Buffer.from('the-user:the-secret').toString('base64')}`);
      assert.equal(token.headers['ocp-apim-subscription-key'], 'the-key');
      assert.equal(`${call?.method} ${call?.path}`, 'POST /collection/v1_0/requesttopay');
      assert.equal(call?.headers.authorization, 'Bearer token-1');
      assert.equal(call.headers['ocp-apim-subscription-key'], 'the-key');
      assert.equal(call.headers['x-reference-id'], REFERENCE);
      assert.equal(call.headers['x-target-environment'], 'mtnuganda');
      assert.equal(call.headers['x-callback-url'], 'https://pay.example/operators/mtn-momo/callbacks');
      assert.match(String(call.headers['content-type']), /^application\/json/);
      assert.deepEqual(JSON.parse(call.body), {
        amount: '500',
        currency: 'UGX',
        externalId: REFERENCE,
        payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
        payerMessage: 'Order 17',
        payeeNote: 'Order 17',
      });
    });

    it('writes an amount with its decimals and a note without apostrophes', async () => {
      await raisePrompt({ money: { amountMinor: 1050n, currency: 'GHS' }, payerMessage: "Ama's order" });
      const body = JSON.parse(stub.calls()[0]?.body ?? '') as Record<string, unknown>;
      assert.equal(body['amount'], '10.50');
      assert.equal(body['payerMessage'], 'Amas order');
    });

    it('keeps a path that belongs to the base address', async () => {
      const behindPath = open({ baseUrl: `${stub.url}/gateway/` });
      await behindPath.getCollectionStatus(REFERENCE);
      await behindPath.close();
      assert.deepEqual(
        stub.received.map(({ path }) => path),
        ['/gateway/collection/token/', `/gateway/collection/v1_0/requesttopay/${REFERENCE}`],
      );
    });
  });

  describe('what it makes of the answer to a send', () => {
    const unknown = (reason: string): SendOutcome => ({ kind: 'unknown', reason });
    const refused = (code: 'operator_rejected' | 'payer_not_found', operatorCode: string): SendOutcome => ({
      kind: 'refused',
      code,
      operatorCode,
    });
    const cases: [string, Reply, SendOutcome][] = [
      ['202', raw(202, ''), { kind: 'accepted' }],
      ['409 for a reference it has', json(409, { code: 'RESOURCE_ALREADY_EXIST', message: 'x' }), { kind: 'accepted' }],
      ['409 that says nothing', raw(409, ''), unknown('http 409')],
      ['400 without a body', raw(400, ''), refused('operator_rejected', 'HTTP_400')],
      [
        '400 with a new code',
        json(400, { code: 'REQUEST_REJECTED' }),
        refused('operator_rejected', 'REQUEST_REJECTED'),
      ],
      ['403 of the gateway', json(403, { statusCode: 403, message: 'x' }), refused('operator_rejected', 'HTTP_403')],
      ["403 of a firewall's page", raw(403, '<html>Request Rejected</html>'), unknown('http 403')],
      [
        '400 that says it has the reference',
        json(400, { code: 'RESOURCE_ALREADY_EXIST' }),
        unknown('http 400 RESOURCE_ALREADY_EXIST'),
      ],
      [
        '500 INVALID_CURRENCY',
        json(500, { code: 'INVALID_CURRENCY' }),
        refused('operator_rejected', 'INVALID_CURRENCY'),
      ],
      ['500 PAYER_NOT_FOUND', json(500, { code: 'PAYER_NOT_FOUND' }), refused('payer_not_found', 'PAYER_NOT_FOUND')],
      ['500 NOT_ALLOWED', json(500, { code: 'NOT_ALLOWED' }), refused('operator_rejected', 'NOT_ALLOWED')],
      [
        '500 INTERNAL_PROCESSING_ERROR',
        json(500, { code: 'INTERNAL_PROCESSING_ERROR' }),
        unknown('http 500 INTERNAL_PROCESSING_ERROR'),
      ],
      ['500 with a new code', json(500, { code: 'NEW_CODE' }), unknown('http 500 NEW_CODE')],
      ['500 without a body', raw(500, ''), unknown('http 500')],
      ['503', json(503, { code: 'SERVICE_UNAVAILABLE' }), unknown('http 503 SERVICE_UNAVAILABLE')],
      ['429', raw(429, ''), unknown('http 429')],
      ["200 with a firewall's page", raw(200, '<html>Request Rejected</html>'), unknown('http 200')],
      ['302', raw(302, ''), unknown('http 302')],
      ['404', raw(404, ''), unknown('http 404')],
      ['a cut connection', cut, unknown('connection failed: UND_ERR_SOCKET')],
      ['half a body', halfBody(400, '{"code": "NOT_ALLOWED"}'), unknown('connection failed: UND_ERR_SOCKET')],
      ['no answer', silence, unknown(`timed out after ${TIMEOUT_MS} ms`)],
      ['a personal text as code', json(400, { code: 'Amina 256772123456' }), refused('operator_rejected', 'HTTP_400')],
    ];
    for (const [what, reply, outcome] of cases) {
      it(`${what}: ${outcome.kind}`, async () => {
        await meet(reply);
        assert.deepEqual(await raisePrompt(), outcome);
      });
    }

    it('an operator that does not listen: unknown', async () => {
      const nobody = await startStubOperator();
      await nobody.stop();
      const alone = open({ baseUrl: nobody.url });
      const outcome = await alone.getCollectionStatus(REFERENCE);
      assert.deepEqual(outcome, unknown('no token: connection failed: ECONNREFUSED'));
      await alone.close();
    });
  });

  describe('what it makes of a status', () => {
    const failed = (reason?: unknown) => json(200, { ...PAID, status: 'FAILED', reason });
    const unknown = (reason: string): StatusOutcome => ({ kind: 'unknown', reason });
    const succeeded = (receipt: string, amount = '500'): StatusOutcome => ({
      kind: 'succeeded',
      receipt,
      paid: { amount, currency: 'UGX' },
    });
    const rejected = (operatorCode: string): StatusOutcome => ({
      kind: 'failed',
      code: 'operator_rejected',
      operatorCode,
    });
    const cases: [string, Reply, StatusOutcome][] = [
      ['SUCCESSFUL', json(200, PAID), succeeded('363440463')],
      [
        'SUCCESSFUL with numbers for texts',
        json(200, { ...PAID, amount: 500.5, financialTransactionId: 77 }),
        succeeded('77', '500.5'),
      ],
      ['SUCCESSFUL without a receipt', json(200, { ...PAID, financialTransactionId: undefined }), succeeded(REFERENCE)],
      ['SUCCESSFUL with an odd receipt', json(200, { ...PAID, financialTransactionId: '<b>' }), succeeded(REFERENCE)],
      [
        'SUCCESSFUL for the same reference in capitals',
        json(200, { ...PAID, externalId: REFERENCE.toUpperCase() }),
        succeeded('363440463'),
      ],
      [
        'SUCCESSFUL of another payment',
        json(200, { ...PAID, externalId: randomUUID() }),
        unknown('status of another payment'),
      ],
      [
        'SUCCESSFUL that names no payment',
        json(200, { ...PAID, externalId: undefined }),
        unknown('status not understood'),
      ],
      [
        'SUCCESSFUL without an amount',
        json(200, { ...PAID, amount: undefined }),
        unknown('paid, but the amount is not understood'),
      ],
      [
        'SUCCESSFUL with a strange currency',
        json(200, { ...PAID, currency: 5 }),
        unknown('paid, but the amount is not understood'),
      ],
      ['PENDING', json(200, { externalId: REFERENCE, status: 'PENDING' }), { kind: 'pending' }],
      [
        'FAILED of another payment',
        json(200, { ...PAID, status: 'FAILED', externalId: randomUUID() }),
        unknown('status of another payment'),
      ],
      [
        'FAILED with an object',
        failed({ code: 'APPROVAL_REJECTED', message: 'x' }),
        { kind: 'failed', code: 'payer_cancelled', operatorCode: 'APPROVAL_REJECTED' },
      ],
      ['FAILED with a string', failed('EXPIRED'), { kind: 'failed', code: 'prompt_expired', operatorCode: 'EXPIRED' }],
      [
        'FAILED for no funds in disguise',
        failed({ code: 'INTERNAL_PROCESSING_ERROR', message: 'Insufficient funds' }),
        { kind: 'failed', code: 'insufficient_funds', operatorCode: 'INTERNAL_PROCESSING_ERROR' },
      ],
      [
        'FAILED for the general reason',
        failed({ code: 'INTERNAL_PROCESSING_ERROR' }),
        rejected('INTERNAL_PROCESSING_ERROR'),
      ],
      ['FAILED without a reason', failed(), rejected('UNSPECIFIED')],
      ['a status word of tomorrow', json(200, { ...PAID, status: 'REVERSED' }), unknown('status word not known')],
      ['404 of the API', json(404, { code: 'RESOURCE_NOT_FOUND', message: 'x' }), { kind: 'not_found' }],
      ['404 without a body', raw(404, ''), unknown('http 404')],
      ["404 of a proxy's page", raw(404, '<html>Not Found</html>'), unknown('http 404')],
      ['404 of the gateway', json(404, { statusCode: 404, message: 'Resource not found' }), unknown('http 404')],
      ['200 with a page', raw(200, '<html>Welcome</html>'), unknown('status not understood')],
      ['200 with nothing', raw(200, ''), unknown('status not understood')],
      ['200 with half a body', halfBody(200, JSON.stringify(PAID)), unknown('connection failed: UND_ERR_SOCKET')],
      ['200 with half of the JSON', raw(200, JSON.stringify(PAID).slice(0, -9)), unknown('status not understood')],
      [
        '200 with 65 KiB',
        json(200, { ...PAID, filler: 'x'.repeat(65 * 1024) }),
        unknown('connection failed: UND_ERR_RES_EXCEEDED_MAX_SIZE'),
      ],
      ['500 INVALID_CURRENCY', json(500, { code: 'INVALID_CURRENCY' }), unknown('http 500 INVALID_CURRENCY')],
      ['400', raw(400, ''), unknown('http 400')],
      ['a body that never ends', endless, unknown(`timed out after ${TIMEOUT_MS} ms`)],
    ];
    for (const [what, reply, outcome] of cases) {
      it(`${what}: ${outcome.kind}`, async () => {
        await meet(reply);
        assert.deepEqual(await getStatus(), outcome);
      });
    }
  });

  describe('its token', () => {
    it('is asked for once by twenty calls at the same time', async () => {
      const token = json(200, { access_token: 'slow', expires_in: '3600' });
      stub.set({
        token: (response) =>
          setTimeout(() => {
            token(response);
          }, 40),
      });
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => raisePrompt({ operatorReference: randomUUID() })),
      );
      assert.ok(outcomes.every(({ kind }) => kind === 'accepted'));
      assert.equal(stub.tokenRequests(), 1);
      assert.equal(stub.calls().length, 20);
    });

    it('is dropped on a 401, and the call tried once with a new one', async () => {
      stub.set({ call: inTurn(raw(401, ''), raw(202, '')) });
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      assert.deepEqual(
        stub.calls().map(({ headers }) => headers.authorization),
        ['Bearer token-1', 'Bearer token-3'],
      );
      await raisePrompt();
      assert.equal(stub.tokenRequests(), 2);
    });

    it('is renewed once for twenty calls that are refused together', async () => {
      await raisePrompt();
      const old = stub.calls()[0]?.headers.authorization;
      stub.set({
        call: (response, { headers }) => response.writeHead(headers.authorization === old ? 401 : 202).end(),
      });
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => raisePrompt()));
      assert.ok(outcomes.every(({ kind }) => kind === 'accepted'));
      assert.equal(stub.tokenRequests(), 2);
    });

    it('that is refused twice ends the call as unknown', async () => {
      stub.set({ call: raw(401, '') });
      assert.deepEqual(await raisePrompt(), { kind: 'unknown', reason: 'http 401' });
      assert.equal(stub.calls().length, 2);
    });

    const bad: [string, Reply, string][] = [
      ['is refused', raw(401, ''), 'no token: http 401'],
      ['comes without its text', json(200, { expires_in: 3600 }), 'no token: answer not understood'],
      ['comes without its life', json(200, { access_token: 'x' }), 'no token: answer not understood'],
      ['could break a header', json(200, { access_token: 'a\r\nb', expires_in: 1 }), 'no token: answer not understood'],
      ['is a web page', raw(200, '<html>'), 'no token: answer not understood'],
      ['is cut off', cut, 'no token: connection failed: UND_ERR_SOCKET'],
    ];
    for (const [what, reply, reason] of bad) {
      it(`that ${what} makes every call unknown, and the next call asks again`, async () => {
        stub.set({ token: inTurn(reply, json(200, { access_token: 'good', expires_in: 3600 })) });
        assert.deepEqual(await raisePrompt(), { kind: 'unknown', reason });
        assert.equal(stub.calls().length, 0);
        assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      });
    }

    it('that never comes does not hold a call beyond its deadline', async () => {
      stub.set({ token: silence });
      await beImpatient();
      const startMs = performance.now();
      const outcome = await raisePrompt();
      assert.equal(outcome.kind, 'unknown');
      assert.ok(performance.now() - startMs < TIMEOUT_MS + 10_000);
    });
  });

  it('does not send a prompt whose deadline passed while it waited for a connection', async () => {
    const narrow = open({ connections: 1, requestTimeoutMs: 1000 });
    await narrow.getCollectionStatus(REFERENCE);
    stub.set({ call: silence });
    const sent = stub.calls().length;
    const outcomes = await Promise.all([
      narrow.getCollectionStatus(REFERENCE),
      narrow.getCollectionStatus(REFERENCE),
      narrow.getCollectionStatus(REFERENCE),
    ]);
    assert.ok(outcomes.every(({ kind }) => kind === 'unknown'));
    stub.set({ call: raw(418, '') });
    const next = await narrow.getCollectionStatus(REFERENCE);
    assert.deepEqual(next, { kind: 'unknown', reason: 'http 418' });
    assert.equal(stub.calls().length, sent + 2);
    await narrow.close();
  });

  describe('a callback', () => {
    it('names its payment by externalId, or by referenceId where that is all it has', () => {
      const named = { operatorReference: REFERENCE };
      assert.deepEqual(operator.parseCallback(PAID), named);
      assert.deepEqual(operator.parseCallback({ externalId: REFERENCE.toUpperCase() }), named);
      assert.deepEqual(operator.parseCallback({ externalId: 'order 17', referenceId: REFERENCE }), named);
    });

    it('names nothing when neither is a UUID', () => {
      for (const body of [null, [], 'text', REFERENCE, {}, { externalId: '17' }, { externalId: [REFERENCE] }]) {
        assert.equal(operator.parseCallback(body), null);
      }
    });
  });
});
