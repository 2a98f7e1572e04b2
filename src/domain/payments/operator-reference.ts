// The operator reference of a new payment or refund: a UUID that the operator takes, and that sorts by its creation.
import { randomUUID } from 'node:crypto';

const HEX_OF_TIME = 12;
const LAST_MS = 2 ** 48 - 1;
/** Where the third group of a UUID begins, with the hyphen before it. */
const AFTER_TIME = 13;

/**
 * A new operator reference, created at `atMs` (Unix milliseconds). Its form is that of a UUID of version 4, which operators demand; it
 * begins with the time, so that references sort by millisecond and a unique index over all of them grows at its end. 74 bits are random:
 * no two are the same, and none can be guessed from another one or from the time.
 */
export function newOperatorReference(atMs: number): string {
  const time = Math.min(Math.max(0, Math.floor(atMs)), LAST_MS)
    .toString(16)
    .padStart(HEX_OF_TIME, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUID().slice(AFTER_TIME)}`;
}
