// Prompts whose CheckoutRequestID is lost: what the Daraja adapter makes of the list of what customers paid.
import assert from 'node:assert/strict';
import type { SentPayment, StatusOutcome } from '../../../src/operators/port.ts';
import { accountReferenceOf } from '../../../src/operators/daraja/account-reference.ts';
import { sentAs } from '../../support/sent-payment.ts';
import { inTurn, json, type Reply } from '../stub-operator.ts';
import { CHECKOUT_ID, PHONE, RECEIPT, REFERENCE } from './samples.ts';
import {
  errorOf,
  itMaps,
  NO_ANSWERS,
  NOW_MS,
  TIMEOUT_MS,
  unknown,
  unprocessed,
  useDarajaWire,
  type Case,
} from './wire-harness.ts';

const NOT_LISTED = unknown('not listed as paid');
const PAID: StatusOutcome = {
  kind: 'succeeded',
  receipt: RECEIPT,
  paid: { amount: '500', currency: 'KES' },
  phone: PHONE,
};

/** As documented, with our reference. */
function row(changes: object = {}): object {
  return {
    transactionId: RECEIPT,
    trxDate: '2026-11-27T08:44:30Z',
    msisdn: Number(PHONE),
    sender: 'MPESA',
    transactiontype: 'c2b-pay-bill-debit',
    billreference: accountReferenceOf(REFERENCE),
    amount: '500.00',
    organizationname: 'Malipo',
    ...changes,
  };
}

const another = (changes: object = {}) => row({ transactionId: 'UKR0000001', billreference: '0123456789', ...changes });
const page = (...rows: readonly unknown[]) =>
  json(200, { ResponseRefID: '1-1-1', ResponseCode: '1000', ResponseMessage: 'Success', Response: [rows] });
const NO_MORE = json(200, { ResponseCode: '1001', ResponseMessage: 'No transactions found', Response: [[]] });
const listed = (...rows: readonly unknown[]): Reply => inTurn(page(...rows), NO_MORE);

describe("the Daraja adapter's search for a prompt whose id is lost", () => {
  const wire = useDarajaWire();
  const sent: SentPayment = { ...sentAs(REFERENCE), sentAt: new Date(NOW_MS - 60_000) };
  /** How many further calls may be made, and how many were asked for. */
  let grants: number;
  let asked: number;
  const mayCallAgain = () => {
    asked += 1;
    return Promise.resolve(asked <= grants);
  };
  const find = (changes: Partial<SentPayment> = {}) =>
    wire.operator.getCollectionStatus({ ...sent, ...changes }, mayCallAgain);
  beforeEach(() => {
    [grants, asked] = [Infinity, 0];
  });
  const queries = () =>
    wire.stub
      .calls()
      .filter(({ path }) => path === '/pulltransactions/v1/query')
      .map(({ body }) => JSON.parse(body) as Record<string, string>);

  describe('reading the list', () => {
    const withoutPhone: StatusOutcome = {
      kind: 'succeeded',
      receipt: RECEIPT,
      paid: { amount: '500', currency: 'KES' },
    };
    const notWhole = (receipt: string | null): StatusOutcome => ({
      kind: 'paid_unreadable',
      receipt,
      reason: 'listed as paid, and not whole',
    });
    const otherType: StatusOutcome = { kind: 'unreadable', reason: 'listed as another type of transaction' };
    const twice: StatusOutcome = { kind: 'unreadable', reason: 'listed as paid more than once' };
    const cases: readonly Case<StatusOutcome>[] = [
      ['our row', listed(another(), row()), PAID],
      [
        'our row, in lower case',
        listed(row({ billreference: ` ${accountReferenceOf(REFERENCE).toLowerCase()} ` })),
        PAID,
      ],
      [
        'our row in a list that is not nested',
        inTurn(json(200, { ResponseCode: 1000, Response: [row()] }), NO_MORE),
        PAID,
      ],
      ['a phone without its country', listed(row({ msisdn: 712345678 })), PAID],
      ['a phone with a zero', listed(row({ msisdn: '0712345678' })), PAID],
      ['a masked phone', listed(row({ msisdn: '2547****5678' })), { ...PAID, phone: '2547****5678' }],
      ['a digest of a phone', listed(row({ msisdn: 'a1'.repeat(32) })), withoutPhone],
      ['other money', listed(row({ amount: 1 })), { ...PAID, paid: { amount: '1', currency: 'KES' } }],
      ['no phone', listed(row({ msisdn: undefined })), notWhole(RECEIPT)],
      ['no amount', listed(row({ amount: 'many' })), notWhole(RECEIPT)],
      ['no receipt', listed(row({ transactionId: 'UKR0000000' })), notWhole(null)],
      ['another type', listed(row({ transactiontype: 'organization-settlement' })), otherType],
      ['no type', listed(row({ transactiontype: undefined })), otherType],
      ['two rows', listed(row(), row({ transactionId: 'UKR9Z9Z9Z9' })), twice],
      ['one row with two amounts', listed(row(), row({ amount: '600.00' })), twice],
      ['one row twice', listed(row(), row()), PAID],
    ];
    for (const [what, reply, outcome] of cases) {
      it(`maps ${what} to ${outcome.kind}`, async () => {
        wire.reply(reply);
        assert.deepEqual(await find(), outcome);
      });
    }

    const nothing: readonly Case<StatusOutcome>[] = [
      ['an empty list', NO_MORE, NOT_LISTED],
      [
        'a code that is not listed',
        json(200, { ResponseCode: '1002', Response: [[row()]] }),
        unknown('list with code 1002'),
      ],
      ['no list', json(200, { ResponseCode: '1000' }), unknown('list that cannot be read')],
      ['a list of texts', json(200, { ResponseCode: '1000', Response: ['x'] }), unknown('list that cannot be read')],
      ...NO_ANSWERS,
    ];
    itMaps(wire, nothing, () => find());
  });

  it('says nothing of a prompt that is not in the list, and never that there is none', async () => {
    wire.reply(listed(another()));
    assert.deepEqual(await find(), NOT_LISTED);
  });

  it('reads page after page until nothing new comes, and finds a second row there', async () => {
    wire.reply(inTurn(page(another(), row()), page(row({ transactionId: 'UKR9Z9Z9Z9' })), NO_MORE));
    assert.equal((await find()).kind, 'unreadable');
    const offsets = queries().map(({ OffSetValue }) => OffSetValue);
    assert.deepEqual(offsets, ['0', '2', '3']);
  });

  it('makes no call beyond its first one without a grant, for a page as for an id', async () => {
    wire.reply(inTurn(page(another(), row()), page(row({ transactionId: 'UKR9Z9Z9Z9' })), NO_MORE));
    grants = 1;
    assert.deepEqual(await find(), unknown('not listed further: no call is free'));
    assert.deepEqual([wire.stub.calls().length, asked], [2, 2]);
    wire.reply(NO_MORE);
    [grants, asked] = [0, 0];
    assert.deepEqual(await find({ namedId: CHECKOUT_ID }), NOT_LISTED);
    assert.deepEqual([wire.stub.calls().length, asked], [3, 1]);
  });

  it('asks for a grant before each call but the first', async () => {
    wire.reply(inTurn(page(another(), row()), page(another({ transactionId: 'UKR0000002' })), NO_MORE));
    assert.deepEqual(await find(), PAID);
    assert.equal(asked, wire.stub.calls().length - 1);
  });

  it('ends where each page is the same', async () => {
    wire.reply(page(row()));
    assert.deepEqual(await find(), PAID);
    assert.equal(queries().length, 2);
  });

  it('says nothing where a page is missing, and makes the list again for the next', async () => {
    wire.reply(inTurn(page(row()), errorOf(500, '500.003.02'), page(row()), NO_MORE));
    assert.deepEqual(await find(), unprocessed('http 500 500.003.02', 'busy'));
    assert.deepEqual(await find(), PAID);
  });

  it('looks two days back at most', async () => {
    wire.reply(listed());
    await find({ sentAt: new Date(NOW_MS - 72 * 60 * 60_000) });
    const [first] = queries();
    assert.deepEqual([first?.['StartDate'], first?.['EndDate']], ['2026-11-25 11:45:02', '2026-11-27 11:45:02']);
  });

  it('makes one list for many prompts, and another a few seconds later or for what was sent before it', async () => {
    let nowMs = NOW_MS;
    await wire.operator.close();
    wire.operator = wire.open({ nowMs: () => nowMs });
    wire.reply(listed(row(), another()));
    const found = await Promise.all([find(), find(), find({ operatorReference: REFERENCE.replaceAll('a', 'b') })]);
    assert.deepEqual(found, [PAID, PAID, NOT_LISTED]);
    nowMs += 4000;
    assert.deepEqual(await find(), PAID);
    assert.equal(queries().length, 2);
    wire.reply(NO_MORE);
    assert.deepEqual(await find({ sentAt: new Date(NOW_MS - 3_600_000) }), NOT_LISTED);
    assert.equal(queries().length, 3);
    nowMs += 6000;
    await find();
    assert.equal(queries().length, 4);
  });

  it('says nothing when the list takes too long', async () => {
    wire.reply(NO_MORE);
    await find();
    await wire.timeOutEarly();
    wire.reply(() => undefined);
    assert.deepEqual(await find(), unknown(`timed out after ${TIMEOUT_MS} ms`, 'no_answer'));
  });

  describe('where messages name an id', () => {
    const ended = (code: string) => json(200, { ResponseCode: '0', CheckoutRequestID: CHECKOUT_ID, ResultCode: code });
    const named = { namedId: CHECKOUT_ID };

    it('asks by it whether the prompt failed, once nothing is listed', async () => {
      wire.reply(inTurn(NO_MORE, ended('1032')));
      assert.deepEqual(await find(named), { kind: 'failed', code: 'payer_cancelled', operatorCode: '1032' });
    });

    for (const code of ['0', '4999']) {
      it(`takes ${code} about it for nothing`, async () => {
        wire.reply(inTurn(NO_MORE, ended(code)));
        assert.deepEqual(await find(named), NOT_LISTED);
      });
    }

    it('does not ask by it where it is listed as paid, or the list is missing', async () => {
      wire.reply(inTurn(errorOf(503, '500.003.1001'), page(row()), NO_MORE));
      assert.equal((await find(named)).kind, 'unknown');
      assert.deepEqual(await find(named), PAID);
      assert.equal(queries().length, wire.stub.calls().length);
    });
  });
});
