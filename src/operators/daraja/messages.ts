// Reads Daraja's messages to the addresses that we gave it: the result of a prompt, payout or refund, a timeout, the answer to a status query.
import { z } from 'zod';
import type { MessagePurpose } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentKind } from '../../domain/payments/payment.ts';
import type { OperatorMessage, Paid, StatusOutcome } from '../port.ts';
import { meaningOf, stateOf, type CodeMeaning, type DarajaUse } from './codes.ts';
import {
  amountIn,
  codeIn,
  issuedIdIn,
  namedValues,
  phoneIn,
  receiptIn,
  referenceIn,
  valueOf,
  wordIn,
  type NamedValues,
} from './values.ts';

const any = z.unknown().optional();

const promptBody = z.object({
  Result: z.undefined().optional(),
  Body: z.object({ stkCallback: z.object({ CheckoutRequestID: any, ResultCode: any, CallbackMetadata: any }) }),
});

const resultBody = z.object({
  Body: z.undefined().optional(),
  Result: z.object({
    ResultType: any,
    ResultCode: any,
    OriginatorConversationID: any,
    ConversationID: any,
    TransactionID: any,
    ResultParameters: any,
  }),
});

type PromptCallback = z.infer<typeof promptBody>['Body']['stkCallback'];
type Result = z.infer<typeof resultBody>['Result'];

/**
 * Reads tolerantly and concludes strictly: a code, word or shape that is not listed is `unknown`, and so is a message that names no
 * payment or contradicts itself. Never throws. Null if the body is no message of Daraja for this purpose.
 */
export function readMessage(purpose: MessagePurpose, body: unknown, kind: PaymentKind): OperatorMessage | null {
  const prompt = promptBody.safeParse(body);
  if (prompt.success) return purpose === 'result' ? readPromptCallback(prompt.data.Body.stkCallback) : null;
  const parsed = resultBody.safeParse(body);
  if (!parsed.success) return null;
  const { Result: result } = parsed.data;
  switch (purpose) {
    case 'result':
      return kind === 'reversal' ? readRefundResult(result) : readPayoutResult(result);
    case 'timeout':
      return { ...idsOf(result, kind), status: unknown('timeout') };
    case 'query':
      return readStatusResult(result, kind);
  }
}

function readPromptCallback(callback: PromptCallback): OperatorMessage {
  const issuedId = issuedIdIn(callback.CheckoutRequestID);
  const status = issuedId === null ? unknown('no CheckoutRequestID') : promptStatus(callback);
  return { status, issuedId, operatorReference: null };
}

function promptStatus({ ResultCode, CallbackMetadata: metadata }: PromptCallback): StatusOutcome {
  const items = namedValues(fieldOf(metadata, 'Item'), 'Name');
  const receipt = valueOf(items, 'mpesareceiptnumber', receiptIn);
  const [code, meaning] = readCode(ResultCode, 'collection');
  if (meaning?.kind !== 'paid') return receipt === undefined ? unpaid(code, meaning) : unknown('unpaid with a receipt');
  const amount = valueOf(items, 'amount', amountIn);
  // Amount and receipt may be missing: the status query says that a prompt is paid, and names neither.
  if (amount === null) return paidUnreadable(receipt);
  const phone = valueOf(items, 'phonenumber', phoneIn);
  const paid = amount === undefined ? {} : { paid: kes(amount) };
  return { kind: 'succeeded', receipt: receipt ?? null, ...paid, ...named(phone) };
}

function readPayoutResult(result: Result): OperatorMessage {
  const ids = idsOf(result, 'payout');
  if (ids.operatorReference === null) return { ...ids, status: unknown('no reference of ours') };
  // A result of another type is followed by another message.
  if (!isFinal(result)) return { ...ids, status: unknown('not final') };
  const values = parametersOf(result);
  const [code, meaning] = readCode(result.ResultCode, 'payout');
  if (meaning?.kind === 'paid') return { ...ids, status: paidPayout(values, result) };
  const isContradiction = valueOf(values, 'transactionreceipt', receiptIn) !== undefined;
  return { ...ids, status: isContradiction ? unknown('unpaid with a receipt') : unpaid(code, meaning) };
}

function paidPayout(values: NamedValues, { TransactionID: transactionId }: Result): StatusOutcome {
  const id = receiptIn(transactionId) ?? undefined;
  const parameter = valueOf(values, 'transactionreceipt', receiptIn);
  const isContradiction = id !== undefined && parameter !== undefined && parameter !== id;
  const receipt = isContradiction ? null : (parameter ?? id);
  const amount = valueOf(values, 'transactionamount', amountIn);
  return settled('succeeded', { receipt, amount, phone: valueOf(values, 'receiverpartypublicname', phoneIn) });
}

function readRefundResult(result: Result): OperatorMessage {
  const ids = idsOf(result, 'reversal');
  if (ids.issuedId === null) return { ...ids, status: unknown('no id of the refund') };
  if (!isFinal(result)) return { ...ids, status: unknown('not final') };
  const values = parametersOf(result);
  const [code, meaning] = readCode(result.ResultCode, 'refund');
  const original = valueOf(values, 'originaltransactionid', receiptIn);
  if (meaning?.kind !== 'paid') {
    return { ...ids, status: original === undefined ? unpaid(code, meaning) : unknown('unpaid with a receipt') };
  }
  // The receipt of the reversal, which is not that of the collection.
  const receipt = receiptIn(result.TransactionID);
  const amount = valueOf(values, 'amount', amountIn);
  const phone = valueOf(values, 'creditpartypublicname', phoneIn);
  return { ...ids, status: settled('succeeded', { receipt, amount, phone }) };
}

/** The ids of the answer itself are those of the query. Its parameters name the payment. */
function readStatusResult(result: Result, kind: PaymentKind): OperatorMessage {
  const values = parametersOf(result);
  const isRefund = kind === 'reversal';
  const reference = isRefund ? undefined : valueOf(values, 'originatorconversationid', referenceIn);
  const issued = valueOf(values, isRefund ? 'originatorconversationid' : 'conversationid', issuedIdIn);
  const ids = { operatorReference: reference ?? null, issuedId: issued ?? null };
  const [code, meaning] = readCode(result.ResultCode, 'payout');
  // Any other code is about the query, and carries no payment information.
  if (meaning?.kind !== 'paid' || !isFinal(result)) {
    const isOurs = meaning?.kind === 'account' || meaning?.kind === 'busy';
    return { ...ids, status: isOurs ? unpaid(code, meaning) : unknown(`query not answered: ${code ?? 'no code'}`) };
  }
  if (reference === null || (ids.operatorReference ?? ids.issuedId) === null) {
    return { ...ids, status: unknown('no payment of ours') };
  }
  return { ...ids, status: transactionStatus(values) };
}

function transactionStatus(values: NamedValues): StatusOutcome {
  const word = valueOf(values, 'transactionstatus', wordIn) ?? null;
  const receipt = valueOf(values, 'receiptno', receiptIn);
  const amount = valueOf(values, 'amount', amountIn);
  const phone = payeeOf(values);
  switch (word === null ? null : stateOf(word)) {
    case 'paid':
      return settled('succeeded', { receipt, amount, phone });
    case 'returned':
      return settled('returned', { receipt, amount, phone });
    case 'pending':
      return { kind: 'pending', ...money(amount), ...named(phone) };
    case 'failed':
      return {
        kind: 'failed',
        code: 'operator_rejected',
        operatorCode: String(word).toUpperCase(),
        ...money(amount),
        ...named(phone),
      };
    case null:
      return { kind: 'unreadable', reason: 'state not listed' };
  }
}

// The payee has its own key, or is a second value of the payer's key; the payer is a shortcode.
function payeeOf(values: NamedValues): string | null {
  const parties = ['creditpartyname', 'debitpartyname', 'receiverpartypublicname'].flatMap(
    (key) => values.get(key) ?? [],
  );
  const [phone = null, ...others] = new Set(parties.map(phoneIn).filter((each) => each !== null));
  return others.length === 0 ? phone : null;
}

type Read = string | null | undefined;

function settled(
  kind: 'succeeded' | 'returned',
  { receipt, amount, phone }: Readonly<Record<'receipt' | 'amount' | 'phone', Read>>,
): StatusOutcome {
  const isWhole = typeof receipt === 'string' && typeof amount === 'string';
  return isWhole ? { kind, receipt, paid: kes(amount), ...named(phone) } : paidUnreadable(receipt);
}

function paidUnreadable(receipt: Read): StatusOutcome {
  return { kind: 'paid_unreadable', receipt: receipt ?? null, reason: 'paid, but amount or receipt is not understood' };
}

/** The status for a code that does not mean paid. */
function unpaid(code: string | null, meaning: CodeMeaning | null): StatusOutcome {
  switch (meaning?.kind) {
    case 'failed':
      return {
        kind: 'failed',
        code: meaning.failure,
        operatorCode: code ?? '',
        ...(meaning.isFloatLow && { isFloatLow: true }),
      };
    case 'pending':
      return { kind: 'pending' };
    case 'account':
    case 'busy':
      return { ...unknown(`code ${code}`), cause: meaning.kind };
    case 'paid':
    case undefined:
      return unknown(code === null ? 'no code' : `code ${code} is not listed`);
  }
}

function readCode(value: unknown, use: DarajaUse): [code: string | null, meaning: CodeMeaning | null] {
  const code = codeIn(value);
  return [code, code === null ? null : meaningOf(code, use)];
}

// Daraja issues both ids of a refund. The first one names the refund in queries.
function idsOf(
  { OriginatorConversationID, ConversationID }: Result,
  kind: PaymentKind,
): Omit<OperatorMessage, 'status'> {
  if (kind === 'reversal') return { operatorReference: null, issuedId: issuedIdIn(OriginatorConversationID) };
  return { operatorReference: referenceIn(OriginatorConversationID), issuedId: issuedIdIn(ConversationID) };
}

function isFinal({ ResultType: type }: Result): boolean {
  return type === undefined || codeIn(type) === '0';
}

function parametersOf({ ResultParameters: parameters }: Result): NamedValues {
  return namedValues(fieldOf(parameters, 'ResultParameter'), 'Key');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function money(amount: Read): { readonly money?: Paid } {
  return typeof amount === 'string' ? { money: kes(amount) } : {};
}

function kes(amount: string): Paid {
  return { amount, currency: 'KES' };
}

function named(phone: Read): { readonly phone?: string } {
  return typeof phone === 'string' ? { phone } : {};
}

function unknown(reason: string): Extract<StatusOutcome, { kind: 'unknown' }> {
  return { kind: 'unknown', reason };
}
