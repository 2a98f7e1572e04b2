// Ids, receipts and times in Daraja's formats.
import { randomBytes, randomInt } from 'node:crypto';
import type { Transaction } from './transaction.ts';

const NAIROBI_OFFSET_MS = 3 * 60 * 60_000;
const FIRST_RECEIPT_YEAR = 2006;
const RECEIPT_DIGITS = 7;
const RADIX = 36;

/** Local time of Nairobi: yyyyMMddHHmmss. */
export function nairobiDigits(atMs: number): string {
  return nairobiTime(atMs).slice(0, 14);
}

/** The local time in the result of a payout: dd.MM.yyyy HH:mm:ss. */
export function nairobiDotted(atMs: number): string {
  return nairobiTime(atMs).replace(/^(....)(..)(..)(..)(..)(..).*$/, '$3.$2.$1 $4:$5:$6');
}

/** The time of a text yyyy-MM-dd HH:mm:ss in Nairobi; null for any other text. */
export function parseNairobi(text: string): number | null {
  const [, date, hour, rest] = /^(\d{4}-\d\d-\d\d) (\d{1,2})(:\d\d(?::\d\d)?)$/.exec(text) ?? [];
  const atMs = Date.parse(`${date}T${hour?.padStart(2, '0')}${rest}Z`);
  return Number.isNaN(atMs) ? null : atMs - NAIROBI_OFFSET_MS;
}

/** Whether the text is a valid time in the form yyyyMMddHHmmss. */
export function isTimestamp(text: string): boolean {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)?.slice(1);
  if (parts === undefined) return false;
  const [year, month, day, ...time] = parts;
  const date = new Date(`${year}-${month}-${day}T${time.join(':')}Z`);
  return !Number.isNaN(date.getTime()) && nairobiDigits(date.getTime() - NAIROBI_OFFSET_MS) === text;
}

/** Ten characters, of which the first three are year, month and day. */
export function receiptOf({ financialTransactionId, receivedAtMs }: Transaction): string {
  const number = Number(financialTransactionId) % RADIX ** RECEIPT_DIGITS;
  return receiptDay(receivedAtMs) + number.toString(RADIX).toUpperCase().padStart(RECEIPT_DIGITS, '0');
}

/** The placeholder for the receipt of a failed transaction. */
export function noReceipt(atMs: number): string {
  return receiptDay(atMs) + '0'.repeat(RECEIPT_DIGITS);
}

let lastMs = 0;

/** Ids are unique, also after a restart. */
export function newCheckoutRequestId(phone: string): string {
  lastMs = Math.max(lastMs + 1, Date.now());
  const time = nairobiTime(lastMs).replace(/^(....)(..)(..)/, '$3$2$1');
  return `ws_CO_${time}${phone.slice(-9)}`;
}

export function newConversationId(): string {
  return `AG_${nairobiDigits(Date.now()).slice(0, 8)}_${randomBytes(10).toString('hex')}`;
}

export function newRequestId(): string {
  return `${randomInt(1000, 100_000)}-${randomInt(1_000_000, 100_000_000)}-1`;
}

/** Local time of Nairobi as digits, down to milliseconds. */
function nairobiTime(atMs: number): string {
  return new Date(atMs + NAIROBI_OFFSET_MS).toISOString().replace(/\D/g, '');
}

function receiptDay(atMs: number): string {
  const time = new Date(atMs + NAIROBI_OFFSET_MS);
  const letter = (index: number) => String.fromCharCode('A'.charCodeAt(0) + (index % 26));
  const day = time.getUTCDate().toString(RADIX).toUpperCase();
  return letter(time.getUTCFullYear() - FIRST_RECEIPT_YEAR) + letter(time.getUTCMonth()) + day;
}
