// The Airtel adapter's refunds: what each response proves of a refund that has no id and is sent once.
import assert from 'node:assert/strict';
import type { RefundRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { halfBody, inTurn, json, raw } from '../stub-operator.ts';
import {
  answered,
  enquired,
  ID,
  itMaps,
  ofAccount,
  PUBLISHED,
  REFERENCE,
  signedBytes,
  taken,
  unknown,
  useAirtelWire,
  type Case,
} from './wire-harness.ts';
import { until } from '../../sandbox/sandbox-harness.ts';
import { sentAs } from '../../support/sent-payment.ts';

const RECEIPT = 'CI241118.1531.A12345';
const OWN = '7d9f3c52-1f0e-4b7a-8c1d-ba9876543210';
const BODY = `{"transaction":{"airtel_money_id":"${RECEIPT}"}}`;

describe("the Airtel adapter's refunds", () => {
  const wire = useAirtelWire();

  const refund = (changes: Partial<RefundRequest> = {}): Promise<SendOutcome> =>
    wire.operator.refundCollection({
      operatorReference: OWN,
      originalOperatorReference: REFERENCE,
      originalReceipt: RECEIPT,
      money: { amountMinor: 500n, currency: 'UGX' },
      note: 'Order 17',
      ...changes,
    });
  const getStatus = (): Promise<StatusOutcome> =>
    wire.operator.getRefundStatus({ ...sentAs(OWN), originalOperatorReference: REFERENCE });
  /** As in Airtel's own example of a refund that succeeded. */
  const example = (transaction: Record<string, unknown> = {}, success = false) =>
    json(200, {
      data: { transaction: { airtel_money_id: RECEIPT, status: 'SUCCESS', ...transaction } },
      status: { code: '200', message: 'SUCCESS', result_code: 'ESB000010', success },
    });

  it('name the collection by its receipt alone, and are signed', async () => {
    wire.reply(example());
    assert.deepEqual(await refund(), { kind: 'accepted' });
    const [call] = wire.calls();
    assert.equal(`${call?.method} ${call?.path}`, 'POST /standard/v2/payments/refund');
    assert.equal(call?.body, BODY);
    assert.equal(signedBytes(call.headers), BODY);
  });

  it('are not sent without a receipt of Airtel: our reference that stands for one is none', async () => {
    const notSent = { ...unknown('not sent: no receipt of the collection'), isUnprocessed: true };
    for (const originalReceipt of [null, REFERENCE]) assert.deepEqual(await refund({ originalReceipt }), notSent);
    assert.deepEqual(wire.stub.received, []);
  });

  it('are sent again only after their token or signature was refused', async () => {
    wire.reply(inTurn(raw(401, ''), example()));
    assert.deepEqual(await refund(), { kind: 'accepted' });
    wire.reply(inTurn(answered(false, { response_code: 'DP00800001026' }), example()));
    assert.deepEqual(await refund(), { kind: 'accepted' });
    assert.equal(wire.calls().length, 4);
    for (const reply of [
      raw(500, ''),
      raw(503, ''),
      halfBody(200, BODY),
      answered(false, { result_code: 'ESB000008' }),
    ]) {
      const before = wire.calls().length;
      wire.reply(reply);
      const outcome = await refund();
      assert.ok(outcome.kind === 'unknown' && outcome.isUnprocessed === undefined, JSON.stringify(outcome));
      assert.equal(wire.calls().length, before + 1);
    }
  });

  it('are not processed if no byte of them was sent: without a token or a key', async () => {
    wire.replyToKeys(json(200, {}));
    const keyless = await refund();
    assert.ok(keyless.kind === 'unknown' && keyless.isUnprocessed === true, JSON.stringify(keyless));
    wire.replyToKeys(PUBLISHED);
    await wire.timeOutEarly();
    wire.replyToKeys(() => undefined);
    const late = await refund();
    assert.ok(late.kind === 'unknown' && late.isUnprocessed === true, JSON.stringify(late));
    assert.equal(wire.calls().length, 0);
  });

  it('may have been processed if their answer does not come in time', async () => {
    await wire.timeOutEarly();
    wire.reply(() => undefined);
    // On a busy machine the time may be over before the request leaves.
    const outcome = await until(
      () => refund(),
      ({ kind }) => kind === 'unknown' && wire.calls().length > 0,
    );
    assert.ok(outcome.kind === 'unknown' && outcome.isUnprocessed === undefined, JSON.stringify(outcome));
    assert.equal(wire.calls().length, 1);
  });

  describe('reading the response to a send', () => {
    const unprocessed = (outcome: SendOutcome) => ({ ...outcome, isUnprocessed: true }) as SendOutcome;
    const refused = (operatorCode: string): SendOutcome => ({
      kind: 'refused',
      code: 'operator_rejected',
      operatorCode,
    });
    const cases: readonly Case<SendOutcome>[] = [
      ['success, said twice', example({}, true), { kind: 'accepted' }],
      ['success without the receipt', example({ airtel_money_id: undefined }), { kind: 'accepted' }],
      ['006, in process', taken(), { kind: 'accepted' }],
      ['the refund of another collection', example({ airtel_money_id: 'CI9' }), unknown('http 200 ESB000010')],
      ['a word that is not listed', example({ status: 'DONE' }), unknown('http 200 ESB000010')],
      ['ESB000045', answered(false, { result_code: 'ESB000045' }), refused('ESB000045')],
      ['404 with 025', answered(false, { response_code: 'DP00800001025' }, 404), refused('DP00800001025')],
      ['025 with success', answered(true, { response_code: 'DP00800001025' }), unknown('http 200 DP00800001025')],
      ['ESB000041, an id of ours', answered(false, { result_code: 'ESB000041' }), unknown('http 200 ESB000041')],
      ['007, of a payer', answered(false, { response_code: 'DP00800001007' }), unknown('http 200 DP00800001007')],
      ['010, our wallet', answered(false, { response_code: 'DP00800001010' }), ofAccount('http 200 DP00800001010')],
      ['ROUTER006', answered(false, { result_code: 'ROUTER006' }), ofAccount('http 200 ROUTER006')],
      ['026', answered(false, { response_code: 'DP00800001026' }), unprocessed(ofAccount('http 200 DP00800001026'))],
      ['401', raw(401, ''), unprocessed(ofAccount('http 401'))],
      ['403', raw(403, ''), ofAccount('http 403')],
      ['429', raw(429, ''), unprocessed({ ...unknown('http 429'), cause: 'busy' })],
      ['503', raw(503, ''), { ...unknown('http 503'), cause: 'busy' }],
      [
        'success at 500',
        answered(true, { result_code: 'ESB000010' }, 500),
        { ...unknown('http 500 ESB000010'), cause: 'no_answer' },
      ],
      ['a page of a proxy', raw(404, '<html></html>'), unknown('http 404')],
    ];
    itMaps(wire, cases, () => refund(), assert.deepEqual);
  });

  describe('reading the enquiry of the collection', () => {
    const open = unknown('the collection is not returned');
    const cases: readonly Case<StatusOutcome>[] = [
      ['TR', enquired({ status: 'TR' }), { kind: 'succeeded', receipt: null }],
      [
        'TR with its money',
        enquired({ status: 'TR', amount: 500, currency: 'UGX' }),
        { kind: 'succeeded', receipt: null, paid: { amount: '500', currency: 'UGX' } },
      ],
      ['TS, still paid', enquired({ status: 'TS', airtel_money_id: RECEIPT }), open],
      ['TIP', enquired({ status: 'TIP' }), open],
      ['TF', enquired({ status: 'TF' }), open],
      ['TE', enquired({ status: 'TE' }), open],
      ['a word that is not listed', enquired({ status: 'TX' }), open],
      ['ESB000045', answered(false, { result_code: 'ESB000045' }), open],
      [
        'TR of another payment',
        enquired({ id: `${ID.slice(0, -1)}4`, status: 'TR' }),
        unknown('status of another payment'),
      ],
      ['403', raw(403, ''), { ...unknown('http 403'), cause: 'account' }],
    ];
    itMaps(wire, cases, getStatus, assert.deepEqual);
  });
});
