// The MTN MoMo adapter's payouts and refunds against responses that no sandbox sends: what may be accepted is never
// refused.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { inTurn, json, raw, type Reply } from '../stub-operator.ts';
import {
  assertFirstSend,
  busy,
  cut,
  PAID,
  REFERENCE,
  FAILED_UNLISTED,
  noAnswer,
  refused,
  SEND_CASES,
  silence,
  TIMEOUT_MS,
  unknown,
  useMtnWire,
  type Case,
  errorOf,
  failed,
  failedAs,
  itMaps,
} from './wire-harness.ts';
import { ONE_CALL, sentAs } from '../../support/sent-payment.ts';

const ORIGINAL = randomUUID();
const RETURNED = { ...PAID, status: 'FAILED', reason: { code: 'TRANSACTION_REVERSED', message: 'x' } };
const returnedWith = (changes: object): Reply => json(200, { ...RETURNED, ...changes });

const FLOAT_LOW = { isFloatLow: true } as const;

describe("the MTN adapter's payouts and refunds", () => {
  const wire = useMtnWire();
  const money = { amountMinor: 1050n, currency: 'GHS' } as const;

  const of = { originalOperatorReference: ORIGINAL, originalReceipt: '363440463' };
  const sends: Readonly<Record<'payout' | 'refund', () => Promise<SendOutcome>>> = {
    payout: () =>
      wire.operator.sendPayout({
        operatorReference: REFERENCE,
        phone: '233244123456',
        money,
        payeeMessage: "Ama's wages",
      }),
    refund: () =>
      wire.operator.refundCollection({
        operatorReference: REFERENCE,
        ...of,
        money,
        note: "Ama's refund",
      }),
  };
  const statuses: Readonly<Record<'payout' | 'refund', () => Promise<StatusOutcome>>> = {
    payout: () => wire.operator.getPayoutStatus(sentAs(REFERENCE)),
    refund: () => wire.operator.getRefundStatus({ ...sentAs(REFERENCE), ...of }),
  };
  const KINDS = ['payout', 'refund'] as const;

  describe('the requests', () => {
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
      it(`contain a ${kind} with the token, the key and all that MTN requires of a disbursement`, async () => {
        assert.deepEqual(await sends[kind](), { kind: 'accepted' });
        const { path, fields, note } = expected[kind];
        assert.deepEqual(assertFirstSend(wire.stub, path, 'out'), {
          amount: '10.50',
          currency: 'GHS',
          externalId: REFERENCE,
          payerMessage: note,
          payeeNote: note,
          ...fields,
        });
      });

      it(`query the status of a ${kind} by its own reference`, async () => {
        await statuses[kind]();
        const queries = wire.stub.calls().map(({ method, path }) => `${method} ${path}`);
        assert.deepEqual(queries, [`GET ${expected[kind].path}/${REFERENCE}`]);
      });
    }

    it('use separate tokens for collections and disbursements', async () => {
      await wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
      await wire.operator.getPayoutStatus(sentAs(REFERENCE));
      await wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);
      await wire.operator.getRefundStatus({ ...sentAs(REFERENCE), ...of });
      assert.deepEqual(
        wire.stub.received.map(({ path, headers }) => `${path.split('/')[1]} ${headers.authorization?.split(' ')[0]}`),
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

    it('replace a refused token once, and repeat the payout with the same reference', async () => {
      wire.stub.set({ call: inTurn(raw(401, ''), raw(202, '')) });
      assert.deepEqual(await sends.payout(), { kind: 'accepted' });
      const references = wire.stub.calls().map(({ headers }) => headers['x-reference-id']);
      assert.deepEqual(references, [REFERENCE, REFERENCE]);
    });
  });

  describe('reading the response to a send', () => {
    const cases: readonly Case<SendOutcome>[] = [
      ...SEND_CASES,
      ['500 PAYEE_NOT_FOUND', errorOf(500, 'PAYEE_NOT_FOUND'), refused('payer_not_found', 'PAYEE_NOT_FOUND')],
      [
        '500 PAYEE_NOT_ALLOWED_TO_RECEIVE',
        errorOf(500, 'PAYEE_NOT_ALLOWED_TO_RECEIVE'),
        refused('operator_rejected', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'),
      ],
      [
        '500 NOT_ENOUGH_FUNDS',
        errorOf(500, 'NOT_ENOUGH_FUNDS'),
        { ...refused('operator_unavailable', 'NOT_ENOUGH_FUNDS'), ...FLOAT_LOW },
      ],
      [
        '500 INTERNAL_PROCESSING_ERROR',
        json(500, { code: 'INTERNAL_PROCESSING_ERROR', message: 'No funds' }),
        unknown('http 500 INTERNAL_PROCESSING_ERROR'),
      ],
      ['500 TRANSACTION_REVERSED', errorOf(500, 'TRANSACTION_REVERSED'), unknown('http 500 TRANSACTION_REVERSED')],
      ['200 with a page', raw(200, '<html>'), unknown('http 200')],
      ['200 with broken JSON', raw(200, '{"code": ', 'application/json'), unknown('http 200')],
    ];
    for (const kind of KINDS) itMaps(wire, cases, sends[kind], ` for a ${kind}`);

    it('refuses a refund without its collection by 404 RESOURCE_NOT_FOUND, and leaves a payout unknown', async () => {
      wire.stub.set({ call: errorOf(404, 'RESOURCE_NOT_FOUND') });
      assert.deepEqual(await sends.refund(), refused('operator_rejected', 'RESOURCE_NOT_FOUND'));
      assert.deepEqual(await sends.payout(), unknown('http 404 RESOURCE_NOT_FOUND'));
    });

    it('never maps an HTTP status that is no refusal to refused, whatever the body', async () => {
      const code = fc.oneof(fc.constantFrom('NOT_ALLOWED', 'PAYEE_NOT_FOUND', 'NOT_ENOUGH_FUNDS'), fc.string());
      const status = fc
        .integer({ min: 200, max: 599 })
        .filter((number) => ![204, 205, 304, 400, 403, 500].includes(number));
      await fc.assert(
        fc.asyncProperty(status, code, async (number, text) => {
          wire.stub.set({ call: json(number, { code: text }) });
          assert.notEqual((await sends.payout()).kind, 'refused');
        }),
        { numRuns: 60 },
      );
    });
  });

  describe('reading the response to a status query', () => {
    const receipt = { receipt: '363440463', paid: { amount: '500', currency: 'UGX' } };
    const returned = { kind: 'returned', ...receipt } as const;
    const cases: readonly Case<StatusOutcome>[] = [
      ['SUCCESSFUL', json(200, PAID), { kind: 'succeeded', ...receipt }],
      ['PENDING', json(200, { externalId: REFERENCE, status: 'PENDING' }), { kind: 'pending' }],
      [
        'PENDING with a payee',
        json(200, {
          externalId: REFERENCE,
          status: 'PENDING',
          payee: { partyIdType: 'MSISDN', partyId: '256772123456' },
        }),
        { kind: 'pending', phone: '256772123456' },
      ],
      [
        'FAILED for our float',
        failed('NOT_ENOUGH_FUNDS'),
        { ...failedAs('operator_unavailable', 'NOT_ENOUGH_FUNDS'), ...FLOAT_LOW },
      ],
      [
        'FAILED for the payee',
        failed({ code: 'PAYEE_NOT_FOUND', message: 'x' }),
        failedAs('payer_not_found', 'PAYEE_NOT_FOUND'),
      ],
      ['FAILED for a limit', failed('PAYER_LIMIT_REACHED'), failedAs('payer_limit_reached', 'PAYER_LIMIT_REACHED')],
      ['FAILED without a reason', failed(), FAILED_UNLISTED],
      ['returned', json(200, RETURNED), returned],
      ['returned with a string as reason', returnedWith({ reason: 'Transaction reversed' }), returned],
      [
        'returned without a receipt',
        returnedWith({ financialTransactionId: undefined }),
        { kind: 'paid_unreadable', receipt: null, reason: 'returned, but no receipt says that it was paid' },
      ],
      [
        'returned with an invalid receipt',
        returnedWith({ financialTransactionId: '<b>' }),
        { kind: 'paid_unreadable', receipt: null, reason: 'returned, but no receipt says that it was paid' },
      ],
      [
        'returned without an amount',
        returnedWith({ amount: undefined }),
        { kind: 'paid_unreadable', receipt: returned.receipt, reason: 'returned, but the amount is not understood' },
      ],
      ['returned of another payment', returnedWith({ externalId: ORIGINAL }), unknown('status of another payment')],
      ['404 of the API', errorOf(404, 'RESOURCE_NOT_FOUND'), { kind: 'not_found' }],
      ["404 of a proxy's page", raw(404, '<html>Not Found</html>'), unknown('http 404')],
      ['200 with half of the JSON', raw(200, JSON.stringify(PAID).slice(0, -9)), unknown('status not understood')],
      ['500', errorOf(500, 'INTERNAL_PROCESSING_ERROR'), unknown('http 500 INTERNAL_PROCESSING_ERROR')],
      ['503', raw(503, ''), busy('http 503')],
      ['a cut connection', cut, noAnswer('connection failed: UND_ERR_SOCKET')],
      ['no response', silence, noAnswer(`timed out after ${TIMEOUT_MS} ms`)],
    ];
    for (const kind of KINDS) itMaps(wire, cases, statuses[kind], ` for a ${kind}`);

    it('maps the reversal of a collection to returned too', async () => {
      wire.stub.set({ call: json(200, RETURNED) });
      assert.deepEqual(await wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL), returned);
    });
  });

  it('are identified by the externalId of their callbacks', () => {
    const payee = { partyIdType: 'MSISDN', partyId: '233244123456' };
    assert.deepEqual(wire.operator.parseCallback({ ...PAID, payee }), { operatorReference: REFERENCE });
    assert.deepEqual(wire.operator.parseCallback({ ...RETURNED, payee }), { operatorReference: REFERENCE });
  });
});
