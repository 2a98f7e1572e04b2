// Handles the differences between collections, payouts and reversals when payments are loaded, sent, queried and recorded.
import type { Database } from '../src/db/platform/database.ts';
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import { beginCollectionSend, beginQuery, markAccepted } from '../src/db/payments/payment-progress.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import type { CollectionSnapshot } from '../src/domain/payments/collection-progress.ts';
import type { PaymentSnapshot, TransitionInput } from '../src/domain/payments/lifecycle.ts';
import { capabilitiesOf, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { StatusBasis } from '../src/domain/payments/operator-status.ts';
import { isFinal, type MoneyOut, type Payment, type PaymentRef } from '../src/domain/payments/payment.ts';
import type { Payout } from '../src/domain/payments/payout.ts';
import type { PayoutSnapshot } from '../src/domain/payments/payout-progress.ts';
import { ReceiptReused } from '../src/domain/payments/discrepancy.ts';
import { isReleasedByOthers } from '../src/domain/payments/release.ts';
import type { Reversal } from '../src/domain/payments/reversal.ts';
import type { RecordedBy } from '../src/domain/work.ts';
import type { ReversalSnapshot } from '../src/domain/payments/reversal-progress.ts';
import { generationOf, sendAgainAt, sentReferenceOf } from '../src/domain/payments/send-generation.ts';
import { sendProgressOf, type SendClocks } from '../src/domain/payments/recorded-send.ts';
import type { Log } from '../src/log.ts';
import type { PaymentContext } from '../src/operations/payments/payment-context.ts';
import { recordNextGeneration, type RecordNextGeneration } from '../src/operations/payments/record-next-generation.ts';
import { recordTransition } from '../src/operations/payments/record-transition.ts';
import { recordUnattestedRelease, recordReusedReceipt } from '../src/operations/payments/record-discrepancy.ts';
import type { MayCallAgain, Operator, SendOutcome, SentPayment, StatusOutcome } from '../src/operators/port.ts';
import { getPayment } from '../src/db/payments/payment.ts';
import type { ReleaseAttestor } from '../src/security/release-attestation.ts';

/** A payment with the data that calls to its operator need. */
export type LoadedPayment = {
  readonly operator: OperatorId;
  /** The request that created the payment; null if it was created before requests were recorded. */
  readonly requestId: string | null;
  readonly snapshot: PaymentSnapshot;
  readonly row: Payment;
  /** Whether any try to send the payment began. */
  readonly isSendBegun: boolean;
  /** Whether a repeated send might pay twice, by the row or by the catalogue: then no send is repeated. */
  readonly isSentOnce: boolean;
  /** Whether the operator can be queried: it finds the payment by the ids that we have. */
  readonly isAskable: boolean;
  /** Whether the row says that the payment was released, but no attestation proves the release as the row is now. */
  readonly isReleaseUnattested: boolean;
  /** Null if the payment may not be sent yet. */
  readonly sendDeadlineAt: Date | null;
  /** Whether the payment may be sent now, if its release is attested. */
  maySend(now: Date): boolean;
  send(operator: Operator): Promise<SendOutcome>;
  /** The ids by which a query names the payment. */
  readonly sent: SentPayment;
  queryStatus(operator: Operator, sent: SentPayment, mayCallAgain: MayCallAgain): Promise<StatusOutcome>;
};

type PaymentKindsDeps = {
  readonly db: Database;
  readonly payments: PaymentContext;
  readonly releases: ReleaseAttestor;
  readonly clocks: SendClocks;
  /** Who records the consequences of the operators' answers, asked at each record. */
  readonly recordedBy: () => RecordedBy;
  readonly log: Log;
};

export type PaymentKinds = ReturnType<typeof createPaymentKinds>;

export function createPaymentKinds(deps: PaymentKindsDeps) {
  const { db, log } = deps;
  const load = async (ref: PaymentRef) => loaded(await getPayment(db, ref), deps);
  const holdUnattested = (ref: PaymentRef, at: Date) => recordHeld(ref, at, deps);
  return {
    load,

    /** One statement: begins a status query, unless the query must wait for `waitMs`; returns the payment. */
    async beginQuery(
      ref: PaymentRef,
      gapMs: number,
    ): Promise<{ readonly waitMs: number; readonly payment: LoadedPayment }> {
      const { waitMs, payment } = await beginQuery(db, ref, gapMs);
      return { waitMs, payment: loaded(payment, deps) };
    },

    /**
     * One statement: records that the first send of a collection begins, and returns the collection afterwards. Null if the payment is of
     * another kind, if a send began before, or if none may begin.
     */
    async beginFirstSend(ref: PaymentRef, at: Date): Promise<LoadedPayment | null> {
      const begun = ref.kind === 'collection' ? await beginCollectionSend(db, ref, at) : null;
      return begun && loadedCollection(begun);
    },

    /** One transaction: records the discrepancy that this service did not release the payment. True until a person settles it. */
    holdUnattested,

    recordNextGeneration: (ref: PaymentRef<'payout'>, refusal: FloatRefusal) => recordGeneration(ref, refusal, deps),

    /**
     * Workflows record transitions of their own kind only: the table has no transition for an input of another kind. If the operator's
     * receipt has paid another payment, the outcome of this payment is unknown until the operator gives another status, and a person must
     * settle the discrepancy. After that, and at the end of its reconciliation, a collection ends as undecided. `basis` belongs to the
     * status from which the input follows.
     */
    async record(ref: PaymentRef, input: TransitionInput, recording: Recording): Promise<PaymentSnapshot> {
      const { at, basis } = recording;
      // A person who released the payment by hand may also have written or cleared its send: only a person frees its money.
      if (ref.kind !== 'collection' && FREES_MONEY.has(input.kind)) {
        const { snapshot, isReleaseUnattested } = await load(ref);
        if (isReleaseUnattested && (await holdUnattested(ref, at))) return snapshot;
      }
      try {
        return await recordOnce(ref, input, recording, deps);
      } catch (error) {
        if (!(error instanceof ReceiptReused)) throw error;
        const { operatorReceipt } = error;
        const isNew = await recordReusedReceipt(db, { ref, operatorReceipt, at });
        // The operator has the payment: no later "not found" may free the money.
        if (ref.kind !== 'collection') await markAccepted(db, ref, at, { generation: recording.generation ?? null });
        const { id, merchantId } = ref;
        if (isNew)
          log.fatal(
            { id, merchantId, operatorReceipt },
            'one receipt belongs to two payments: a person must settle the discrepancy',
          );
        const unknown = await recordOnce(
          ref,
          { kind: 'outcome_unknown' },
          { ...recording, basis: null, row: null },
          deps,
        );
        if (ref.kind !== 'collection' || basis === null) return unknown;
        const undecided = { kind: 'undecided', queriedAtMs: basis.queriedAtMs } as const;
        return recordOnce(ref, undecided, { at, basis, exchange: null, row: null }, deps);
      }
    },
  };
}

type FloatRefusal = Pick<RecordNextGeneration, 'refused' | 'failureCode' | 'requiresOneTry'>;

/**
 * One transaction: records that the payout is sent again later, because the operator refused it for our float; returns the payout. Null if
 * the payout may not be sent again. A payout that this service did not release is held for a person.
 */
async function recordGeneration(
  ref: PaymentRef<'payout'>,
  refusal: FloatRefusal,
  deps: PaymentKindsDeps,
): Promise<PaymentSnapshot | null> {
  const { db, recordedBy, payments, clocks, log } = deps;
  const { snapshot, isReleaseUnattested } = loaded(await getPayment(db, ref), deps);
  const at = new Date();
  if (isReleaseUnattested && (await recordHeld(ref, at, deps))) return snapshot;
  const payout = await recordNextGeneration(payments, { ref, ...refusal, at, recordedBy: recordedBy() });
  if (payout !== null && generationOf(payout) > refusal.refused && payout.sendBegunAt === null)
    log.warn({ id: ref.id }, 'the operator refused the payout for our float: it is sent again later');
  return payout && payoutSnapshot(payout, clocks);
}

type Recording = {
  readonly at: Date;
  readonly basis: StatusBasis | null;
  /** The exchange from which the input follows, recorded with it; for a collection only. */
  readonly exchange: NewExchange | null;
  /** The id that the operator issued, recorded with the input; for a collection only. */
  readonly issuedId?: string | null;
  /** The generation that the operator's answer is about; absent if the input follows from no answer. */
  readonly generation?: number;
  /** A collection as read a moment ago; null: it is read again. */
  readonly row: Collection | null;
};

async function recordOnce(
  ref: PaymentRef,
  input: TransitionInput,
  { at, basis, exchange, row, issuedId = null, generation }: Recording,
  { payments, log, recordedBy, clocks }: PaymentKindsDeps,
): Promise<PaymentSnapshot> {
  const { payment, isPosted } = await recordTransition(payments, {
    ref,
    transition: input,
    at,
    basis,
    before: row,
    exchange,
    issuedId,
    recordedBy: recordedBy(),
    ...(generation !== undefined && { generation }),
  });
  if (!isPosted)
    log.fatal({ id: ref.id }, 'money left twice: the operator returned the collection, and our refund was paid');
  return snapshotOf(payment, clocks);
}

const FREES_MONEY: ReadonlySet<TransitionInput['kind']> = new Set(['never_sent', 'declined', 'never_accepted']);

async function recordHeld(ref: PaymentRef, at: Date, { db, log }: PaymentKindsDeps): Promise<boolean> {
  const { isNew, isOpen } = await recordUnattestedRelease(db, { ref, at });
  const { id, merchantId } = ref;
  log.fatal({ id, merchantId, isNew }, 'this service did not record the release: a person must settle the discrepancy');
  return isOpen;
}

function loaded(payment: Payment, { releases, clocks }: PaymentKindsDeps): LoadedPayment {
  switch (payment.kind) {
    case 'collection':
      return loadedCollection(payment);
    case 'payout':
      return loadedPayout(payment, releases, clocks);
    case 'reversal':
      return loadedReversal(payment, releases, clocks);
  }
}

function loadedCollection(collection: Collection): LoadedPayment {
  const { operatorReference } = collection;
  return {
    operator: collection.operator,
    requestId: collection.requestId,
    snapshot: collectionSnapshot(collection),
    row: collection,
    ...sendOf(collection),
    isReleaseUnattested: false,
    sendDeadlineAt: collection.promptDeadlineAt,
    maySend: (now) => collection.state === 'initiated' && collection.promptDeadlineAt > now,
    send: (operator) =>
      operator.raisePrompt({
        operatorReference,
        phone: collection.phone,
        money: collection,
        payerMessage: collection.description ?? collection.reference,
      }),
    queryStatus: (operator, sent, mayCallAgain) => operator.getCollectionStatus(sent, mayCallAgain),
  };
}

function loadedPayout(payout: Payout, releases: ReleaseAttestor, clocks: SendClocks): LoadedPayment {
  const { sendDeadlineAt, generation } = payout;
  const operatorReference = sentReferenceOf(payout);
  return {
    operator: payout.operator,
    requestId: payout.requestId,
    snapshot: payoutSnapshot(payout, clocks),
    row: payout,
    ...sendOf(payout),
    isReleaseUnattested: isReleaseUnattested(payout, releases),
    sendDeadlineAt,
    maySend: (now) =>
      payout.state === 'released' &&
      sendDeadlineAt !== null &&
      sendDeadlineAt > now &&
      (generation === null || generation.sendAfter <= now),
    send: (operator) =>
      operator.sendPayout({
        operatorReference,
        phone: payout.phone,
        money: payout,
        payeeMessage: payout.description ?? payout.reference,
      }),
    queryStatus: (operator, sent) => operator.getPayoutStatus(sent),
  };
}

function isReleaseUnattested(payment: MoneyOut, releases: ReleaseAttestor): boolean {
  // Only a pending payment counts: a final payment has an outcome, no matter who released it.
  if (payment.sendDeadlineAt === null || isFinal(payment.state)) return false;
  return !isReleasedByOthers(payment) || !releases.isReleaseAttested(payment);
}

function loadedReversal(reversal: Reversal, releases: ReleaseAttestor, clocks: SendClocks): LoadedPayment {
  const { operatorReference, sendDeadlineAt, collectionOperatorReference: originalOperatorReference } = reversal;
  return {
    operator: reversal.operator,
    requestId: reversal.requestId,
    snapshot: reversalSnapshot(reversal, clocks),
    row: reversal,
    ...sendOf(reversal),
    isReleaseUnattested: isReleaseUnattested(reversal, releases),
    sendDeadlineAt,
    // A collection that the operator returned first must not be refunded too: the money would leave twice.
    maySend: (now) =>
      reversal.state === 'released' &&
      sendDeadlineAt !== null &&
      sendDeadlineAt > now &&
      !reversal.isCollectionReturned,
    send: (operator) =>
      operator.refundCollection({
        operatorReference,
        originalOperatorReference,
        originalReceipt: reversal.collectionReceipt,
        money: reversal,
        note: reversal.reference,
      }),
    queryStatus: (operator, sent) => operator.getRefundStatus({ ...sent, originalOperatorReference }),
  };
}

function sendOf(payment: Payment) {
  const { send, status, statusKey, listsPaid } = capabilitiesOf(payment);
  const isSendBegun = payment.sendBegunAt !== null;
  const isSentOnce = payment.sendsOnce || send === 'once';
  const isFound = statusKey === 'ours' || payment.operatorIssuedId !== null || listsPaid;
  return {
    isSendBegun,
    isSentOnce,
    isAskable: status !== 'none' && isFound && (isSendBegun || !isSentOnce),
    sent: {
      operatorReference: sentReferenceOf(payment),
      issuedId: payment.operatorIssuedId,
      namedId: null,
      sentAt: payment.sendBegunAt,
      queryId: null,
    },
  };
}

function snapshotOf(payment: Payment, clocks: SendClocks): PaymentSnapshot {
  switch (payment.kind) {
    case 'collection':
      return collectionSnapshot(payment);
    case 'payout':
      return payoutSnapshot(payment, clocks);
    case 'reversal':
      return reversalSnapshot(payment, clocks);
  }
}

export function collectionSnapshot(collection: Collection): CollectionSnapshot {
  return {
    state: collection.state,
    failureCode: collection.failureCode,
    promptDeadlineAtMs: collection.promptDeadlineAt.getTime(),
    promptExpiresAtMs: collection.promptExpiresAt?.getTime() ?? null,
    isSendBegun: collection.sendBegunAt !== null,
    ...(collection.sendsOnce && { isSentOnce: true }),
  };
}

function payoutSnapshot(payout: Payout, clocks: SendClocks): PayoutSnapshot {
  const againAt = sendAgainAt(payout);
  return {
    state: payout.state,
    ...approvalsOf(payout),
    ...sendProgressOf(payout, clocks),
    ...(againAt && { sendAgainAtMs: againAt.getTime() }),
  };
}

function approvalsOf({ approvals, approvalsRequired, expiresAt }: Payout | Reversal) {
  return { approvals: approvals.length, approvalsRequired, expiresAtMs: expiresAt.getTime() };
}

function reversalSnapshot(reversal: Reversal, clocks: SendClocks): ReversalSnapshot {
  return {
    state: reversal.state,
    ...approvalsOf(reversal),
    isCollectionReturned: reversal.isCollectionReturned,
    ...sendProgressOf(reversal, clocks),
  };
}
