// Parses payment requests in Airtel's format, as strictly as Airtel does.
import { z } from 'zod';
import type { SandboxRequest } from './transaction.ts';

/** The currency of each country, and the calling code that Airtel's phones omit. */
const MARKETS: Readonly<Record<string, { readonly currency: string; readonly callingCode: string }>> = {
  UG: { currency: 'UGX', callingCode: '256' },
  KE: { currency: 'KES', callingCode: '254' },
  TZ: { currency: 'TZS', callingCode: '255' },
  RW: { currency: 'RWF', callingCode: '250' },
  ZM: { currency: 'ZMW', callingCode: '260' },
};

export function isMarket(country: string, currency: string): boolean {
  return Object.hasOwn(MARKETS, country) && MARKETS[country]?.currency === currency;
}

/** The international number of a phone in Airtel's format. */
export function phoneIn(country: string, msisdn: string): string {
  return `${MARKETS[country]?.callingCode ?? ''}${msisdn}`;
}

/** `pin` is still encrypted; a collection has none. */
export type AirtelRead =
  | { readonly request: Omit<SandboxRequest, 'callbackUrl'>; readonly pin: string | null }
  | { readonly problem: 'amount' | 'other' };

// A phone without the country code, and without the zero that people dial.
const msisdn = z.string().regex(/^[1-9]\d{6,9}$/);
const id = z.string().regex(/^[0-9A-Za-z]{4,64}$/);
const reference = z.string().min(1).max(64);
const amount = z
  .number()
  .positive()
  .refine((value) => /^\d{1,13}(\.\d{1,2})?$/.test(String(value)));

const pushPayment = z.object({
  reference,
  subscriber: z.object({ country: z.string(), currency: z.string(), msisdn }),
  transaction: z.object({ amount, country: z.string(), currency: z.string(), id }),
});

const disbursement = z.object({
  payee: z.object({ msisdn, currency: z.string() }),
  reference,
  pin: z.string().min(1),
  transaction: z.object({ amount, id, type: z.literal('B2C') }),
});

/** `country` comes from the header; the body must have the same one. */
export function readPushPayment(body: unknown, country: string): AirtelRead {
  const parsed = pushPayment.safeParse(body);
  if (!parsed.success) return problemIn(parsed.error);
  const { subscriber, transaction } = parsed.data;
  const agrees = [subscriber, transaction].every(
    (part) => part.country === country && isMarket(country, part.currency),
  );
  if (!agrees) return { problem: 'other' };
  const fields = { kind: 'collection', msisdn: subscriber.msisdn, note: parsed.data.reference } as const;
  return { request: requestOf({ ...fields, ...transaction }, country), pin: null };
}

export function readDisbursement(body: unknown, country: string): AirtelRead {
  const parsed = disbursement.safeParse(body);
  if (!parsed.success) return problemIn(parsed.error);
  const { payee, transaction, pin } = parsed.data;
  if (!isMarket(country, payee.currency)) return { problem: 'other' };
  const fields = { kind: 'payout', ...payee, note: parsed.data.reference } as const;
  return { request: requestOf({ ...fields, ...transaction }, country), pin };
}

const refund = z.object({ transaction: z.object({ airtel_money_id: z.string().min(1) }) });

/** The receipt of the collection that is to be refunded: a refund has no id, amount or phone of its own. */
export function readRefund(body: unknown): { readonly receipt: string } | { readonly problem: 'other' } {
  const parsed = refund.safeParse(body);
  return parsed.success ? { receipt: parsed.data.transaction.airtel_money_id } : { problem: 'other' };
}

type Fields = {
  readonly kind: 'collection' | 'payout';
  readonly msisdn: string;
  readonly currency: string;
  readonly note: string;
  readonly amount: number;
  readonly id: string;
};

function requestOf(fields: Fields, country: string): Omit<SandboxRequest, 'callbackUrl'> {
  return {
    kind: fields.kind,
    wire: 'airtel-money',
    operatorReference: fields.id.toLowerCase(),
    originalReference: null,
    phone: phoneIn(country, fields.msisdn),
    amount: String(fields.amount),
    currency: fields.currency,
    externalId: fields.id,
    payerMessage: fields.note,
    payeeNote: fields.note,
  };
}

function problemIn(error: z.ZodError): AirtelRead {
  return { problem: error.issues.some(({ path }) => path.at(-1) === 'amount') ? 'amount' : 'other' };
}
