// The generations of a payout: one that the operator refused for our float is sent again later, under another reference.
import type { Clocks } from '../clocks.ts';
import type { FailureCode } from './failure.ts';
import { laterReferenceOf } from './operator-reference.ts';
import type { Payment } from './payment.ts';
import type { SendGeneration } from './payment-fields.ts';
import type { Payout } from './payout.ts';

/** The number of the current generation. Only a payout has more than one. */
export function generationOf(payment: Payment): number {
  return payment.kind === 'payout' ? (payment.generation?.number ?? 1) : 1;
}

/** The reference by which the operator knows the current generation of the payment. */
export function sentReferenceOf(payment: Payment): string {
  const later = payment.kind === 'payout' ? payment.generation : null;
  return later?.operatorReference ?? payment.operatorReference;
}

/** When the payout is sent again, while nobody has begun to send its current generation; null for any other payout. */
export function sendAgainAt({ state, sendBegunAt, generation }: Payout): Date | null {
  return state === 'released' && sendBegunAt === null ? (generation?.sendAfter ?? null) : null;
}

/**
 * The generation after the current one, which the operator refused for our float. Null if the payout may not be sent any more, or if its
 * outcome is overdue: then it fails. Repeating it for a recorded generation gives null until that generation is sent.
 */
export function nextGeneration(
  payout: Payout,
  failureCode: FailureCode,
  at: Date,
  { floatPausesMs }: Pick<Clocks, 'floatPausesMs'>,
): Omit<SendGeneration, 'attestation'> | null {
  const { state, sendBegunAt, sendDeadlineAt, operatorReference } = payout;
  if (state !== 'released' || sendBegunAt === null || sendDeadlineAt === null || at >= sendDeadlineAt) return null;
  const number = generationOf(payout) + 1;
  const pauseMs = floatPausesMs[Math.min(number - 2, floatPausesMs.length - 1)] ?? 0;
  return {
    number,
    operatorReference: laterReferenceOf(operatorReference, number),
    failureCode,
    recordedAt: at,
    sendAfter: new Date(at.getTime() + pauseMs),
  };
}
