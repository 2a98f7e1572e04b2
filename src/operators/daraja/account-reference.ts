// The reference of a collection as M-Pesa shows it to its payer and in the statement: our operator reference, cut short.

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 10;
const BITS_PER_DIGIT = 5n;
const UUID_BITS = 128n;

/** The first 50 bits, as ten characters of 0-9 and A-Z; Daraja takes twelve. The database refuses two payments with the same reference. */
export function accountReferenceOf(operatorReference: string): string {
  const number = BigInt(`0x${operatorReference.replaceAll('-', '')}`);
  return Array.from({ length: LENGTH }, (_, index) => {
    const shift = UUID_BITS - BITS_PER_DIGIT * BigInt(index + 1);
    return CROCKFORD.charAt(Number((number >> shift) & 31n));
  }).join('');
}
