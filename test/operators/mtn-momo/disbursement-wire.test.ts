// The MTN MoMo adapter's money out against answers that no sandbox gives: nothing that may have been taken is refused.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createMtnMomo } from '../../../src/operators/mtn-momo/mtn-momo.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { halfBody, inTurn, json, raw, startStubOperator, type Reply, type StubOperator } from '../stub-operator.ts';

const REFERENCE = randomUUID();
const ORIGINAL = randomUUID();
// Of those that meet silence; all others have more time than any machine needs.
const TIMEOUT_MS = 150;
const AMPLE_MS = 20_000;

const silence: Reply = () => undefined;
const cut: Reply = (response) => response.destroy();
const PAID = {
  amount: '500',
  currency: 'UGX',
  externalId: REFERENCE,
  financialTransactionId: '363440463',
  status: 'SUCCESSFUL',
};
const RETURNED = { ...PAID, status: 'FAILED', reason: { code: 'TRANSACTION_REVERSED', message: 'x' } };

describe("MTN's wire for money out", () => {
  let stub: StubOperator;
  let operator: Operator;

  beforeEach(async () => {
    stub = await startStubOperator();
    operator = open(AMPLE_MS);
  });

  function open(requestTimeoutMs: number): Operator {
    return createMtnMomo({
      baseUrl: stub.url,
      targetEnvironment: 'mtnuganda',
      callbackUrl: 'https://pay.example/operators/mtn-momo/callbacks',
      collection: { subscriptionKey: 'the-key', apiUser: 'the-user', apiKey: 'the-secret' },
      disbursement: { subscriptionKey: 'out-key', apiUser: 'out-user', apiKey: 'out-secret' },
      requestTimeoutMs,
      connections: 4,
    });
  }

  /** Answers every call so; silence is not waited for longer than it must be. */
  async function meet(reply: Reply): Promise<void> {
    stub.set({ call: reply });
    if (reply !== silence) return;
    await operator.close();
    operator = open(TIMEOUT_MS);
  }

  afterEach(async () => {
    await operator.close();
    await stub.stop();
  });

  const money = { amountMinor: 1050n, currency: 'GHS' } as const;

  const sends: Readonly<Record<'payout' | 'refund', () => Promise<SendOutcome>>> = {
    payout: () =>
      operator.sendPayout({
        operatorReference: REFERENCE,
        phone: '233244123456',
        money,
        payeeMessage: "Ama's wages",
      }),
    refund: () =>
      operator.refundCollection({
        operatorReference: REFERENCE,
        originalOperatorReference: ORIGINAL,
        money,
        note: "Ama's refund",
      }),
  };
  const statuses: Readonly<Record<'payout' | 'refund', () => Promise<StatusOutcome>>> = {
    payout: () => operator.getPayoutStatus(REFERENCE),
    refund: () => operator.getRefundStatus(REFERENCE),
  };
  const KINDS = ['payout', 'refund'] as const;

  describe('what it sends', () => {
    const expected = {
      payout: {
        path: '/disbursement/v1_0/transfer',
        fields: { payee: { partyIdType: 'MSISDN', partyId: '233244123456' } },
        note: 'Amas wages',
      },
      refund: {
        path: '/disbursement/v1_0/refund',
        fields: { referenceIdToRefund: ORIGINAL },
        note: 'Amas refund',
      },
    };
    for (const kind of KINDS) {
      it(`asks for a ${kind} with the disbursements' own token, key and everything MTN wants`, async () => {
        assert.deepEqual(await sends[kind](), { kind: 'accepted' });
        const [token, call] = stub.received;
        assert.equal(`${token?.method} ${token?.path}`, 'POST /disbursement/token/');
        assert.equal(token?.headers.authorization, `Basic ${Buffer.from('out-user:out-secret').toString('base64')}`);
        assert.equal(token.headers['ocp-apim-subscription-key'], 'out-key');
        const { path, fields, note } = expected[kind];
        assert.equal(`${call?.method} ${call?.path}`, `POST ${path}`);
        assert.equal(call?.headers.authorization, 'Bearer token-1');
        assert.equal(call.headers['ocp-apim-subscription-key'], 'out-key');
        assert.equal(call.headers['x-reference-id'], REFERENCE);
        assert.equal(call.headers['x-target-environment'], 'mtnuganda');
        assert.equal(call.headers['x-callback-url'], 'https://pay.example/operators/mtn-momo/callbacks');
        assert.deepEqual(JSON.parse(call.body), {
          amount: '10.50',
          currency: 'GHS',
          externalId: REFERENCE,
          payerMessage: note,
          payeeNote: note,
          ...fields,
        });
      });

      it(`asks for the status of a ${kind} by its own reference`, async () => {
        await statuses[kind]();
        assert.deepEqual(
          stub.calls().map(({ method, path }) => `${method} ${path}`),
          [`GET ${expected[kind].path}/${REFERENCE}`],
        );
      });
    }

    it('keeps the tokens of collections and disbursements apart', async () => {
      await operator.getCollectionStatus(REFERENCE);
      await operator.getPayoutStatus(REFERENCE);
      await operator.getCollectionStatus(REFERENCE);
      await operator.getRefundStatus(REFERENCE);
      assert.deepEqual(
        stub.received.map(({ path, headers }) => `${path.split('/')[1]} ${headers.authorization?.split(' ')[0]}`),
        [
          'collection Basic',
          'collection Bearer',
          'disbursement Basic',
          'disbursement Bearer',
          'collection Bearer',
          'disbursement Bearer',
        ],
      );
    });

    it('replaces a refused token once, and sends the payout again under the same reference', async () => {
      stub.set({ call: inTurn(raw(401, ''), raw(202, '')) });
      assert.deepEqual(await sends.payout(), { kind: 'accepted' });
      assert.deepEqual(
        stub.calls().map(({ headers }) => headers['x-reference-id']),
        [REFERENCE, REFERENCE],
      );
    });
  });

  describe('what it makes of the answer to a send', () => {
    const unknown = (reason: string): SendOutcome => ({ kind: 'unknown', reason });
    const refused = (code: 'operator_rejected' | 'payer_not_found' | 'operator_unavailable', operatorCode: string) =>
      ({ kind: 'refused', code, operatorCode }) as const;
    const cases: [string, Reply, SendOutcome][] = [
      ['202', raw(202, ''), { kind: 'accepted' }],
      ['409 for a reference it has', json(409, { code: 'RESOURCE_ALREADY_EXIST' }), { kind: 'accepted' }],
      ['409 that says nothing', raw(409, ''), unknown('http 409')],
      ['400 without a body', raw(400, ''), refused('operator_rejected', 'HTTP_400')],
      ["403 of a firewall's page", raw(403, '<html>Request Rejected</html>'), unknown('http 403')],
      ['500 PAYEE_NOT_FOUND', json(500, { code: 'PAYEE_NOT_FOUND' }), refused('payer_not_found', 'PAYEE_NOT_FOUND')],
      [
        '500 PAYEE_NOT_ALLOWED_TO_RECEIVE',
        json(500, { code: 'PAYEE_NOT_ALLOWED_TO_RECEIVE' }),
        refused('operator_rejected', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'),
      ],
      [
        '500 NOT_ENOUGH_FUNDS',
        json(500, { code: 'NOT_ENOUGH_FUNDS' }),
        refused('operator_unavailable', 'NOT_ENOUGH_FUNDS'),
      ],
      ['500 NOT_ALLOWED', json(500, { code: 'NOT_ALLOWED' }), refused('operator_rejected', 'NOT_ALLOWED')],
      [
        '500 INTERNAL_PROCESSING_ERROR',
        json(500, { code: 'INTERNAL_PROCESSING_ERROR', message: 'No funds' }),
        unknown('http 500 INTERNAL_PROCESSING_ERROR'),
      ],
      [
        '500 TRANSACTION_REVERSED',
        json(500, { code: 'TRANSACTION_REVERSED' }),
        unknown('http 500 TRANSACTION_REVERSED'),
      ],
      ['500 with a new code', json(500, { code: 'NEW_CODE' }), unknown('http 500 NEW_CODE')],
      ['500 without a body', raw(500, ''), unknown('http 500')],
      ['503', json(503, { code: 'SERVICE_UNAVAILABLE' }), unknown('http 503 SERVICE_UNAVAILABLE')],
      ['429', raw(429, ''), unknown('http 429')],
      ['200 with a page', raw(200, '<html>'), unknown('http 200')],
      ['200 with broken JSON', raw(200, '{"code": ', 'application/json'), unknown('http 200')],
      ['404 without a body', raw(404, ''), unknown('http 404')],
      ['a cut connection', cut, unknown('connection failed: UND_ERR_SOCKET')],
      ['half a body', halfBody(400, '{"code": "NOT_ALLOWED"}'), unknown('connection failed: UND_ERR_SOCKET')],
      ['no answer', silence, unknown(`timed out after ${TIMEOUT_MS} ms`)],
    ];
    for (const kind of KINDS) {
      for (const [what, reply, outcome] of cases) {
        it(`${kind}, ${what}: ${outcome.kind}`, async () => {
          await meet(reply);
          assert.deepEqual(await sends[kind](), outcome);
        });
      }
    }

    it('404 RESOURCE_NOT_FOUND refuses a refund, whose collection is not there, and says nothing of a payout', async () => {
      stub.set({ call: json(404, { code: 'RESOURCE_NOT_FOUND' }) });
      assert.deepEqual(await sends.refund(), refused('operator_rejected', 'RESOURCE_NOT_FOUND'));
      assert.deepEqual(await sends.payout(), unknown('http 404 RESOURCE_NOT_FOUND'));
    });

    it('is never refused by a status that is not a refusal, whatever the body says', async () => {
      const code = fc.oneof(fc.constantFrom('NOT_ALLOWED', 'PAYEE_NOT_FOUND', 'NOT_ENOUGH_FUNDS'), fc.string());
      const status = fc
        .integer({ min: 200, max: 599 })
        .filter((number) => ![204, 205, 304, 400, 403, 500].includes(number));
      await fc.assert(
        fc.asyncProperty(status, code, async (number, text) => {
          stub.set({ call: json(number, { code: text }) });
          assert.notEqual((await sends.payout()).kind, 'refused');
        }),
        { numRuns: 60 },
      );
    });
  });

  describe('what it makes of a status', () => {
    const unknown = (reason: string): StatusOutcome => ({ kind: 'unknown', reason });
    const failed = (reason?: unknown) => json(200, { ...PAID, status: 'FAILED', reason });
    const paid = { amount: '500', currency: 'UGX' };
    const cases: [string, Reply, StatusOutcome][] = [
      ['SUCCESSFUL', json(200, PAID), { kind: 'succeeded', receipt: '363440463', paid }],
      ['PENDING', json(200, { externalId: REFERENCE, status: 'PENDING' }), { kind: 'pending' }],
      [
        'FAILED for our float',
        failed('NOT_ENOUGH_FUNDS'),
        { kind: 'failed', code: 'operator_unavailable', operatorCode: 'NOT_ENOUGH_FUNDS' },
      ],
      [
        'FAILED for the payee',
        failed({ code: 'PAYEE_NOT_FOUND', message: 'x' }),
        { kind: 'failed', code: 'payer_not_found', operatorCode: 'PAYEE_NOT_FOUND' },
      ],
      ['FAILED for a limit', failed('PAYER_LIMIT_REACHED'), limitReached()],
      ['FAILED without a reason', failed(), { kind: 'failed', code: 'operator_rejected', operatorCode: 'UNSPECIFIED' }],
      ['returned', json(200, RETURNED), { kind: 'returned', receipt: '363440463', paid }],
      [
        'returned, in a string',
        json(200, { ...RETURNED, reason: 'Transaction reversed' }),
        { kind: 'returned', receipt: '363440463', paid },
      ],
      [
        'returned without a receipt',
        json(200, { ...RETURNED, financialTransactionId: undefined }),
        unknown('returned, but no receipt says that it was paid'),
      ],
      [
        'returned with an odd receipt',
        json(200, { ...RETURNED, financialTransactionId: '<b>' }),
        unknown('returned, but no receipt says that it was paid'),
      ],
      [
        'returned without an amount',
        json(200, { ...RETURNED, amount: undefined }),
        unknown('returned, but the amount is not understood'),
      ],
      [
        'returned of another payment',
        json(200, { ...RETURNED, externalId: ORIGINAL }),
        unknown('status of another payment'),
      ],
      ['404 of the API', json(404, { code: 'RESOURCE_NOT_FOUND' }), { kind: 'not_found' }],
      ["404 of a proxy's page", raw(404, '<html>Not Found</html>'), unknown('http 404')],
      ['200 with half of the JSON', raw(200, JSON.stringify(PAID).slice(0, -9)), unknown('status not understood')],
      ['500', json(500, { code: 'INTERNAL_PROCESSING_ERROR' }), unknown('http 500 INTERNAL_PROCESSING_ERROR')],
      ['503', raw(503, ''), unknown('http 503')],
      ['a cut connection', cut, unknown('connection failed: UND_ERR_SOCKET')],
      ['no answer', silence, unknown(`timed out after ${TIMEOUT_MS} ms`)],
    ];
    function limitReached(): StatusOutcome {
      return { kind: 'failed', code: 'payer_limit_reached', operatorCode: 'PAYER_LIMIT_REACHED' };
    }
    for (const kind of KINDS) {
      for (const [what, reply, outcome] of cases) {
        it(`${kind}, ${what}: ${outcome.kind}`, async () => {
          await meet(reply);
          assert.deepEqual(await statuses[kind](), outcome);
        });
      }
    }

    it('a collection that was reversed is returned too', async () => {
      stub.set({ call: json(200, RETURNED) });
      assert.deepEqual(await operator.getCollectionStatus(REFERENCE), { kind: 'returned', receipt: '363440463', paid });
    });
  });

  it('names a payout or a refund by the externalId of its callback', () => {
    const payee = { partyIdType: 'MSISDN', partyId: '233244123456' };
    assert.deepEqual(operator.parseCallback({ ...PAID, payee }), { operatorReference: REFERENCE });
    assert.deepEqual(operator.parseCallback({ ...RETURNED, payee }), { operatorReference: REFERENCE });
  });
});
