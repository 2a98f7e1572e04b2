// The Daraja adapter's refunds, which M-Pesa calls reversals, the questions about them, and what it makes of the responses.
import assert from 'node:assert/strict';
import type { RefundRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { sentAs } from '../../support/sent-payment.ts';
import { inTurn } from '../stub-operator.ts';
import { RECEIPT, REFERENCE, REVERSAL_ID } from './samples.ts';
import {
  decrypted,
  errorOf,
  itMaps,
  NO_ANSWERS,
  QUERY_ID,
  requestAccepted,
  unknown,
  unprocessed,
  useDarajaWire,
  type Case,
} from './wire-harness.ts';

const ORIGINAL = '7d9f3c52-1f0e-4b7a-8c1d-ba9876543210';
/** Both ids in the response are Daraja's. */
const accepted = (changes: object = {}) => requestAccepted({ OriginatorConversationID: REVERSAL_ID, ...changes });

describe("the Daraja adapter's refunds", () => {
  const wire = useDarajaWire();

  const refund = (changes: Partial<RefundRequest> = {}): Promise<SendOutcome> =>
    wire.operator.refundCollection({
      operatorReference: REFERENCE,
      originalOperatorReference: ORIGINAL,
      originalReceipt: RECEIPT,
      money: { amountMinor: 50_000n, currency: 'KES' },
      note: 'Order 17',
      ...changes,
    });
  const ask = (issuedId: string | null = REVERSAL_ID): Promise<StatusOutcome> =>
    wire.operator.getRefundStatus({
      ...sentAs(REFERENCE),
      issuedId,
      queryId: QUERY_ID,
      originalOperatorReference: ORIGINAL,
    });

  it('name the collection by its receipt, and have the encrypted password of the initiator', async () => {
    wire.reply(accepted());
    await refund();
    const [call] = wire.stub.calls();
    const body = JSON.parse(call?.body ?? '') as Record<string, string>;
    assert.equal(call?.path, '/mpesa/reversal/v1/request');
    assert.deepEqual([body['TransactionID'], body['Amount'], body['ReceiverParty']], [RECEIPT, '500', '174379']);
    assert.equal(decrypted(body['SecurityCredential'] ?? ''), 'Safaricom#1');
  });

  it('are not sent without a receipt, in another currency, or for a part of a shilling', async () => {
    assert.deepEqual(await refund({ originalReceipt: null }), unprocessed('not sent: no receipt of the collection'));
    const other = unprocessed('not sent: of another market, or no whole shillings', 'account');
    assert.deepEqual(await refund({ money: { amountMinor: 50_001n, currency: 'KES' } }), other);
    assert.deepEqual(await refund({ money: { amountMinor: 500n, currency: 'UGX' } }), other);
    assert.deepEqual(wire.stub.received, []);
  });

  it('renew a refused token once', async () => {
    wire.reply(inTurn(errorOf(404, '404.001.03'), accepted()));
    assert.deepEqual(await refund(), { kind: 'accepted', issuedId: REVERSAL_ID });
    assert.equal(wire.stub.tokenRequests(), 2);
  });

  describe('reading the response to a send', () => {
    const cases: readonly Case<SendOutcome>[] = [
      ['0', accepted(), { kind: 'accepted', issuedId: REVERSAL_ID }],
      ['0 without an id', accepted({ OriginatorConversationID: 7 }), { kind: 'accepted' }],
      ['1', accepted({ ResponseCode: '1' }), unknown('http 200')],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, () => refund());
  });

  describe('asking for the status', () => {
    const cases: readonly Case<StatusOutcome>[] = [
      ['0', accepted({ OriginatorConversationID: '3213-416199-2' }), { kind: 'asked' }],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, () => ask());

    it('needs the id that Daraja issued, and that of a recorded query', async () => {
      assert.deepEqual(await ask(null), unprocessed('not asked: no id of the refund'));
      const unrecorded = { ...sentAs(REFERENCE), issuedId: REVERSAL_ID, originalOperatorReference: ORIGINAL };
      const outcome = await wire.operator.getRefundStatus(unrecorded);
      assert.deepEqual(outcome, unprocessed('not asked: no address for the answer'));
      assert.deepEqual(wire.stub.received, []);
    });
  });
});
