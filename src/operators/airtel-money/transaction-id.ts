// The id under which Airtel knows a payment: our operator reference, written with other digits.
import { uuidOf } from '../../domain/payments/operator-reference.ts';

const BASE = 36n;
/** 36^25 is more than 2^128, so every UUID has an id of this length. */
const LENGTH = 25;
const ID = /^[0-9A-Z]{25}$/;
const UUID_V4_HEX = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/** 25 characters of 0-9 and A-Z. Two references never have the same id, and `operatorReferenceIn` leads back. */
export function transactionIdOf(operatorReference: string): string {
  const number = BigInt(`0x${operatorReference.replaceAll('-', '')}`);
  return number.toString(Number(BASE)).toUpperCase().padStart(LENGTH, '0');
}

/** The reference that has this id, in any case of its letters; null: it is no id of ours. */
export function operatorReferenceIn(transactionId: unknown): string | null {
  if (typeof transactionId !== 'string') return null;
  const id = transactionId.toUpperCase();
  if (!ID.test(id)) return null;
  const hex = Array.from(id)
    .reduce((number, digit) => number * BASE + BigInt(parseInt(digit, Number(BASE))), 0n)
    .toString(16)
    .padStart(32, '0');
  return UUID_V4_HEX.test(hex) ? uuidOf(hex) : null;
}
