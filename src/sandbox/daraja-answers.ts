// The sandbox operator's answers in Daraja's format: errors, and the status of a payment.
import type { Context } from 'koa';
import { randomUUID } from 'node:crypto';
import { accountHolder } from './account-holders.ts';
import { nairobiDigits, nairobiDotted, noReceipt, receiptOf } from './daraja-ids.ts';
import type { Transaction } from './transaction.ts';

export type Said = { readonly code: number | string; readonly text: string };

const DONE: Said = { code: 0, text: 'The service request is processed successfully.' };
const UNDER_WAY: Said = { code: 4999, text: 'The transaction is still under processing' };
const NO_FUNDS: Said = { code: 1, text: 'The balance is insufficient for the transaction.' };
export const WRONG_INITIATOR: Said = { code: 2001, text: 'The initiator information is invalid.' };
/** The answer to a query about an unknown transaction: Daraja says only that the query is wrong. */
export const WRONG_QUESTION: Said = { code: 25, text: 'The transaction cannot be found by the given identifier.' };

export const REVERSED_ALREADY: Said = { code: 'R000001', text: 'The transaction has already been reversed.' };
export const NOT_REVERSIBLE: Said = { code: 'R000002', text: 'The OriginalTransactionID is invalid.' };

/** The reasons for which M-Pesa itself fails a payment, whatever the phone. */
export const REFUSED_AS = {
  initiator: { code: 'INITIATOR_INVALID', message: 'The initiator or its credential is not valid.' },
  tooLong: { code: 'PROMPT_NOT_SENT', message: 'The prompt could not be sent.' },
  tooLow: { code: 'AMOUNT_TOO_LOW', message: 'The amount is less than the minimum.' },
  tooHigh: { code: 'AMOUNT_TOO_HIGH', message: 'The amount is more than the maximum.' },
} as const;

/** Daraja's code for each reason of the outcome table. */
const REASONS: Readonly<Record<'collection' | 'payout', Readonly<Record<string, Said>>>> = {
  collection: {
    APPROVAL_REJECTED: { code: 1032, text: 'Request cancelled by user.' },
    WRONG_PIN: WRONG_INITIATOR,
    EXPIRED: { code: 1019, text: 'Transaction has expired.' },
    NOT_ENOUGH_FUNDS: NO_FUNDS,
    PAYER_NOT_FOUND: { code: 2028, text: 'The request is not permitted according to product assignment.' },
    [REFUSED_AS.tooLong.code]: { code: 1025, text: 'An error occurred while sending a push request.' },
  },
  payout: {
    PAYEE_NOT_FOUND: { code: 2040, text: 'The credit party is of no customer type that the service supports.' },
    PAYER_LIMIT_REACHED: { code: 8, text: 'The balance would exceed its maximum.' },
    NOT_ENOUGH_FUNDS: NO_FUNDS,
    PAYEE_NOT_ALLOWED_TO_RECEIVE: { code: 'SFC_IC0003', text: 'The operator does not exist.' },
    // M-Pesa has no general code for a payout that failed.
    INTERNAL_PROCESSING_ERROR: { code: 4, text: 'The amount would exceed the limit of a day.' },
    [REFUSED_AS.initiator.code]: WRONG_INITIATOR,
    [REFUSED_AS.tooLow.code]: { code: 2, text: 'The amount is less than the minimum of a transaction.' },
    [REFUSED_AS.tooHigh.code]: { code: 3, text: 'The amount is more than the maximum of a transaction.' },
  },
};

export type DarajaError = { readonly status: number; readonly code: string; readonly message: string };

const error = (status: number, code: string, message: string): DarajaError => ({ status, code, message });

export const WRONG_CLIENT = error(400, '400.008.01', 'Invalid Authentication passed');
export const WRONG_GRANT = error(400, '400.008.02', 'Invalid grant type passed');
export const WRONG_TOKEN = error(404, '404.001.03', 'Invalid Access Token');
/** The application has no contract for this product. */
export const WRONG_PRODUCT = error(401, '401.003.01', 'Invalid ApiCall as no apiproduct match found');
export const UNREAD = error(400, '400.002.05', 'Invalid Request Payload');
export const UNKNOWN_MERCHANT = error(500, '500.001.1001', 'Merchant does not exist');
export const WRONG_PASSWORD = error(500, '500.001.1001', '[MerchantValidate] - Wrong credentials');
/** Daraja uses the same code for a transaction in progress. */
export const NOT_VISIBLE = error(500, '500.001.1001', 'The transaction is being processed');
export const DUPLICATE = error(500, '500.002.1001', 'Duplicate OriginatorConversationID.');
export const INTERNAL = error(500, '500.003.1001', 'Internal Server Error');
export const THROTTLED = error(500, '500.003.02', 'Error Occurred: Spike Arrest Violation');
export const UNAVAILABLE = error(503, '500.003.1001', 'Service Unavailable');

/** An answer in which no field has the type that Daraja documents. */
export const WRONG_TYPES = {
  ResponseCode: 0,
  MerchantRequestID: null,
  CheckoutRequestID: 7,
  ResultCode: {},
  ConversationID: [],
};

export function wrongField(field: string | null): DarajaError {
  return field === null ? UNREAD : error(400, '400.002.02', `Bad Request - Invalid ${field}`);
}

export function refuse(ctx: Context, { status, code, message }: DarajaError): void {
  ctx.status = status;
  ctx.body = { requestId: randomUUID(), errorCode: code, errorMessage: message };
}

/** The answer to the query of a prompt. It has no amount and no receipt, and its code is a text. */
export function promptStatus(transaction: Transaction): object {
  const { code, text } = transaction.state === 'PENDING' ? UNDER_WAY : endOf(transaction);
  return {
    ResponseCode: '0',
    ResponseDescription: 'The service request has been accepted successfully',
    MerchantRequestID: transaction.requestId,
    CheckoutRequestID: transaction.issuedId,
    ResultCode: String(code),
    ResultDesc: text,
  };
}

type Beside = {
  readonly balance: string;
  /** The collection of a refund. */
  readonly original: Transaction | undefined;
};

/** The message that M-Pesa sends once about a payment. M-Pesa sends no message about the return of a payment. */
export function darajaMessage(transaction: Transaction, { balance, original }: Beside): object | null {
  if (transaction.givenBackAtMs !== null) return null;
  switch (transaction.kind) {
    case 'collection':
      return promptResult(transaction);
    case 'payout':
      return payoutResult(transaction, balance);
    case 'refund':
      return reversalResult(transaction, original);
  }
}

function reversalResult(transaction: Transaction, original: Transaction | undefined): object {
  const said = endOf(transaction);
  const ids = idsOf(transaction);
  if (said.code !== DONE.code) return result({ ...ids, said });
  const parameters = [
    { Key: 'DebitAccountBalance' },
    { Key: 'Amount', Value: Number(transaction.amount) },
    { Key: 'TransCompletedTime', Value: Number(nairobiDigits(transaction.decidedAtMs ?? 0)) },
    { Key: 'OriginalTransactionID', ...(original !== undefined && { Value: receiptOf(original) }) },
    { Key: 'Charge', Value: 0 },
    { Key: 'CreditPartyPublicName', Value: partyName(transaction.phone) },
  ];
  return result({ ...ids, said, receipt: receiptOf(transaction), parameters });
}

function promptResult(transaction: Transaction): object {
  const { requestId, issuedId, amount, phone, decidedAtMs } = transaction;
  const { code, text } = endOf(transaction);
  const items = [
    { Name: 'Amount', Value: Number(amount) },
    { Name: 'MpesaReceiptNumber', Value: receiptOf(transaction) },
    { Name: 'Balance' },
    { Name: 'TransactionDate', Value: Number(nairobiDigits(decidedAtMs ?? 0)) },
    { Name: 'PhoneNumber', Value: Number(phone) },
  ];
  const stkCallback = {
    MerchantRequestID: requestId,
    CheckoutRequestID: issuedId,
    ResultCode: code,
    ResultDesc: text,
    ...(code === DONE.code && { CallbackMetadata: { Item: items } }),
  };
  return { Body: { stkCallback } };
}

function payoutResult(transaction: Transaction, balance: string): object {
  const { amount, phone, decidedAtMs } = transaction;
  const said = endOf(transaction);
  const receipt = receiptOf(transaction);
  const parameters = [
    { Key: 'TransactionAmount', Value: Number(amount) },
    { Key: 'TransactionReceipt', Value: receipt },
    { Key: 'ReceiverPartyPublicName', Value: partyName(phone) },
    { Key: 'TransactionCompletedDateTime', Value: nairobiDotted(decidedAtMs ?? 0) },
    { Key: 'B2CUtilityAccountAvailableFunds', Value: Number(balance) },
    { Key: 'B2CWorkingAccountAvailableFunds', Value: 0 },
    { Key: 'B2CRecipientIsRegisteredCustomer', Value: 'Y' },
    { Key: 'B2CChargesPaidAccountAvailableFunds', Value: 0 },
  ];
  const ids = idsOf(transaction);
  if (said.code !== DONE.code) return result({ ...ids, said });
  return result({ ...ids, said, receipt, parameters });
}

/** The message that a payout waits for too long. It decides nothing, whatever its code suggests. */
export function queueTimeOut(transaction: Transaction): object {
  return result({ ...idsOf(transaction), said: { code: 1, text: 'The service request timed out.' }, type: 1 });
}

export type ResultIds = { readonly originatorId: string; readonly conversationId: string };
type Parameter = { readonly Key: string; readonly Value?: string | number };

/** The envelope of all later answers. Without parameters the field is absent. */
export function result(
  fields: ResultIds & {
    readonly said?: Said;
    readonly receipt?: string;
    readonly parameters?: readonly Parameter[];
    readonly type?: 0 | 1;
  },
): object {
  const { originatorId, conversationId, said = DONE, receipt, parameters, type = 0 } = fields;
  return {
    Result: {
      ResultType: type,
      ResultCode: said.code,
      ResultDesc: said.text,
      OriginatorConversationID: originatorId,
      ConversationID: conversationId,
      TransactionID: receipt ?? noReceipt(Date.now()),
      ...(parameters !== undefined && { ResultParameters: { ResultParameter: parameters } }),
      ReferenceData: { ReferenceItem: { Key: 'Occasion' } },
    },
  };
}

/** The word for a payment's state in the result of a status query. */
function stateWord({ state, givenBackAtMs }: Transaction): string {
  if (givenBackAtMs !== null) return 'Reversed';
  if (state === 'SUCCESSFUL') return 'Completed';
  return state === 'FAILED' ? 'Failed' : 'Pending';
}

/** The parameters in the result of a status query: some keys occur twice, some have spaces, and some have no value. */
export function statusParameters(transaction: Transaction, shortcode: string): readonly Parameter[] {
  const { kind, phone, amount, issuedId, receivedAtMs, decidedAtMs, givenBackAtMs, state } = transaction;
  const [organisation, person] = [`${shortcode} - Malipo`, partyName(phone)];
  const isPaidOut = kind !== 'collection';
  const wasPaid = state === 'SUCCESSFUL' || givenBackAtMs !== null;
  return [
    { Key: 'DebitPartyName', Value: isPaidOut ? organisation : person },
    // The other party has the same key.
    { Key: 'DebitPartyName', Value: isPaidOut ? person : organisation },
    { Key: 'Originator Conversation ID', Value: idsOf(transaction).originatorId },
    { Key: 'InitiatedTime', Value: Number(nairobiDigits(receivedAtMs)) },
    { Key: 'DebitAccountType', Value: isPaidOut ? 'Utility Account' : 'MMF Account For Customer' },
    isPaidOut ? { Key: 'DebitPartyCharges', Value: 'Fee For B2C Payment|KES|22.40' } : { Key: 'DebitPartyCharges' },
    { Key: 'TransactionReason' },
    { Key: 'ReasonType', Value: isPaidOut ? 'Business Payment to Customer via API' : 'Pay Bill Online' },
    { Key: 'TransactionStatus', Value: stateWord(transaction) },
    decidedAtMs === null
      ? { Key: 'FinalisedTime' }
      : { Key: 'FinalisedTime', Value: Number(nairobiDigits(decidedAtMs)) },
    { Key: 'Amount', Value: Number(amount) },
    { Key: 'Conversation ID', Value: issuedId ?? '' },
    wasPaid ? { Key: 'ReceiptNo', Value: receiptOf(transaction) } : { Key: 'ReceiptNo' },
  ];
}

/** A phone with the name of its holder. */
function partyName(phone: string): string {
  const holder = accountHolder(phone);
  return holder === null ? phone : `${phone} - ${holder.given} ${holder.family}`;
}

function idsOf({ externalId, operatorReference, issuedId }: Transaction): ResultIds {
  return { originatorId: externalId ?? operatorReference, conversationId: issuedId ?? '' };
}

// A returned payment was paid before.
function endOf({ kind, state, reason, givenBackAtMs }: Transaction): Said {
  if (state === 'SUCCESSFUL' || givenBackAtMs !== null) return DONE;
  const said = REASONS[kind === 'collection' ? 'collection' : 'payout'][reason?.code ?? ''];
  if (said === undefined) throw new Error(`Daraja has no code for ${reason?.code ?? state}`);
  return said;
}
