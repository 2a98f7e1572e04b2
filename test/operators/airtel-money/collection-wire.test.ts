// The Airtel adapter's collections byte for byte, and what it makes of responses that no sandbox sends.
import assert from 'node:assert/strict';
import type { PromptRequest, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { signatureOf } from '../../../src/operators/airtel-money/signing.ts';
import { halfBody, inTurn, json, raw } from '../stub-operator.ts';
import {
  answered,
  decrypted,
  enquired,
  ID,
  itMaps,
  ofAccount,
  publicKey,
  PUBLISHED,
  REFERENCE,
  signedBytes,
  taken,
  TIMEOUT_MS,
  unknown,
  useAirtelWire,
  type Case,
} from './wire-harness.ts';
import { ONE_CALL, sentAs } from '../../support/sent-payment.ts';

const BODY = `{"reference":"Order 17","subscriber":{"country":"UG","currency":"UGX","msisdn":"752123456"},"transaction":{"amount":500,"country":"UG","currency":"UGX","id":"${ID}"}}`;
/** Made by `openssl enc -aes-256-cbc` with the bytes 0 to 31 as the key and 0 to 15 as the vector. */
const SIGNATURE =
  '3PFP2258o5qRljr9Pejx1CMxFnN39oooRvh9qJC/lcClVdPyE3wAsIvGVfx4GHKcLCZF1/xrJ7Kh0RlOR4cLkGQakpIi+KM2p0FBT4ZrCa94TxSR5joHipab+UWzWkElBzVHeV9uDh3Bx0vAzTF19jZhei2q+vKi3GzDZxwi40qVkRvr2H2TTbcAsShqYXbsqdk9txYFg44Ls9yilamewzIpfDvYvuy8P6c5L9OcJ9179EI/dDbk/7TCUespoWFT';

describe("the Airtel adapter's collections", () => {
  const wire = useAirtelWire();

  function raisePrompt(changes: Partial<PromptRequest> = {}): Promise<SendOutcome> {
    return wire.operator.raisePrompt({
      operatorReference: REFERENCE,
      phone: '256752123456',
      money: { amountMinor: 500n, currency: 'UGX' },
      payerMessage: 'Order 17',
      ...changes,
    });
  }

  const getStatus = (): Promise<StatusOutcome> => wire.operator.getCollectionStatus(sentAs(REFERENCE), ONE_CALL);

  describe('its requests', () => {
    it('get a token and the key, and are signed, byte for byte', async () => {
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      const [token, keys, call] = wire.stub.received;
      assert.equal(`${token?.method} ${token?.path}`, 'POST /auth/oauth2/token');
      assert.equal(
        token?.body,
        '{"client_id":"the-client","client_secret":"the-secret","grant_type":"client_credentials"}',
      );
      assert.equal(`${keys?.method} ${keys?.path}`, 'GET /v1/rsa/encryption-keys');
      assert.equal(`${call?.method} ${call?.path}`, 'POST /merchant/v2/payments/');
      for (const one of [keys, call]) {
        assert.equal(one?.headers['x-country'], 'UG');
        assert.equal(one.headers['x-currency'], 'UGX');
        assert.equal(one.headers.authorization, 'Bearer token-1');
      }
      assert.equal(call?.headers['content-type'], 'application/json');
      assert.equal(call.body, BODY);
      assert.equal(signedBytes(call.headers), BODY);
    });

    it('have the signature that other programs make with the same key, and another key each time', async () => {
      const secrets = {
        key: Buffer.from(Array.from({ length: 32 }, (_, n) => n)),
        iv: Buffer.from(Array.from({ length: 16 }, (_, n) => n)),
      };
      const headers = signatureOf(BODY, publicKey, secrets);
      assert.equal(headers['x-signature'], SIGNATURE);
      assert.equal(
        decrypted(headers['x-key']),
        'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=:AAECAwQFBgcICQoLDA0ODw==',
      );
      await raisePrompt();
      await raisePrompt();
      const keys = wire.calls().map((call) => decrypted(String(call.headers['x-key'])));
      assert.equal(new Set(keys).size, 2);
    });

    it('have the amount as a number with its decimals, exactly', async () => {
      const kenya = wire.open({ market: { country: 'KE', currency: 'KES', callingCode: '254' } });
      for (const amountMinor of [1050n, 1000n, 9_007_199_254_740_991n]) {
        await kenya.raisePrompt({
          operatorReference: REFERENCE,
          phone: '254733123456',
          money: { amountMinor, currency: 'KES' },
          payerMessage: 'x',
        });
      }
      await kenya.close();
      const amounts = wire.calls().map(({ body }) => /"amount":([^,]+),/.exec(body)?.[1]);
      assert.deepEqual(amounts, ['10.50', '10', '90071992547409.91']);
    });

    it('are not made for a phone or a currency of another market', async () => {
      const kenyan = await raisePrompt({ phone: '254733123456' });
      const other = await raisePrompt({ money: { amountMinor: 500n, currency: 'KES' } });
      for (const outcome of [kenyan, other]) assert.deepEqual(outcome, ofAccount('not sent: of another market'));
      assert.deepEqual(wire.stub.received, []);
    });

    it('share one request for the key, and fetch it again when the signature is refused', async () => {
      await Promise.all([raisePrompt(), raisePrompt(), raisePrompt()]);
      assert.equal(wire.keyRequests(), 1);
      wire.reply(inTurn(answered(false, { response_code: 'DP00800001026' }), taken()));
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      assert.equal(wire.keyRequests(), 2);
      assert.deepEqual(new Set(wire.calls().map(({ body }) => body)), new Set([BODY]));
    });

    it('are made no third time when the signature stays refused', async () => {
      wire.reply(answered(false, { response_code: 'DP00800001026' }));
      assert.deepEqual(await raisePrompt(), ofAccount('http 200 DP00800001026'));
      assert.equal(wire.calls().length, 2);
    });

    it('replace a refused token once', async () => {
      wire.reply(inTurn(raw(401, ''), taken()));
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
      assert.equal(wire.stub.tokenRequests(), 2);
      wire.reply(raw(401, ''));
      assert.deepEqual(await raisePrompt(), ofAccount('http 401'));
    });

    it('are not made without a key', async () => {
      const others = [raw(500, ''), json(200, {}), json(200, { data: { key: 'none' } })];
      for (const reply of others) {
        wire.replyToKeys(reply);
        assert.equal((await raisePrompt()).kind, 'unknown');
      }
      assert.equal(wire.calls().length, 0);
      wire.replyToKeys(PUBLISHED);
      assert.deepEqual(await raisePrompt(), { kind: 'accepted' });
    });
  });

  describe('reading the response to a send', () => {
    const refused = (ending: string) =>
      answered(false, { response_code: `DP00800001${ending}`, result_code: 'ESB000010' });
    const as = (code: string, ending: string) =>
      ({ kind: 'refused', code, operatorCode: `DP00800001${ending}` }) as SendOutcome;
    const cases: readonly Case<SendOutcome>[] = [
      ['006, in process', taken(), { kind: 'accepted' }],
      ['001, done', taken('DP00800001001'), { kind: 'accepted' }],
      ['002', refused('002'), as('wrong_pin', '002')],
      ['003', refused('003'), as('payer_limit_reached', '003')],
      ['004', refused('004'), as('amount_not_allowed', '004')],
      ['005', refused('005'), as('prompt_expired', '005')],
      ['007', refused('007'), as('insufficient_funds', '007')],
      ['008', refused('008'), as('payer_cancelled', '008')],
      ['009', refused('009'), as('operator_rejected', '009')],
      ['024', refused('024'), as('prompt_expired', '024')],
      ['029', refused('029'), as('prompt_expired', '029')],
      ['010', refused('010'), ofAccount('http 200 DP00800001010')],
      ['an ambiguous code', refused('000'), unknown('http 200 DP00800001000')],
      ['a code in process without success', refused('006'), unknown('http 200 DP00800001006')],
      ['a code that is not listed', refused('099'), unknown('http 200 DP00800001099')],
      ['a code of payouts', answered(false, { response_code: 'DP00900001012' }), unknown('http 200 DP00900001012')],
      ['success with a code that is not listed', taken('DP00800001077'), unknown('http 200 DP00800001077')],
      ['success with a code of refusal', taken('DP00800001007'), unknown('http 200 DP00800001007')],
      ['success without a code', answered(true, { result_code: 'ESB000010' }), unknown('http 200 ESB000010')],
      [
        'a code that is no text',
        answered(false, { response_code: 7, result_code: 'ESB000045' }),
        unknown('http 200 UNREADABLE'),
      ],
      ['a known id', answered(false, { result_code: 'ESB000041' }), { kind: 'accepted', isRepeated: true }],
      ['ESB000001', answered(false, { result_code: 'ESB000001' }), unknown('http 200 ESB000001')],
      ['ROUTER117', answered(false, { result_code: 'ROUTER117' }), unknown('http 200 ROUTER117')],
      ['ROUTER003', answered(false, { result_code: 'ROUTER003' }), ofAccount('http 200 ROUTER003')],
      ['ESB000036', answered(false, { result_code: 'ESB000036' }, 400), ofAccount('http 400 ESB000036')],
      [
        'a refusal with 500',
        answered(false, { response_code: 'DP00800001007' }, 500),
        { ...unknown('http 500 DP00800001007'), cause: 'no_answer' },
      ],
      [
        'success that is no boolean',
        json(200, { status: { success: 'true', response_code: 'DP00800001006' } }),
        unknown('http 200'),
      ],
      ['a page', raw(200, '<html></html>'), unknown('http 200')],
      ['403 of a firewall', raw(403, '<html></html>'), ofAccount('http 403')],
      ['429', raw(429, ''), { ...unknown('http 429'), cause: 'busy' }],
      [
        'half a body',
        halfBody(200, '{"status": {"success": false}}'),
        { ...unknown('connection failed: UND_ERR_SOCKET'), cause: 'no_answer' },
      ],
      [
        'a cut connection',
        (response) => response.destroy(),
        { ...unknown('connection failed: UND_ERR_SOCKET'), cause: 'no_answer' },
      ],
    ];
    itMaps(wire, cases, () => raisePrompt(), assert.deepEqual);

    it('returns unknown when the operator does not answer in time', async () => {
      await raisePrompt();
      await wire.timeOutEarly();
      wire.reply(() => undefined);
      assert.deepEqual(await raisePrompt(), { ...unknown(`timed out after ${TIMEOUT_MS} ms`), cause: 'no_answer' });
    });
  });

  describe('reading the response to an enquiry', () => {
    const failed = (ending: string) => enquired({ status: 'TF' }, { response_code: `DP00800001${ending}` });
    const failedAs = (code: string, ending: string) =>
      ({ kind: 'failed', code, operatorCode: `DP00800001${ending}` }) as StatusOutcome;
    const unlisted: StatusOutcome = { kind: 'unreadable', reason: 'failed, for a reason that is not listed' };
    const cases: readonly Case<StatusOutcome>[] = [
      ['TS', enquired({ status: 'TS', airtel_money_id: 'CI2411.18' }), { kind: 'succeeded', receipt: 'CI2411.18' }],
      ['TS without a receipt', enquired({ status: 'TS' }), { kind: 'succeeded', receipt: REFERENCE }],
      [
        'TS with its money',
        enquired({ status: 'TS', airtel_money_id: 7, amount: 500, currency: 'UGX' }),
        { kind: 'succeeded', receipt: '7', paid: { amount: '500', currency: 'UGX' } },
      ],
      ['TIP', enquired({ status: 'TIP' }), { kind: 'pending' }],
      ['TI', enquired({ status: 'TI' }), { kind: 'pending' }],
      ['TA', enquired({ status: 'TA' }), { kind: 'pending' }],
      ['TE', enquired({ status: 'TE' }), { kind: 'failed', code: 'prompt_expired', operatorCode: 'TE' }],
      ['TR', enquired({ status: 'TR' }), { kind: 'returned', receipt: null }],
      ['TF with 007', failed('007'), failedAs('insufficient_funds', '007')],
      ['TF with 010', failed('010'), failedAs('operator_unavailable', '010')],
      [
        'TF without a reason',
        enquired({ status: 'TF' }),
        { kind: 'failed', code: 'operator_rejected', operatorCode: 'TF' },
      ],
      ['TF with an open code', failed('000'), unlisted],
      ['TF with a code in process', failed('006'), unlisted],
      ['TF with a code that is not listed', failed('055'), unlisted],
      [
        'a word that is not listed',
        enquired({ status: 'TX' }),
        { kind: 'unreadable', reason: 'status word not known' },
      ],
      ['no word', enquired({}), { kind: 'unreadable', reason: 'status word not known' }],
      [
        'another payment',
        enquired({ id: '9OYGUDHZ2EHL04MSVP2XKVIY4', status: 'TS' }),
        unknown('status of another payment'),
      ],
      ['no id', enquired({ id: undefined, status: 'TS' }), unknown('status of another payment')],
      ['no transaction', answered(true, {}), unknown('status not understood')],
      ['ESB000045', answered(false, { result_code: 'ESB000045' }), { kind: 'not_found' }],
      ['025', answered(false, { response_code: 'DP00800001025' }), { kind: 'not_found' }],
      ['404 with ESB000045', answered(false, { result_code: 'ESB000045' }, 404), { kind: 'not_found' }],
      [
        '500 with ESB000045',
        answered(false, { result_code: 'ESB000045' }, 500),
        { ...unknown('http 500 ESB000045'), cause: 'no_answer' },
      ],
      ['a refusal', answered(false, { response_code: 'DP00800001007' }), unknown('http 200 DP00800001007')],
      ['404 of a proxy', raw(404, '<html></html>'), unknown('http 404')],
    ];
    itMaps(wire, cases, getStatus, assert.deepEqual);

    it('asks by the id, and signs nothing', async () => {
      await getStatus();
      const [call] = wire.calls();
      assert.equal(`${call?.method} ${call?.path}`, `GET /standard/v1/payments/${ID}`);
      assert.equal(call?.headers['x-country'], 'UG');
      assert.equal(wire.keyRequests(), 0);
    });
  });
});
