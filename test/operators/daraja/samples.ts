// What Daraja sends and answers, as its documents show it, for a payment of the tests.

export const REFERENCE = 'a3bb189e-8bf9-4c2a-9f00-0123456789ab';
export const CHECKOUT_ID = 'ws_CO_27112026114502712345678';
export const CONVERSATION_ID = 'AG_20261127_2010364430d9bbdaf872';
export const RECEIPT = 'UKR1A2B3C4';
export const PHONE = '254712345678';

type Pair = { readonly Value?: unknown };

const PROMPT_ITEMS = [
  { Name: 'Amount', Value: 500 },
  { Name: 'MpesaReceiptNumber', Value: RECEIPT },
  { Name: 'Balance' },
  { Name: 'TransactionDate', Value: 20261127114530 },
  { Name: 'PhoneNumber', Value: 254712345678 },
];

/** A callback of a prompt; with items only where it was paid. */
export function promptCallback(code: unknown, changes: object = {}, items: readonly Pair[] = PROMPT_ITEMS): object {
  const paid = code === 0 ? { CallbackMetadata: { Item: items } } : {};
  const ids = { MerchantRequestID: '29115-34620561-1', CheckoutRequestID: CHECKOUT_ID };
  return { Body: { stkCallback: { ...ids, ResultCode: code, ResultDesc: 'x', ...paid, ...changes } } };
}

/** The items of a paid prompt with other values; undefined: it lacks. */
export function promptItems(changes: Readonly<Record<string, unknown>>): readonly Pair[] {
  return PROMPT_ITEMS.map((item) => (item.Name in changes ? { Name: item.Name, Value: changes[item.Name] } : item));
}

const PAYOUT_PARAMETERS = [
  { Key: 'TransactionAmount', Value: 500 },
  { Key: 'TransactionReceipt', Value: RECEIPT },
  { Key: 'ReceiverPartyPublicName', Value: `${PHONE} - AMINA NAKATO` },
  { Key: 'TransactionCompletedDateTime', Value: '27.11.2026 11:45:30' },
  { Key: 'B2CUtilityAccountAvailableFunds', Value: 10116.5 },
  { Key: 'B2CRecipientIsRegisteredCustomer', Value: 'Y' },
];

export function payoutParameters(changes: Readonly<Record<string, unknown>>): readonly Pair[] {
  return PAYOUT_PARAMETERS.map((one) => (one.Key in changes ? { Key: one.Key, Value: changes[one.Key] } : one));
}

/** The result of a payout; with parameters only where it was paid. */
export function payoutResult(code: unknown, changes: object = {}, parameters = payoutParameters({})): object {
  const isPaid = code === 0;
  return {
    Result: {
      ResultType: 0,
      ResultCode: code,
      ResultDesc: 'x',
      OriginatorConversationID: REFERENCE,
      ConversationID: CONVERSATION_ID,
      TransactionID: isPaid ? RECEIPT : 'UKR0000000',
      ...(isPaid && { ResultParameters: { ResultParameter: parameters } }),
      ReferenceData: { ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://internal.example' } },
      ...changes,
    },
  };
}

export const REVERSAL_ID = '71840-27539181-07';
/** The receipt of a reversal. */
export const REVERSED = 'UKR9Z8Y7X6';

export function reversalParameters(changes: Readonly<Record<string, unknown>> = {}): readonly Pair[] {
  const parameters = [
    { Key: 'DebitAccountBalance', Value: 'Utility Account|KES|51661.00|51661.00|0.00|0.00' },
    { Key: 'Amount', Value: 500 },
    { Key: 'TransCompletedTime', Value: 20261127114530 },
    { Key: 'OriginalTransactionID', Value: RECEIPT },
    { Key: 'Charge', Value: 0 },
    { Key: 'CreditPartyPublicName', Value: `${PHONE} - AMINA NAKATO` },
    { Key: 'DebitPartyPublicName', Value: '600310 - Malipo' },
  ];
  return parameters.map((one) => (one.Key in changes ? { Key: one.Key, Value: changes[one.Key] } : one));
}

/** The result of a reversal, of which both ids are Daraja's; with parameters only where it succeeded. */
export function reversalResult(code: unknown, changes: object = {}, parameters = reversalParameters()): object {
  const isPaid = code === 0;
  return {
    Result: {
      ResultType: 0,
      ResultCode: code,
      ResultDesc: 'x',
      OriginatorConversationID: REVERSAL_ID,
      ConversationID: CONVERSATION_ID,
      TransactionID: isPaid ? REVERSED : 'UKR0000000',
      ...(isPaid && { ResultParameters: { ResultParameter: parameters } }),
      ReferenceData: { ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://internal.example' } },
      ...changes,
    },
  };
}

/** The parameters of the answer to a status query: one key is there twice, some have spaces, and some no value. */
export function statusParameters(changes: Readonly<Record<string, unknown>> = {}): readonly Pair[] {
  const values: [string, unknown?][] = [
    ['DebitPartyName', '600310 - Malipo'],
    ['DebitPartyName', `${PHONE} - AMINA NAKATO`],
    ['Originator Conversation ID', REFERENCE],
    ['InitiatedTime', 20261127114502],
    ['DebitAccountType', 'Utility Account'],
    ['DebitPartyCharges', 'Fee For B2C Payment|KES|22.40'],
    ['TransactionReason'],
    ['ReasonType', 'Business Payment to Customer via API'],
    ['TransactionStatus', 'Completed'],
    ['FinalisedTime', 20261127114530],
    ['Amount', 500],
    ['ConversationID', CONVERSATION_ID],
    ['ReceiptNo', RECEIPT],
  ];
  return values.map(([Key, value]) => {
    const Value = Key in changes ? changes[Key] : value;
    return Value === undefined ? { Key } : { Key, Value };
  });
}

export function statusResult(parameters: unknown = statusParameters(), changes: object = {}): object {
  return {
    Result: {
      ResultType: 0,
      ResultCode: 0,
      ResultDesc: 'x',
      // Of the query, and not of the payment.
      OriginatorConversationID: '3213-416199-2',
      ConversationID: 'AG_20261127_0000493344ae97d86f75',
      TransactionID: 'UKR0000000',
      ResultParameters: { ResultParameter: parameters },
      ReferenceData: { ReferenceItem: { Key: 'Occasion' } },
      ...changes,
    },
  };
}
