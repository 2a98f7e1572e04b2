// What the Daraja adapter makes of messages at the addresses that it gave: results, timeouts, answers to status queries.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FailureCode } from '../../../src/domain/payments/failure.ts';
import { accountReferenceOf } from '../../../src/operators/daraja/account-reference.ts';
import { readMessage } from '../../../src/operators/daraja/messages.ts';
import type { OperatorMessage, StatusOutcome } from '../../../src/operators/port.ts';
import {
  CHECKOUT_ID,
  CONVERSATION_ID,
  payoutParameters,
  payoutResult,
  PHONE,
  promptCallback,
  promptItems,
  RECEIPT,
  REFERENCE,
  REVERSAL_ID,
  REVERSED,
  reversalParameters,
  reversalResult,
  statusParameters,
  statusResult,
} from './samples.ts';

const paid = { amount: '500', currency: 'KES' };
const SUCCEEDED: StatusOutcome = { kind: 'succeeded', receipt: RECEIPT, paid, phone: PHONE };
const unreadable = (receipt: string | null): StatusOutcome => ({
  kind: 'paid_unreadable',
  receipt,
  reason: 'paid, but amount or receipt is not understood',
});
const unknown = (reason: string): StatusOutcome => ({ kind: 'unknown', reason });
const failedAs = (code: FailureCode, operatorCode: string): StatusOutcome => ({ kind: 'failed', code, operatorCode });

type Case = readonly [what: string, body: unknown, status: StatusOutcome];

function itReads(cases: readonly Case[], read: (body: unknown) => OperatorMessage | null): void {
  for (const [what, body, status] of cases) {
    it(`reads ${what} as ${status.kind}`, () => {
      assert.deepEqual(read(body)?.status, status);
    });
  }
}

describe('the callback of a prompt at Daraja', () => {
  const read = (body: unknown) => readMessage('result', body, 'payout');

  it('names the prompt, and no reference of ours', () => {
    for (const code of [0, 1032, 7]) {
      const message = read(promptCallback(code));
      assert.equal(message?.issuedId, CHECKOUT_ID);
      assert.equal(message.operatorReference, null);
    }
  });

  const failures: readonly [code: number | string, failure: FailureCode][] = [
    [1, 'insufficient_funds'],
    [2, 'payer_limit_reached'],
    [3, 'payer_limit_reached'],
    [4, 'payer_limit_reached'],
    [8, 'payer_limit_reached'],
    [17, 'payer_busy'],
    [26, 'operator_unavailable'],
    [1001, 'payer_busy'],
    [1019, 'prompt_expired'],
    [1025, 'operator_unavailable'],
    [1032, 'payer_cancelled'],
    [1037, 'payer_unreachable'],
    [2001, 'wrong_pin'],
    [2028, 'operator_rejected'],
    [8006, 'wrong_pin'],
    [9999, 'operator_unavailable'],
    ['SFC_IC0003', 'payer_not_found'],
  ];
  for (const [code, failure] of failures) {
    it(`reads ${code} as ${failure}, as a number or a text`, () => {
      for (const written of [code, String(code)]) {
        assert.deepEqual(read(promptCallback(written))?.status, failedAs(failure, String(code)));
      }
    });
  }

  const withItems = (changes: Record<string, unknown>) => promptCallback(0, {}, promptItems(changes));
  itReads(
    [
      ['0', promptCallback(0), SUCCEEDED],
      [
        '0 with a masked phone',
        withItems({ PhoneNumber: '2547****5678' }),
        { kind: 'succeeded', receipt: RECEIPT, paid },
      ],
      [
        '0 without a receipt',
        withItems({ MpesaReceiptNumber: undefined }),
        { kind: 'succeeded', receipt: null, paid, phone: PHONE },
      ],
      ['0 with a receipt in lower case', withItems({ MpesaReceiptNumber: ` ${RECEIPT.toLowerCase()}` }), SUCCEEDED],
      ['0 with an amount as text', withItems({ Amount: '0500.00' }), SUCCEEDED],
      ['0 without items', promptCallback('0'), { kind: 'succeeded', receipt: null }],
      ['0 with an amount that is none', withItems({ Amount: 'KES 500' }), unreadable(RECEIPT)],
      [
        '0 with two amounts',
        promptCallback(0, {}, [...promptItems({}), { Name: 'amount', Value: 501 }] as never),
        unreadable(RECEIPT),
      ],
      ['4999', promptCallback(4999), { kind: 'pending' }],
      ['a code of payouts', promptCallback(2040), unknown('code 2040 is not listed')],
      ['a code that is not listed', promptCallback('R000001'), unknown('code R000001 is not listed')],
      ['500.001.1001', promptCallback('500.001.1001'), unknown('code 500.001.1001 is not listed')],
      ['00', promptCallback('00'), unknown('code 00 is not listed')],
      ['a code that could be a phone', promptCallback('254712345678'), unknown('no code')],
      ['no code', promptCallback(undefined), unknown('no code')],
      ['no id', promptCallback(0, { CheckoutRequestID: undefined }), unknown('no CheckoutRequestID')],
      [
        'a failure with a receipt',
        promptCallback(1032, { CallbackMetadata: { Item: promptItems({}) } }),
        unknown('unpaid with a receipt'),
      ],
    ],
    read,
  );

  it('is nothing at an address of another purpose, or together with the result of a payout', () => {
    assert.equal(readMessage('timeout', promptCallback(0), 'collection'), null);
    assert.equal(readMessage('query', promptCallback(0), 'collection'), null);
    assert.equal(read({ ...promptCallback(0), ...payoutResult(1) }), null);
  });
});

describe('the result of a payout at Daraja', () => {
  const read = (body: unknown) => readMessage('result', body, 'payout');

  it('names the payout by our reference and by its own id', () => {
    for (const code of [0, 2040, 7]) {
      const message = read(payoutResult(code, { OriginatorConversationID: REFERENCE.toUpperCase() }));
      assert.equal(message?.operatorReference, REFERENCE);
      assert.equal(message.issuedId, CONVERSATION_ID);
    }
  });

  const failures: readonly [code: number | string, failure: FailureCode][] = [
    [2, 'amount_not_allowed'],
    [3, 'payer_limit_reached'],
    [4, 'payer_limit_reached'],
    [8, 'payer_limit_reached'],
    [2028, 'operator_rejected'],
    [2040, 'payer_not_found'],
    ['SFC_IC0003', 'payer_not_found'],
  ];
  for (const [code, failure] of failures) {
    it(`reads ${code} as ${failure}`, () => {
      for (const written of [code, String(code)]) {
        assert.deepEqual(read(payoutResult(written))?.status, failedAs(failure, String(code)));
      }
    });
  }

  it('reads 1 as our float, which is too low', () => {
    for (const written of [1, '1']) {
      const expected = { ...failedAs('operator_unavailable', '1'), isFloatLow: true };
      assert.deepEqual(read(payoutResult(written))?.status, expected);
    }
  });

  const withParameters = (changes: Record<string, unknown>, more: object = {}) =>
    payoutResult(0, more, payoutParameters(changes));
  itReads(
    [
      ['0', payoutResult(0), SUCCEEDED],
      ['0 with its receipt in TransactionID alone', withParameters({ TransactionReceipt: undefined }), SUCCEEDED],
      [
        '0 without a receipt',
        withParameters({ TransactionReceipt: undefined }, { TransactionID: 'UKR0000000' }),
        unreadable(null),
      ],
      ['0 with two receipts', withParameters({ TransactionReceipt: 'UKR9Z9Z9Z9' }), unreadable(null)],
      ['0 without an amount', withParameters({ TransactionAmount: undefined }), unreadable(RECEIPT)],
      ['0 with an amount that is none', withParameters({ TransactionAmount: -500 }), unreadable(RECEIPT)],
      [
        '0 with a payee without a phone',
        withParameters({ ReceiverPartyPublicName: '2547****678 - A' }),
        { kind: 'succeeded', receipt: RECEIPT, paid },
      ],
      ['0 without parameters', payoutResult('0'), unreadable(null)],
      ['17', payoutResult(17), { ...unknown('code 17'), cause: 'busy' } as StatusOutcome],
      ['26', payoutResult(26), { ...unknown('code 26'), cause: 'busy' } as StatusOutcome],
      ['21', payoutResult(21), { ...unknown('code 21'), cause: 'account' } as StatusOutcome],
      ['2001', payoutResult(2001), { ...unknown('code 2001'), cause: 'account' } as StatusOutcome],
      ['a code of prompts', payoutResult(1032), unknown('code 1032 is not listed')],
      ['a code that is not listed', payoutResult(8006), unknown('code 8006 is not listed')],
      ['a result that another follows', payoutResult(2040, { ResultType: 1 }), unknown('not final')],
      [
        'another reference',
        payoutResult(0, { OriginatorConversationID: '16740-34861180-1' }),
        unknown('no reference of ours'),
      ],
      [
        'a failure with a receipt',
        payoutResult(2040, { ResultParameters: { ResultParameter: payoutParameters({}) } }),
        unknown('unpaid with a receipt'),
      ],
    ],
    read,
  );

  it('is read from one parameter that is in no list, too', () => {
    const ResultParameter = { Key: 'TransactionAmount', Value: 500 };
    assert.deepEqual(read(payoutResult(0, { ResultParameters: { ResultParameter } }))?.status, {
      kind: 'succeeded',
      receipt: RECEIPT,
      paid,
    });
  });

  it('is no verdict at the address for timeouts, whatever it says', () => {
    for (const code of [0, 1, 2040]) {
      assert.deepEqual(readMessage('timeout', payoutResult(code), 'payout'), {
        status: unknown('timeout'),
        operatorReference: REFERENCE,
        issuedId: CONVERSATION_ID,
      });
    }
  });
});

describe('the result of a refund at Daraja', () => {
  const read = (body: unknown) => readMessage('result', body, 'reversal');
  const refunded: StatusOutcome = { kind: 'succeeded', receipt: REVERSED, paid, phone: PHONE };
  const withParameters = (changes: Record<string, unknown>) => reversalResult(0, {}, reversalParameters(changes));

  it('names the refund by the id of its request, which Daraja issued, and by none of ours', () => {
    for (const code of [0, 1, 7]) {
      const message = read(reversalResult(code));
      assert.deepEqual([message?.operatorReference, message?.issuedId], [null, REVERSAL_ID]);
    }
    const late = readMessage('timeout', reversalResult(1), 'reversal');
    assert.deepEqual(late, { status: unknown('timeout'), operatorReference: null, issuedId: REVERSAL_ID });
  });

  itReads(
    [
      ['0', reversalResult(0), refunded],
      ['0 without an amount', withParameters({ Amount: undefined }), unreadable(REVERSED)],
      ['0 without a receipt', reversalResult(0, { TransactionID: 'UKR0000000' }), unreadable(null)],
      ['0 without parameters', reversalResult('0', { TransactionID: REVERSED }), unreadable(REVERSED)],
      [
        '0 without a phone',
        withParameters({ CreditPartyPublicName: 'A' }),
        { kind: 'succeeded', receipt: REVERSED, paid },
      ],
      ['1', reversalResult(1), { ...failedAs('operator_unavailable', '1'), isFloatLow: true } as StatusOutcome],
      ['17', reversalResult(17), { ...unknown('code 17'), cause: 'busy' } as StatusOutcome],
      ['2001', reversalResult(2001), { ...unknown('code 2001'), cause: 'account' } as StatusOutcome],
      // Daraja's own example of a reversal that succeeded has this code, which refuses the initiator of a payout.
      ['21', reversalResult(21), unknown('code 21 is not listed')],
      ['R000001', reversalResult('R000001'), unknown('code R000001 is not listed')],
      ['R000002', reversalResult('R000002'), unknown('code R000002 is not listed')],
      ['a code of payouts', reversalResult(2040), unknown('code 2040 is not listed')],
      ['a result that another follows', reversalResult(0, { ResultType: 1 }), unknown('not final')],
      ['no id', reversalResult(0, { OriginatorConversationID: 7 }), unknown('no id of the refund')],
      [
        'a failure with the receipt of the collection',
        reversalResult(1, { ResultParameters: { ResultParameter: reversalParameters() } }),
        unknown('unpaid with a receipt'),
      ],
    ],
    read,
  );

  it('is confirmed by the answer to a status query that names the same id', () => {
    const parameters = statusParameters({ 'Originator Conversation ID': REVERSAL_ID, ReceiptNo: REVERSED });
    assert.deepEqual(readMessage('query', statusResult(parameters), 'reversal'), {
      status: refunded,
      operatorReference: null,
      issuedId: REVERSAL_ID,
    });
    const unnamed = statusResult(statusParameters({ 'Originator Conversation ID': undefined }));
    assert.deepEqual(readMessage('query', unnamed, 'reversal')?.status, unknown('no payment of ours'));
  });
});

describe('the answer to a status query at Daraja', () => {
  const read = (body: unknown) => readMessage('query', body, 'payout');
  const stated = (word: unknown) => statusResult(statusParameters({ TransactionStatus: word }));
  const withParameters = (changes: Record<string, unknown>) => statusResult(statusParameters(changes));

  it('names the payout by its parameters, and not by the ids of the query', () => {
    const spelled = statusParameters().map((one) =>
      'Key' in one && one.Key === 'ConversationID' ? { ...one, Key: 'Conversation ID' } : one,
    );
    for (const parameters of [statusParameters(), spelled]) {
      assert.deepEqual(read(statusResult(parameters)), {
        status: SUCCEEDED,
        operatorReference: REFERENCE,
        issuedId: CONVERSATION_ID,
      });
    }
  });

  const failed = (word: string): StatusOutcome => ({
    kind: 'failed',
    code: 'operator_rejected',
    operatorCode: word,
    money: paid,
    phone: PHONE,
  });
  itReads(
    [
      ['Completed', statusResult(), SUCCEEDED],
      ['Failed', stated('Failed'), failed('FAILED')],
      ['Cancelled', stated('Cancelled'), failed('CANCELLED')],
      ['Declined', stated('declined'), failed('DECLINED')],
      ['Pending', stated('Pending'), { kind: 'pending', money: paid, phone: PHONE }],
      ['Reversed', stated('Reversed'), { kind: 'returned', receipt: RECEIPT, paid, phone: PHONE }],
      ['a word that is not listed', stated('Expired'), { kind: 'unreadable', reason: 'state not listed' }],
      ['no word', stated(undefined), { kind: 'unreadable', reason: 'state not listed' }],
      ['Completed without an amount', withParameters({ Amount: undefined }), unreadable(RECEIPT)],
      ['Completed without a receipt', withParameters({ ReceiptNo: undefined }), unreadable(null)],
      [
        'Reversed without a receipt',
        statusResult(statusParameters({ TransactionStatus: 'Reversed', ReceiptNo: '' })),
        unreadable(null),
      ],
      [
        'Completed with two amounts',
        statusResult([...statusParameters(), { Key: 'Amount', Value: 501 }]),
        unreadable(RECEIPT),
      ],
      [
        'two words',
        statusResult([...statusParameters(), { Key: 'Transaction Status', Value: 'Failed' }]),
        { kind: 'unreadable', reason: 'state not listed' },
      ],
      [
        'Completed with the same amount twice',
        statusResult([...statusParameters(), { Key: 'Amount', Value: '500.00' }]),
        SUCCEEDED,
      ],
      [
        'Completed with two phones',
        statusResult([...statusParameters(), { Key: 'CreditPartyName', Value: '254799999999 - X' }]),
        { kind: 'succeeded', receipt: RECEIPT, paid },
      ],
      [
        'Completed of no payment',
        withParameters({ 'Originator Conversation ID': undefined, ConversationID: undefined }),
        unknown('no payment of ours'),
      ],
      [
        'Completed of another payment',
        withParameters({ 'Originator Conversation ID': '3211-416020-3' }),
        unknown('no payment of ours'),
      ],
      ['Completed by its own id alone', withParameters({ 'Originator Conversation ID': undefined }), SUCCEEDED],
      ['25, a bad query', statusResult(statusParameters(), { ResultCode: 25 }), unknown('query not answered: 25')],
      [
        '1, which is about the query',
        statusResult(statusParameters(), { ResultCode: 1 }),
        unknown('query not answered: 1'),
      ],
      ['2040, which is about the query', statusResult([], { ResultCode: 2040 }), unknown('query not answered: 2040')],
      ['2001', statusResult([], { ResultCode: 2001 }), { ...unknown('code 2001'), cause: 'account' } as StatusOutcome],
      ['26', statusResult([], { ResultCode: 26 }), { ...unknown('code 26'), cause: 'busy' } as StatusOutcome],
      ['no parameters', statusResult('', {}), unknown('no payment of ours')],
    ],
    read,
  );
});

describe('the account reference of a collection at Daraja', () => {
  it('has ten characters of 0-9 and A-Z, and is the same for ever', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 4 }), (uuid) => {
        assert.match(accountReferenceOf(uuid), /^[0-9A-HJKMNP-TV-Z]{10}$/);
      }),
    );
    const references = [REFERENCE, '00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
    assert.deepEqual(references.map(accountReferenceOf), ['MEXHH7MBZ5', '0000000001', 'ZZZZZZZZZX']);
  });

  it('differs where the first 48 bits differ', () => {
    const cut = (uuid: string) => uuid.slice(0, 13);
    fc.assert(
      fc.property(fc.uuid({ version: 4 }), fc.uuid({ version: 4 }), (one, other) => {
        assert.equal(accountReferenceOf(one) === accountReferenceOf(other), cut(one) === cut(other));
      }),
    );
  });
});
