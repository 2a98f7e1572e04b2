// The Daraja adapter's payouts, the questions about them and about their payees, and what it makes of the responses.
import assert from 'node:assert/strict';
import type { NameOutcome, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { sentAs } from '../../support/sent-payment.ts';
import { inTurn, json } from '../stub-operator.ts';
import { CONVERSATION_ID, PHONE, REFERENCE } from './samples.ts';
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

describe("the Daraja adapter's payouts", () => {
  const wire = useDarajaWire();

  const sendPayout = (payeeMessage = 'Wages', amountMinor = 50_000n): Promise<SendOutcome> =>
    wire.operator.sendPayout({
      operatorReference: REFERENCE,
      phone: PHONE,
      money: { amountMinor, currency: 'KES' },
      payeeMessage,
    });
  const ask = (): Promise<StatusOutcome> => wire.operator.getPayoutStatus({ ...sentAs(REFERENCE), queryId: QUERY_ID });

  it('have remarks of a hundred plain characters at most, and whole shillings', async () => {
    wire.reply(requestAccepted());
    await sendPayout('é'.repeat(120));
    assert.deepEqual(
      await sendPayout('x', 50_001n),
      unprocessed('not sent: of another market, or no whole shillings', 'account'),
    );
    const bodies = wire.stub.calls().map(({ body }) => JSON.parse(body) as Record<string, string>);
    assert.deepEqual(
      bodies.map(({ Remarks }) => Remarks),
      ['e'.repeat(100)],
    );
  });

  it('have the encrypted password of the initiator, another text each time', async () => {
    wire.reply(requestAccepted());
    await sendPayout();
    await sendPayout();
    await ask();
    const credentials = wire.stub
      .calls()
      .map(({ body }) => (JSON.parse(body) as { SecurityCredential: string }).SecurityCredential);
    assert.equal(new Set(credentials).size, 3);
    assert.deepEqual(new Set(credentials.map(decrypted)), new Set(['Safaricom#1']));
  });

  it('renew a refused token once', async () => {
    wire.reply(inTurn(errorOf(404, '404.001.03'), requestAccepted()));
    assert.deepEqual(await sendPayout(), { kind: 'accepted', issuedId: CONVERSATION_ID });
    assert.equal(wire.stub.tokenRequests(), 2);
  });

  describe('reading the response to a send', () => {
    const cases: readonly Case<SendOutcome>[] = [
      ['0', requestAccepted(), { kind: 'accepted', issuedId: CONVERSATION_ID }],
      [
        '0 without our reference',
        requestAccepted({ OriginatorConversationID: undefined }),
        { kind: 'accepted', issuedId: CONVERSATION_ID },
      ],
      ['0 without an id', requestAccepted({ ConversationID: '' }), { kind: 'accepted' }],
      [
        '0 about another payment',
        requestAccepted({ OriginatorConversationID: QUERY_ID }),
        unknown('answer about another payment'),
      ],
      ['1', requestAccepted({ ResponseCode: '1' }), unknown('http 200')],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, () => sendPayout());
  });

  describe('asking for the status', () => {
    const cases: readonly Case<StatusOutcome>[] = [
      ['0', requestAccepted({ OriginatorConversationID: '3213-416199-2' }), { kind: 'asked' }],
      ['1', requestAccepted({ ResponseCode: '1' }), unknown('http 200')],
      ...NO_ANSWERS,
    ];
    itMaps(wire, cases, ask);

    it('needs the id of a recorded query', async () => {
      assert.deepEqual(
        await wire.operator.getPayoutStatus(sentAs(REFERENCE)),
        unprocessed('not asked: no address for the answer'),
      );
      assert.deepEqual(wire.stub.received, []);
    });
  });

  describe('asking for the payee', () => {
    const getName = (phone = PHONE): Promise<NameOutcome> => wire.operator.getPayeeName?.(phone) ?? assert.fail();
    const named = (body: object, status: unknown = '200') =>
      json(200, { header: { requestID: 'x', timestamp: '1', status, message: 'x' }, body });
    const full = { firstName: 'AMINA', middleName: 'W******', lastName: 'N******' };
    const cases: readonly Case<NameOutcome>[] = [
      ['a name', named(full), { kind: 'named', name: 'AMINA W****** N******' }],
      ['a name with a status as a number', named(full, 200), { kind: 'named', name: 'AMINA W****** N******' }],
      ['a first name alone', named({ firstName: ' AMINA ' }), { kind: 'named', name: 'AMINA' }],
      ['no name', named({}), { kind: 'unnamed' }],
      ['a refusal', named({ message: 'The customer does not exist.' }, '400'), unknown('http 200, no name')],
      ['no header', json(200, { body: full }), unknown('http 200, no name')],
      ['a name that is no text', named({ firstName: 7 }), unknown('http 200, no name')],
      ['an error', errorOf(400, '400.002.02'), unknown('http 400, no name')],
    ];
    itMaps(wire, cases, () => getName());

    it('asks about no phone of another market', async () => {
      assert.equal((await getName('256712345678')).kind, 'unknown');
      assert.deepEqual(wire.stub.received, []);
    });
  });
});
