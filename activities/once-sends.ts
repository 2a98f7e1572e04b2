// Sends of payments that are sent once, because a repeated send might pay twice.
import { takeBackSend } from '../src/db/payments/payment-progress.ts';
import type { Database } from '../src/db/platform/database.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import type { PaymentRef } from '../src/domain/payments/payment.ts';
import { generationOf } from '../src/domain/payments/send-generation.ts';
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

const NO_ANSWER = { basis: null, exchange: null, row: null } as const;

/** A live process records the answer within this time after the call. */
const RECORDING_MS = 2000;

/**
 * Handles a send that an earlier try began, in any process. Throws, to be retried, while the call of that try may last: the process of that
 * try has the answer. Afterwards the outcome of the send is unknown: the payment becomes `reconciling` and is never sent again.
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
  if (restMs > 0) throw retriedLater('SendUnderWay', 'another try to send the payment may be in progress', restMs);
  log.error({ id: ref.id }, 'the outcome of an earlier send is unknown: the payment is not sent again');
  await kinds.record(
    ref,
    { kind: 'outcome_unknown' },
    { ...NO_ANSWER, at: new Date(), generation: generationOf(payment.row) },
  );
}

/**
 * One statement: takes back the send that began at `begunAt` and that the operator did not process, so that another send may begin. False
 * if the payment changed since it was read: the payment is not sent again.
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
 * Whether this service took back each earlier send, so that the next send is allowed. If not, somebody changed the row by hand, and the
 * payment may have been sent: the payment becomes `reconciling`.
 */
export async function isTakeBackProven(
  ref: PaymentRef,
  { row }: LoadedPayment,
  { releases, log }: OnceSendDeps,
  kinds: PaymentKinds,
): Promise<boolean> {
  if (releases.isTakeBackAttested(row)) return true;
  log.fatal({ id: ref.id }, 'this service did not record that an earlier send was not processed: it is not sent again');
  await kinds.record(ref, { kind: 'outcome_unknown' }, { ...NO_ANSWER, at: new Date(), generation: generationOf(row) });
  return false;
}
