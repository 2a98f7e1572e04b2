// The operator reference of a new payment or refund: a UUID that the operator takes, and that sorts by its creation.
import { randomBytes } from 'node:crypto';

const HEX_OF_TIME = 12;
const LAST_MS = 2 ** 48 - 1;

/**
 * A new operator reference, created at `atMs` (Unix milliseconds). Its form is that of a UUID of version 4, which operators demand; it
 * begins with the time, so that references sort by millisecond and a unique index over all of them grows at its end. 74 bits are random:
 * no two are the same, and none can be guessed from another one or from the time.
 */
export function newOperatorReference(atMs: number): string {
  const time = Math.min(Math.max(0, Math.floor(atMs)), LAST_MS)
    .toString(16)
    .padStart(HEX_OF_TIME, '0');
  const random = randomBytes(10);
  random.writeUInt8((random.readUInt8(0) & 0x0f) | 0x40, 0);
  random.writeUInt8((random.readUInt8(2) & 0x3f) | 0x80, 2);
  const hex = time + random.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
