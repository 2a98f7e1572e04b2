// The id under which Airtel knows a payment: our operator reference, written with other digits.
import { uuidOf } from '../../domain/payments/operator-reference.ts';

const BASE = 36n;
/** 36^25 is more than 2^128, so every UUID has an id of this length. */
const LENGTH = 25;
const ID = /^[0-9A-Z]{25}$/;
const HEX_LENGTH = 32;

/** 25 characters of 0-9 and A-Z. Two references never have the same id, and `operatorReferenceIn` leads back. */
export function transactionIdOf(operatorReference: string): string {
  const number = BigInt(`0x${operatorReference.replaceAll('-', '')}`);
  return number.toString(Number(BASE)).toUpperCase().padStart(LENGTH, '0');
}

/** The reference that would have this id, in upper or lower case; null if the text does not have the form of our ids. */
export function operatorReferenceIn(transactionId: unknown): string | null {
  if (typeof transactionId !== 'string') return null;
  const id = transactionId.toUpperCase();
  if (!ID.test(id)) return null;
  const hex = Array.from(id)
    .reduce((number, digit) => number * BASE + BigInt(parseInt(digit, Number(BASE))), 0n)
    .toString(16)
    .padStart(HEX_LENGTH, '0');
  return hex.length === HEX_LENGTH ? uuidOf(hex) : null;
}
