// Our requests in Daraja's format: paths and the exact text of their bodies.
import type { KeyObject } from 'node:crypto';
import type { MessagePurpose } from '../../domain/payments/operator-catalogue.ts';
import { exponentOf, type Money } from '../../domain/money.ts';
import type { HttpRequest } from '../http-client.ts';
import { cleanNote } from '../payer-note.ts';
import type { PayoutRequest, PromptRequest, RefundRequest } from '../port.ts';
import { accountReferenceOf } from './account-reference.ts';
import { promptPassword, securityCredential, timestampOf } from './credential.ts';

/** The data about us in requests. */
export type DarajaParty = {
  /** The shortcode to which customers pay. */
  readonly shortcode: string;
  readonly passkey: string;
  /** The shortcode from which payouts are paid. */
  readonly payoutShortcode: string;
  readonly initiatorName: string;
  readonly initiatorPassword: string;
  /** The key of M-Pesa's certificate. */
  readonly publicKey: KeyObject;
  /** The address for messages of this purpose, about a payment or one of its queries. */
  readonly addressOf: (purpose: MessagePurpose, operatorReference: string, queryId?: string) => string;
};

const CALLING_CODE = '254';
const SHILLINGS = 'KES';
/** A longer description makes a prompt that no phone shows. */
const DESCRIPTION_RULES = { maxLength: 13, fallback: 'Payment' };
const REMARKS_RULES = { maxLength: 100, fallback: 'Payment' };

/** Null if the currency or the phone belongs to another market, or the amount has cents: nothing may be sent then. */
export function stkPush(request: PromptRequest, party: DarajaParty, nowMs: number): HttpRequest | null {
  const amount = amountOf(request);
  if (amount === null) return null;
  const { operatorReference, phone } = request;
  return post('/mpesa/stkpush/v1/processrequest', {
    ...signedBy(party, nowMs),
    TransactionType: 'CustomerPayBillOnline',
    Amount: amount,
    PartyA: phone,
    PartyB: party.shortcode,
    PhoneNumber: phone,
    CallBackURL: party.addressOf('result', operatorReference),
    AccountReference: accountReferenceOf(operatorReference),
    TransactionDesc: plainNote(request.payerMessage, DESCRIPTION_RULES),
  });
}

export function stkQuery(checkoutRequestId: string, party: DarajaParty, nowMs: number): HttpRequest {
  return post('/mpesa/stkpushquery/v1/query', { ...signedBy(party, nowMs), CheckoutRequestID: checkoutRequestId });
}

/** Null in the cases of `stkPush`. */
export function paymentRequest(request: PayoutRequest, party: DarajaParty): HttpRequest | null {
  const amount = amountOf(request);
  if (amount === null) return null;
  const { operatorReference, phone } = request;
  return post('/mpesa/b2c/v3/paymentrequest', {
    OriginatorConversationID: operatorReference,
    InitiatorName: party.initiatorName,
    SecurityCredential: securityCredential(party.initiatorPassword, party.publicKey),
    CommandID: 'BusinessPayment',
    Amount: amount,
    PartyA: party.payoutShortcode,
    PartyB: phone,
    Remarks: plainNote(request.payeeMessage, REMARKS_RULES),
    QueueTimeOutURL: party.addressOf('timeout', operatorReference),
    ResultURL: party.addressOf('result', operatorReference),
    // Daraja's spelling.
    Occassion: accountReferenceOf(operatorReference),
  });
}

/** Returns the collection with this receipt to its payer. Null without a receipt, for another currency or for cents. */
export function reversal(request: RefundRequest, party: DarajaParty): HttpRequest | null {
  const { operatorReference, originalReceipt } = request;
  const amount = wholeShillings(request.money);
  if (originalReceipt === null || amount === null) return null;
  return post('/mpesa/reversal/v1/request', {
    Initiator: party.initiatorName,
    SecurityCredential: securityCredential(party.initiatorPassword, party.publicKey),
    CommandID: 'TransactionReversal',
    TransactionID: originalReceipt,
    Amount: amount,
    ReceiverParty: party.shortcode,
    // Daraja's spelling, and the number of its documents; its examples have 4.
    RecieverIdentifierType: '11',
    ResultURL: party.addressOf('result', operatorReference),
    QueueTimeOutURL: party.addressOf('timeout', operatorReference),
    Remarks: plainNote(request.note, REMARKS_RULES),
    Occasion: accountReferenceOf(operatorReference),
  });
}

/** A payment as a status query names it: by the id of its request, ours or Daraja's, and by the shortcode whose money it moved. */
type Asked = {
  readonly conversationId: string;
  readonly shortcode: string;
  readonly operatorReference: string;
  readonly queryId: string;
};

/** Daraja sends the answer to the address of the query. */
export function transactionStatus(
  { conversationId, shortcode, operatorReference, queryId }: Asked,
  party: DarajaParty,
): HttpRequest {
  return post('/mpesa/transactionstatus/v1/query', {
    Initiator: party.initiatorName,
    SecurityCredential: securityCredential(party.initiatorPassword, party.publicKey),
    CommandID: 'TransactionStatusQuery',
    OriginalConversationID: conversationId,
    PartyA: shortcode,
    // The identifier type of an organisation.
    IdentifierType: '4',
    ResultURL: party.addressOf('query', operatorReference, queryId),
    QueueTimeOutURL: party.addressOf('timeout', operatorReference),
    Remarks: 'Status',
    Occasion: accountReferenceOf(operatorReference),
  });
}

/** Null for a phone of another market. */
export function nameLookUp(
  phone: string,
  { payoutShortcode }: DarajaParty,
  { requestId, nowMs }: { readonly requestId: string; readonly nowMs: number },
): HttpRequest | null {
  if (!phone.startsWith(CALLING_CODE)) return null;
  return post('/mpesa/b2c/hakikisha/v1/hakikisha', {
    header: { requestID: requestId, timestamp: String(Math.floor(nowMs / 1000)) },
    body: { msisdn: phone, shortcode: payoutShortcode },
  });
}

function signedBy({ shortcode, passkey }: DarajaParty, nowMs: number): Readonly<Record<string, string>> {
  const timestamp = timestampOf(nowMs);
  return {
    BusinessShortCode: shortcode,
    Password: promptPassword(shortcode, passkey, timestamp),
    Timestamp: timestamp,
  };
}

function amountOf({ phone, money }: { readonly phone: string; readonly money: Money }): string | null {
  return phone.startsWith(CALLING_CODE) ? wholeShillings(money) : null;
}

function wholeShillings(money: Money): string | null {
  if (money.currency !== SHILLINGS) return null;
  const unit = 10n ** BigInt(exponentOf(money.currency));
  return money.amountMinor % unit === 0n ? (money.amountMinor / unit).toString() : null;
}

// Daraja counts bytes, and other letters make requests fail.
function plainNote(text: string, rules: typeof DESCRIPTION_RULES): string {
  const ascii = text
    .normalize('NFKD')
    .replace(/\s/g, ' ')
    .replace(/[^\x20-\x7e]/g, '');
  return cleanNote(ascii, rules);
}

export function post(path: string, body: object): HttpRequest {
  return { method: 'POST', path, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}
