// Records that a payout is sent again later, because the operator refused it for our float.
import { lockMoneyOut } from '../../db/payments/payment.ts';
import { isSendRepeated } from '../../db/payments/payment-progress.ts';
import { insertGeneration } from '../../db/payments/send-generation.ts';
import type { FailureCode } from '../../domain/payments/failure.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { generationOf, nextGeneration } from '../../domain/payments/send-generation.ts';
import type { RecordedBy } from '../../domain/work.ts';
import type { PaymentContext } from './payment-context.ts';

export type RecordNextGeneration = {
  readonly ref: PaymentRef<'payout'>;
  /** The generation that the operator refused. */
  readonly refused: number;
  readonly failureCode: FailureCode;
  /** Whether the refusal is the answer to a send: it counts only if no further try of this generation began. */
  readonly requiresOneTry: boolean;
  readonly at: Date;
  readonly recordedBy: RecordedBy;
};

/**
 * One transaction. Returns the payout with its next generation; as it is if another process recorded a later generation meanwhile, or if
 * its current generation is not sent yet. Null, and nothing is written, if the payout may not be sent again: then the refusal is its
 * outcome. Throws `payout_not_found`.
 */
export async function recordNextGeneration(
  { db, clocks, releases }: PaymentContext,
  { ref, refused, failureCode, requiresOneTry, at, recordedBy }: RecordNextGeneration,
): Promise<Payout | null> {
  return db.withTransaction(async (tx) => {
    const payout = (await lockMoneyOut(tx, 'payout', ref.merchantId, ref.id)) as Payout;
    // The operator says of a generation that is not sent yet what it knew before our records were lost: the send comes first.
    const isUnsent = payout.state === 'released' && payout.sendBegunAt === null;
    if (generationOf(payout) !== refused || isUnsent) return payout;
    if (requiresOneTry && (await isSendRepeated(tx, ref))) return payout;
    const next = nextGeneration(payout, failureCode, at, clocks);
    if (next === null) return null;
    const generation = { ...next, attestation: releases.attestGeneration(payout, next) };
    await insertGeneration(tx, payout, generation, recordedBy);
    return { ...payout, generation, sendBegunAt: null, acceptedAt: null, operatorIssuedId: null };
  });
}
