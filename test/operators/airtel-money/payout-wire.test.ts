// The Airtel adapter's payouts byte for byte, and what it makes of responses that no sandbox sends.
import assert from 'node:assert/strict';
import { operatorStatusOf } from '../../../src/operators/operator-status.ts';
import type { SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { inTurn } from '../stub-operator.ts';
import {
  answered,
  decrypted,
  enquired,
  ID,
  itMaps,
  ofAccount,
  REFERENCE,
  signedBytes,
  taken,
  unknown,
  useAirtelWire,
  type Case,
} from './wire-harness.ts';
import { sentAs } from '../../support/sent-payment.ts';

const ACCEPTED = taken('DP00900001006');

describe("the Airtel adapter's payouts", () => {
  const wire = useAirtelWire();

  const sendPayout = (): Promise<SendOutcome> =>
    wire.operator.sendPayout({
      operatorReference: REFERENCE,
      phone: '256752123456',
      money: { amountMinor: 500n, currency: 'UGX' },
      payeeMessage: "Amina's wages",
    });
  const getStatus = (): Promise<StatusOutcome> => wire.operator.getPayoutStatus(sentAs(REFERENCE));
  const pinIn = (body: string) => decrypted((JSON.parse(body) as { pin: string }).pin);

  it('have the encrypted PIN of our wallet, and are signed as they are sent', async () => {
    wire.reply(ACCEPTED);
    assert.deepEqual(await sendPayout(), { kind: 'accepted' });
    const [call] = wire.calls();
    assert.equal(`${call?.method} ${call?.path}`, 'POST /standard/v2/disbursements/');
    assert.equal(
      call?.body.replace(/"pin":"[^"]+"/, '"pin":"…"'),
      `{"payee":{"msisdn":"752123456","currency":"UGX"},"reference":"Aminas wages","pin":"…","transaction":{"amount":500,"id":"${ID}","type":"B2C"}}`,
    );
    assert.equal(pinIn(call.body), '2580');
    assert.equal(signedBytes(call.headers), call.body);
  });

  it('are encrypted again with the key that is fetched after a refused signature', async () => {
    wire.reply(inTurn(answered(false, { response_code: 'DP00900001016' }), ACCEPTED));
    assert.deepEqual(await sendPayout(), { kind: 'accepted' });
    assert.equal(wire.keyRequests(), 2);
    const bodies = wire.calls().map(({ body }) => body);
    assert.deepEqual(bodies.map(pinIn), ['2580', '2580']);
    assert.notEqual(bodies[0], bodies[1]);
  });

  describe('reading the response to a send', () => {
    const refused = (ending: string) => answered(false, { response_code: `DP00900001${ending}` });
    const as = (code: string, ending: string) =>
      ({ kind: 'refused', code, operatorCode: `DP00900001${ending}` }) as SendOutcome;
    const cases: readonly Case<SendOutcome>[] = [
      ['001, done', taken('DP00900001001'), { kind: 'accepted' }],
      ['003', refused('003'), as('payer_limit_reached', '003')],
      ['004', refused('004'), as('amount_not_allowed', '004')],
      ['005', refused('005'), as('operator_rejected', '005')],
      ['007, our float', refused('007'), { ...as('operator_unavailable', '007'), isFloatLow: true } as SendOutcome],
      ['009', refused('009'), as('payer_not_found', '009')],
      ['012', refused('012'), as('payer_not_found', '012')],
      ['013', refused('013'), as('operator_rejected', '013')],
      ['010', refused('010'), ofAccount('http 200 DP00900001010')],
      ['000', refused('000'), unknown('http 200 DP00900001000')],
      ['011, one like it', refused('011'), unknown('http 200 DP00900001011')],
      ['014', refused('014'), unknown('http 200 DP00900001014')],
      ['015', refused('015'), unknown('http 200 DP00900001015')],
      ['017, a known id', refused('017'), { kind: 'accepted', isRepeated: true }],
      ['a code of collections', refused('008'), unknown('http 200 DP00900001008')],
    ];
    itMaps(wire, cases, sendPayout, assert.deepEqual);
  });

  describe('reading the response to an enquiry', () => {
    const failed = (ending: string) => enquired({ status: 'TF' }, { response_code: `DP00900001${ending}` });
    const cases: readonly Case<StatusOutcome>[] = [
      ['TS', enquired({ status: 'TS', airtel_money_id: 'CI1' }), { kind: 'succeeded', receipt: 'CI1' }],
      ['TF with 012', failed('012'), { kind: 'failed', code: 'payer_not_found', operatorCode: 'DP00900001012' }],
      [
        'TF with 007, our float',
        failed('007'),
        { kind: 'failed', code: 'operator_unavailable', operatorCode: 'DP00900001007', isFloatLow: true },
      ],
      ['TE', enquired({ status: 'TE' }), { kind: 'failed', code: 'operator_rejected', operatorCode: 'TE' }],
      ['015', answered(false, { response_code: 'DP00900001015' }), { kind: 'not_found' }],
    ];
    itMaps(wire, cases, getStatus, assert.deepEqual);
  });

  it('that were returned have the receipt that is on record, and are for a person without one', async () => {
    wire.reply(enquired({ status: 'TR' }));
    const requested = { amountMinor: 500n, currency: 'UGX', phone: '256752123456' } as const;
    const returned = await getStatus();
    assert.deepEqual(operatorStatusOf(returned, { ...requested, operatorReceipt: 'CI1' }), {
      kind: 'returned',
      operatorReceipt: 'CI1',
    });
    const unproven = { kind: 'paid_otherwise', operatorReceipt: null, reported: null };
    assert.deepEqual(operatorStatusOf(returned, { ...requested, operatorReceipt: null }), unproven);
  });

  it('that were paid as nobody says how much are paid as requested', async () => {
    wire.reply(enquired({ status: 'TS', airtel_money_id: 'CI1' }));
    const requested = { amountMinor: 500n, currency: 'UGX', phone: '256752123456' } as const;
    assert.deepEqual(operatorStatusOf(await getStatus(), requested), { kind: 'paid', operatorReceipt: 'CI1' });
    wire.reply(enquired({ status: 'TS', airtel_money_id: 'CI1', amount: 501, currency: 'UGX' }));
    assert.equal(operatorStatusOf(await getStatus(), requested).kind, 'paid_otherwise');
  });
});
