// What an operator has of a payment after a restore, under which references it is asked, and what its answer means.
import { laterReferenceOf } from './operator-reference.ts';
import type { PaymentRef } from './payment.ts';
import type { OperatorId } from './operator-catalogue.ts';

/** A payout that the operator refused for our float is sent under another reference: so many may be missing. */
const GENERATIONS_BEYOND = 2;

export type Finding = 'open' | 'paid' | 'returned' | 'failed' | 'not_found' | 'unanswerable';

/** A payment about which the operator was not asked under every reference. */
export type DoubtfulPayment = PaymentRef<'payout' | 'reversal'> & {
  readonly operator: OperatorId;
  /** The first one. */
  readonly operatorReference: string;
  /** Of the collection of a refund; null for a payout. */
  readonly collectionReference: string | null;
  /** The current one. */
  readonly generation: number;
  /** The generations that the operator was asked about. */
  readonly asked: readonly number[];
};

export type Question = { readonly generation: number; readonly operatorReference: string };

/** The current generation and those beyond it, without those that were asked. Only payouts have later ones. */
export function questionsAbout({ kind, operatorReference: first, generation, asked }: DoubtfulPayment): Question[] {
  return Array.from({ length: questionCount(kind) }, (_, index) => generation + index)
    .filter((number) => !asked.includes(number))
    .map((number) => ({
      generation: number,
      operatorReference: number === 1 ? first : laterReferenceOf(first, number),
    }));
}

/** How many references a payment of this kind has to be asked under. */
export function questionCount(kind: 'payout' | 'reversal'): number {
  return kind === 'payout' ? GENERATIONS_BEYOND + 1 : 1;
}
