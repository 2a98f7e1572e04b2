// Payments that are sent once, because a repeated send might pay twice: what becomes of a send that began and is not known to have ended.
import { takeBackSend } from '../src/db/payments/payment-progress.ts';
import type { Database } from '../src/db/platform/database.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import type { ReleaseAttestor } from '../src/security/release-attestation.ts';
import { retriedLater } from './failures.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

export type OnceSendDeps = {
  readonly db: Database;
  readonly releases: ReleaseAttestor;
  readonly clocks: Pick<Clocks, 'operatorTimeoutMs'>;
  readonly log: Log;
};

/** A process that is about to record the answer to its call has done so by then, or is dead or frozen. */
const RECORDING_MS = 2000;

/**
 * Of a send that another try began, in this process or any other. While its call may be under way it throws, to be retried: its own process
 * has the answer. After that nobody has it: the payment becomes `reconciling`, and is never sent again.
 */
export async function leaveToReconciliation(
  ref: PaymentRef,
  payment: LoadedPayment,
  { clocks, log }: OnceSendDeps,
  kinds: PaymentKinds,
): Promise<void> {
  if (!payment.maySend(new Date())) return;
  const endedAtMs = (payment.row.sendBegunAt?.getTime() ?? 0) + clocks.operatorTimeoutMs + RECORDING_MS;
  const restMs = endedAtMs - Date.now();
  if (restMs > 0) throw retriedLater('SendUnderWay', 'another try to send the payment may be under way', restMs);
  log.error({ id: ref.id }, 'a send began, and nobody knows what became of it: the payment is not sent again');
  await kinds.record(ref, { kind: 'outcome_unknown' }, { at: new Date(), basis: null, exchange: null, row: null });
}

/**
 * One statement: takes back the send that began then, of which this process knows that the operator did nothing with it, so that another
 * one may begin. False: more is known of the payment, or it is not as it was read; it is not sent again.
 */
export function takeBack(
  ref: PaymentRef,
  { row }: LoadedPayment,
  begunAt: Date,
  { db, releases }: OnceSendDeps,
): Promise<boolean> {
  const { sendsTakenBack } = row;
  return takeBackSend(db, ref, { begunAt, sendsTakenBack, attestation: releases.attestTakeBack(row) });
}

/**
 * Whether every send that was taken back was taken back by us, so that this one may be made. If not, somebody else wrote so, and the
 * payment may have been sent: it becomes `reconciling`.
 */
export async function isFirstForCertain(
  ref: PaymentRef,
  { row }: LoadedPayment,
  { releases, log }: OnceSendDeps,
  kinds: PaymentKinds,
): Promise<boolean> {
  if (releases.isTakeBackAttested(row)) return true;
  log.fatal({ id: ref.id }, 'this service did not record that an earlier send was not processed: it is not sent again');
  await kinds.record(ref, { kind: 'outcome_unknown' }, { at: new Date(), basis: null, exchange: null, row: null });
  return false;
}
