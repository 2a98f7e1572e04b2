// Our requests in Airtel's format: paths and the exact text of their bodies.
import type { KeyObject } from 'node:crypto';
import { toDecimalString, type Money } from '../../domain/money.ts';
import { cleanNote } from '../payer-note.ts';
import type { PayoutRequest, PromptRequest, RefundRequest } from '../port.ts';
import { encrypted } from './signing.ts';
import { transactionIdOf } from './transaction-id.ts';

/** The one market of an account with Airtel. */
export type AirtelMarket = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly currency: string;
  /** The digits with which all phones of the country begin; Airtel wants the phones without these digits. */
  readonly callingCode: string;
};

/** A request whose body is signed; a body with a PIN is written again for each key. */
export type SignedRequest = { readonly path: string; readonly body: (publicKey: KeyObject) => string };

const NOTE_RULES = { maxLength: 64, fallback: 'Payment' };

/** Null if the currency or the phone belongs to another market: nothing may be sent then. */
export function pushPayment(request: PromptRequest, market: AirtelMarket): SignedRequest | null {
  const msisdn = nationalNumber(request, market);
  if (msisdn === null) return null;
  const { country, currency } = market;
  const transaction = json({ country, currency, id: transactionIdOf(request.operatorReference) });
  const body =
    `{"reference":${json(cleanNote(request.payerMessage, NOTE_RULES))},"subscriber":${json({ country, currency, msisdn })},` +
    `"transaction":${withAmount(request.money, transaction)}}`;
  return { path: '/merchant/v2/payments/', body: () => body };
}

/** Like a collection's request, for a payout. The PIN is that of our wallet, which pays the payout. */
export function disbursement(request: PayoutRequest, market: AirtelMarket, pin: string): SignedRequest | null {
  const msisdn = nationalNumber(request, market);
  if (msisdn === null) return null;
  const transaction = json({ id: transactionIdOf(request.operatorReference), type: 'B2C' });
  const payee = json({ msisdn, currency: market.currency });
  const reference = json(cleanNote(request.payeeMessage, NOTE_RULES));
  return {
    path: '/standard/v2/disbursements/',
    body: (publicKey) =>
      `{"payee":${payee},"reference":${reference},"pin":${json(encrypted(pin, publicKey))},` +
      `"transaction":${withAmount(request.money, transaction)}}`,
  };
}

/** Returns the whole collection with this receipt. Null without a receipt of Airtel: where Airtel named none, our reference stands for it. */
export function refund(request: RefundRequest): SignedRequest | null {
  const { originalReceipt: receipt, originalOperatorReference: reference } = request;
  if (receipt === null || receipt === reference) return null;
  const body = json({ transaction: { airtel_money_id: receipt } });
  return { path: '/standard/v2/payments/refund', body: () => body };
}

function nationalNumber(
  { phone, money }: { readonly phone: string; readonly money: Money },
  { callingCode, currency }: AirtelMarket,
): string | null {
  return phone.startsWith(callingCode) && money.currency === currency ? phone.slice(callingCode.length) : null;
}

// A JSON number, written from its decimal digits: it never passes through a float.
function withAmount(money: Money, transaction: string): string {
  return `{"amount":${toDecimalString(money).replace(/\.0+$/, '')},${transaction.slice(1)}`;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
