// Time-based one-time codes (RFC 6238): SHA-1, six digits, thirty seconds, which every authenticator app supports.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Allows for a clock that is one step off, and for a code that is typed as its step ends. */
const WINDOW_STEPS = 1;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret of 160 bits in base32 (RFC 4648), the form that authenticator apps expect. */
export function generateTotpSecret(): string {
  const bytes = randomBytes(SECRET_BYTES);
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32.charAt(Number.parseInt(five, 2))).join('');
}

/** The time step at `at`. Each step has one code, which works once. */
export function totpStepAt(at: Date): number {
  return Math.floor(at.getTime() / 1000 / STEP_SECONDS);
}

/** The code for a time step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The time step within the window around `at` whose code this is; null when there is none. */
export function matchTotpStep(secret: string, code: string, at: Date): number | null {
  if (!/^[0-9]{6}$/.test(code)) return null;
  const present = totpStepAt(at);
  let matched: number | null = null;
  for (let step = present - WINDOW_STEPS; step <= present + WINDOW_STEPS; step++) {
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code))) matched = step;
  }
  return matched;
}

/** The address that an authenticator app reads from a QR code. */
export function totpUrl(secret: string, email: string): string {
  const label = `Malipo:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=Malipo&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}

function decodeBase32(text: string): Buffer {
  let bits = '';
  for (const character of text) {
    const value = BASE32.indexOf(character);
    if (value === -1) throw new Error('a secret that is not base32');
    bits += value.toString(2).padStart(5, '0');
  }
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}
