// How each operator names a payment, counts its money and writes its receipt: stated here again, because the checker shares no code with the service.
import type { OperatorPayment } from './evidence.ts';
import type { Records } from './records.ts';

type Named = { readonly operator: string; readonly operatorReference: string };

const HUNDREDTHS: ReadonlySet<string> = new Set(['KES']);
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ACCOUNT_REFERENCE = { length: 10, bitsPerDigit: 5n, uuidBits: 128n };
const AIRTEL_LENGTH = 25;
const RECEIPT = { digits: 7, radix: 36 };

/**
 * The operators' payments by our references. A second payment with the name of one of ours keeps its own reference, so that no row names
 * it: a prompt of M-Pesa that was raised twice is two payments.
 */
export function byOurReferences(
  operator: ReadonlyMap<string, OperatorPayment>,
  { collections, payouts, reversals }: Pick<Records, 'collections' | 'payouts' | 'reversals'>,
): Map<string, OperatorPayment> {
  const ours = new Map<string, string>();
  const names = new Map(collections.map((row) => [row.id, nameOf(row, true)]));
  for (const row of collections) ours.set(nameOf(row, true), row.operatorReference);
  for (const row of payouts) ours.set(nameOf(row, false), row.operatorReference);
  for (const row of reversals) ours.set(refundNameOf(row, names), row.operatorReference);
  const named = new Map<string, OperatorPayment>();
  for (const payment of operator.values()) {
    const collection = operator.get(payment.originalReference ?? '');
    const reference = ours.get(nameAtOperator(payment, collection));
    const key = reference === undefined || named.has(reference) ? payment.operatorReference : reference;
    const original = collection && ours.get(nameAtOperator(collection, undefined));
    named.set(key, { ...payment, operatorReference: key, originalReference: original ?? payment.originalReference });
  }
  return named;
}

/** Of a refund that the operator knows by its collection alone, it is the name of the collection. */
function nameAtOperator(payment: OperatorPayment, collection: OperatorPayment | undefined): string {
  const own = isPrompt(payment) ? (payment.externalId ?? '') : payment.operatorReference;
  const isUnnamed = payment.kind === 'refund' && payment.wire !== 'mtn-momo';
  if (isUnnamed && collection !== undefined) return refundName(nameAtOperator(collection, undefined));
  return `${payment.wire} ${own.toUpperCase()}`;
}

function refundNameOf(row: Named & { readonly collectionId: string }, names: ReadonlyMap<string, string>): string {
  return row.operator === 'mtn-momo' ? nameOf(row, false) : refundName(names.get(row.collectionId) ?? '');
}

function refundName(collection: string): string {
  return `refund of ${collection}`;
}

/** M-Pesa knows a prompt by an id of its own, and shows a short reference of ours with it. */
function isPrompt({ wire, kind }: OperatorPayment): boolean {
  return wire === 'daraja' && kind === 'collection';
}

function nameOf({ operator, operatorReference }: Named, isCollection: boolean): string {
  if (operator === 'airtel-money') {
    return `${operator} ${bitsOf(operatorReference).toString(36).toUpperCase().padStart(AIRTEL_LENGTH, '0')}`;
  }
  if (operator !== 'daraja' || !isCollection) return `${operator} ${operatorReference.toUpperCase()}`;
  const { length, bitsPerDigit, uuidBits } = ACCOUNT_REFERENCE;
  const digits = Array.from({ length }, (_, index) => {
    return CROCKFORD.charAt(Number((bitsOf(operatorReference) >> (uuidBits - bitsPerDigit * BigInt(index + 1))) & 31n));
  });
  return `${operator} ${digits.join('')}`;
}

function bitsOf(uuid: string): bigint {
  return BigInt(`0x${uuid.replaceAll('-', '')}`);
}

/** The operator counts whole units, and a row the smallest ones. */
export function minorAmountOf({ amount, currency }: OperatorPayment): number {
  return Number(amount) * (HUNDREDTHS.has(currency) ? 100 : 1);
}

export function hasReceipt({ wire, financialTransactionId: id }: OperatorPayment, receipt: string): boolean {
  if (wire === 'mtn-momo') return receipt === id;
  if (wire === 'airtel-money') return receipt === `CI${id}`;
  // The day is before it.
  const { digits, radix } = RECEIPT;
  const end = (Number(id) % radix ** digits).toString(radix).toUpperCase().padStart(digits, '0');
  return receipt.length === digits + 3 && receipt.endsWith(end);
}

/** M-Pesa tells nobody that it returned a customer's payment: only the statement of the day has it. */
export function isReturnTold(payment: OperatorPayment): boolean {
  return !isPrompt(payment);
}

/** Of an operator that would pay a repeated send again. */
export function isSentOnce(row: Pick<Named, 'operator'> & { readonly collectionId?: string }): boolean {
  return row.operator === 'daraja' || (row.operator === 'airtel-money' && row.collectionId !== undefined);
}

/** Of its refund M-Pesa tells the result once, and nobody can ask about it without the id in a response that may be lost. */
export function isToldOnce({
  operator,
  collectionId,
}: Pick<Named, 'operator'> & { readonly collectionId?: string }): boolean {
  return operator === 'daraja' && collectionId !== undefined;
}

/** A row in which both the response and the message are lost. */
export const UNTOLD_ROW = '018';

/** The operator answered in a way from which nobody can tell whether it took the payment: a payment that is sent once is not sent again. */
export function isLeftUnknown(payment: OperatorPayment | undefined): boolean {
  if (payment?.state !== 'NOT_ACCEPTED' || payment.row !== '011') return false;
  return payment.wire === 'daraja' || (payment.wire === 'airtel-money' && payment.kind === 'refund');
}
