// Prefixed, time-ordered identifiers: a three-letter noun, an underscore, and a UUIDv7 in 26 base32 characters.
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The digits of the time in milliseconds, at the beginning. */
const TIME_LENGTH = 10;
const RANDOM_BYTES = 8;

type Branded<Noun extends string> = string & { readonly __noun: Noun };

export type CollectionId = Branded<'col'>;
export type EventId = Branded<'evt'>;
export type DeliveryId = Branded<'dlv'>;
export type EndpointId = Branded<'whe'>;
export type ApiKeyId = Branded<'key'>;
export type MerchantId = Branded<'mer'>;
export type UserId = Branded<'usr'>;
export type InvitationId = Branded<'inv'>;
export type PolicyChangeId = Branded<'pch'>;
export type MemberChangeId = Branded<'mch'>;
export type PayoutId = Branded<'pay'>;
export type ReversalId = Branded<'rev'>;
export type ReplayId = Branded<'rpl'>;
export type SessionId = Branded<'ses'>;
export type RecoveryId = Branded<'rcv'>;
export type PasskeyId = Branded<'psk'>;
export type RequestId = Branded<'req'>;
export type CheckoutId = Branded<'chk'>;
export type StaffId = Branded<'stf'>;
export type StaffProposalId = Branded<'spr'>;
export type OperatorAccountId = Branded<'opa'>;

type PaymentPrefix = 'col' | 'pay' | 'rev' | 'chk';
type WebhookPrefix = 'evt' | 'dlv' | 'whe' | 'rpl';
type AccountPrefix = 'key' | 'mer' | 'usr' | 'inv' | 'pch' | 'mch' | 'ses' | 'rcv' | 'psk' | 'req';
type StaffPrefix = 'stf' | 'spr' | 'opa';
type IdPrefix = PaymentPrefix | WebhookPrefix | AccountPrefix | StaffPrefix;

/** An id with this prefix, or with any of several. */
export type IdWith<Prefix extends IdPrefix> = Prefix extends IdPrefix ? Branded<Prefix> : never;

// Ids date payments and their deadlines. A clock that was ahead for a moment must not date later ids.
const MAX_AHEAD_MS = 1000;
let lastMs = 0;
let sequence = 0;

/**
 * A new id at `atMs` (Unix milliseconds), at most a second later. Ids from one process sort as text in the order of
 * their creation, unless the given time goes back by more than a second: then they follow it. Ids from several
 * processes sort by millisecond. 62 bits are random, so no id can be guessed from its neighbour.
 */
export function newId<Prefix extends IdPrefix>(prefix: Prefix, atMs: number = Date.now()): IdWith<Prefix> {
  return `${prefix}_${encodeBase32(uuidV7Bytes(atMs))}` as IdWith<Prefix>;
}

/** Whether `text` has the form of an id with this prefix. The object need not exist. */
export function isId<Prefix extends IdPrefix>(prefix: Prefix, text: string): text is IdWith<Prefix> {
  return text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1));
}

/** The smallest id with this prefix at `atMs`: every id created earlier sorts below it. */
export function lowestIdAt<Prefix extends IdPrefix>(prefix: Prefix, atMs: number): IdWith<Prefix> {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.min(Math.max(0, Math.floor(atMs)), 2 ** 48 - 1), 0, 6);
  return `${prefix}_${encodeBase32(bytes)}` as IdWith<Prefix>;
}

/** The creation time in the id, in Unix milliseconds. */
export function idTimeMs(id: IdWith<IdPrefix>): number {
  const start = id.indexOf('_') + 1;
  let timeMs = 0;
  for (const digit of id.slice(start, start + TIME_LENGTH)) timeMs = timeMs * 32 + ALPHABET.indexOf(digit);
  return timeMs;
}

// RFC 9562, version 7, with the 12 bits after the time as a counter within the millisecond (method 1).
function uuidV7Bytes(atMs: number): Buffer {
  if (atMs > lastMs || lastMs - atMs > MAX_AHEAD_MS) {
    lastMs = atMs;
    sequence = 0;
  } else if (++sequence > 0xfff) {
    lastMs += 1;
    sequence = 0;
  }
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  takeRandomBytes().copy(bytes, 8);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes;
}

// Drawn for many ids at once, at the cost of one. No byte is used twice.
const random = Buffer.alloc(RANDOM_BYTES * 512);
let usedBytes = random.length;

function takeRandomBytes(): Buffer {
  if (usedBytes === random.length) {
    randomFillSync(random);
    usedBytes = 0;
  }
  usedBytes += RANDOM_BYTES;
  return random.subarray(usedBytes - RANDOM_BYTES, usedBytes);
}

// Ten digits for the time, and eight for each five bytes of the rest: these numbers are exact.
function encodeBase32(bytes: Buffer): string {
  const rest = encodeNumber(bytes.readUIntBE(6, 5), 8) + encodeNumber(bytes.readUIntBE(11, 5), 8);
  return encodeNumber(bytes.readUIntBE(0, 6), TIME_LENGTH) + rest;
}

function encodeNumber(number: number, length: number): string {
  let [text, left] = ['', number];
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(left % 32) + text;
    left = Math.floor(left / 32);
  }
  return text;
}
