// Records what follows from an operator's answer about a payment: the one place that decides the next transition from a status.
import type { NewExchange } from '../src/db/payments/operator-exchange.ts';
import { addNotFound, markAccepted, recordIssuedId, resetNotFounds } from '../src/db/payments/payment-progress.ts';
import { paymentClocks, type Clocks } from '../src/domain/clocks.ts';
import type { Collection } from '../src/domain/payments/collection.ts';
import { contradictionIn, IssuedIdReused } from '../src/domain/payments/discrepancy.ts';
import {
  LIFECYCLES,
  needsOperatorStatus,
  type PaymentSnapshot,
  type TransitionInput,
} from '../src/domain/payments/lifecycle.ts';
import { basisOf, type QueriedStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';
import { generationOf } from '../src/domain/payments/send-generation.ts';
import { recordDiscrepancy } from '../src/operations/payments/record-discrepancy.ts';
import type { SendOutcome } from '../src/operators/port.ts';
import { recordExchange, type ExchangeDeps } from './exchanges.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

type RecorderDeps = ExchangeDeps & { readonly clocks: Clocks };

export type OutcomeRecorder = ReturnType<typeof createOutcomeRecorder>;

/**
 * Each function returns the payment after all that follows was recorded, each transition in its own transaction. Each records the exchange,
 * if there is one, even if the rest fails: for a collection in one statement with the first transition. Recording the same again, or after
 * an error, changes nothing that was recorded.
 */
export function createOutcomeRecorder(deps: RecorderDeps, kinds: PaymentKinds) {
  return {
    /**
     * Records the answer to a status query, or to a send that the operator accepted, which counts as `pending`. `payment` is the payment as
     * read before the call: each change is checked against the row.
     */
    async recordStatus(
      ref: PaymentRef,
      payment: LoadedPayment,
      queried: SaidOfPayment,
      exchange: NewExchange | null,
    ): Promise<PaymentSnapshot> {
      const apply = async (said: SaidOfPayment) => {
        const writer = createWriter(ref, said, firstOf(payment, exchange), { ...deps, kinds });
        const generation = generationOf(payment.row);
        try {
          return await applyStatus(ref.kind, payment.snapshot, {
            ...deps,
            kinds,
            ref,
            queried: said,
            writer,
            generation,
          });
        } finally {
          await writer.finish();
        }
      };
      try {
        return await apply(queried);
      } catch (error) {
        if (!(error instanceof IssuedIdReused)) throw error;
        // With that id the operator would answer about the other payment.
        deps.log.fatal({ id: ref.id, error }, 'the operator issued one id for two payments: this one has none');
        const { status, queriedAtMs } = queried;
        return apply({ status, queriedAtMs });
      }
    },

    /** Records that the outcome of a send that is not repeated is unknown: the payment is `reconciling`. */
    async recordUnknownOutcome(
      ref: PaymentRef,
      payment: LoadedPayment,
      exchange: NewExchange | null,
    ): Promise<PaymentSnapshot> {
      const queried: SaidOfPayment = { status: { kind: 'unknown' }, queriedAtMs: Date.now() };
      const writer = createWriter(ref, queried, firstOf(payment, exchange), { ...deps, kinds });
      try {
        return await writer.record({ kind: 'outcome_unknown' });
      } finally {
        await writer.finish();
      }
    },

    /** `refusal`: of the only try to send the payment; after another try a refusal decides nothing. */
    recordRefusal: (ref: PaymentRef, payment: LoadedPayment, refusal: Refusal, exchange: NewExchange | null) =>
      applyRefusal({ ref, payment, refusal, exchange }, { ...deps, kinds }),
  };
}

type Refused = {
  readonly ref: PaymentRef;
  readonly payment: LoadedPayment;
  readonly refusal: Refusal;
  readonly exchange: NewExchange | null;
};

/** A payout that is refused for our float is sent again later; any other payment fails. */
async function applyRefusal(
  { ref, payment, refusal, exchange }: Refused,
  deps: RecorderDeps & { readonly kinds: PaymentKinds },
): Promise<PaymentSnapshot> {
  const { code: failureCode, isFloatLow, queriedAtMs } = refusal;
  const status = { kind: 'refused', failureCode, ...(isFloatLow && { isFloatLow }) } as const;
  const queried: QueriedStatus = { status, queriedAtMs };
  const writer = createWriter(ref, queried, { ...firstOf(payment, exchange), row: null }, deps);
  try {
    const waiting = await sendAgainLater(ref, queried, generationOf(payment.row), deps.kinds);
    return waiting ?? (await writer.record({ kind: 'declined', failureCode }));
  } finally {
    await writer.finish();
  }
}

type Refusal = Pick<Extract<SendOutcome, { kind: 'refused' }>, 'code' | 'isFloatLow'> & {
  readonly queriedAtMs: number;
};

/** A status, and the id that the operator issued with it. */
export type SaidOfPayment = QueriedStatus & { readonly issuedId?: string };

type Writer = {
  record(transition: TransitionInput): Promise<PaymentSnapshot>;
  /** Records the exchange by itself if no transition recorded it. */
  finish(): Promise<void>;
};

/** The payment as it was read before the call, and the exchange that nobody has recorded. */
type FirstRecord = {
  readonly row: Collection | null;
  readonly exchange: NewExchange | null;
  readonly generation: number;
};

function firstOf({ row }: LoadedPayment, exchange: NewExchange | null): FirstRecord {
  return { row: row.kind === 'collection' ? row : null, exchange, generation: generationOf(row) };
}

function createWriter(
  ref: PaymentRef,
  queried: SaidOfPayment,
  first: FirstRecord,
  { kinds, ...deps }: RecorderDeps & { readonly kinds: PaymentKinds },
): Writer {
  let { row, exchange: unrecorded } = first;
  const { generation } = first;
  // For a payout or refund the id is recorded with the acceptance.
  let unissued = ref.kind === 'collection' ? (queried.issuedId ?? null) : null;
  return {
    async record(transition) {
      const basis = needsOperatorStatus(transition) ? basisOf(queried) : null;
      const exchange = ref.kind === 'collection' ? unrecorded : null;
      const issuedId = ref.kind === 'collection' ? unissued : null;
      const snapshot = await kinds.record(ref, transition, {
        at: new Date(),
        basis,
        exchange,
        row,
        issuedId,
        generation,
      });
      row = null;
      if (issuedId !== null) unissued = null;
      if (exchange !== null) unrecorded = null;
      return snapshot;
    },
    async finish() {
      if (unrecorded !== null) await recordExchange(deps, ref, unrecorded);
      if (unissued !== null) await recordIssuedId(deps.db, ref, unissued);
    },
  };
}

type Application = RecorderDeps & {
  readonly kinds: PaymentKinds;
  readonly ref: PaymentRef;
  readonly queried: SaidOfPayment;
  /** The generation that the status is about. */
  readonly generation: number;
  readonly writer: Writer;
};

/** A payment that was paid and returned takes two transitions. */
async function applyStatus<Kind extends PaymentKind>(
  kind: Kind,
  before: PaymentSnapshot<Kind>,
  application: Application,
): Promise<PaymentSnapshot> {
  const { ref, queried, writer, generation, kinds } = application;
  const clocks = paymentClocks(application.clocks);
  const waiting = await sendAgainLater(ref, queried, generation, kinds);
  if (waiting !== null) return waiting;
  let snapshot = await applyToSend(kind, before, application);
  for (;;) {
    if (contradictionIn(kind, snapshot.state, queried.status) !== null) await recordContradiction(application);
    const transition = LIFECYCLES[kind].next(snapshot, queried, clocks);
    if (transition === null) return snapshot;
    const after = (await writer.record(transition)) as PaymentSnapshot<Kind>;
    if (after.state === snapshot.state) return after;
    snapshot = after;
  }
}

/**
 * One transaction, if the operator refuses a payout for our float: records that it is sent again later, and returns it. Null if it is not
 * sent again.
 */
async function sendAgainLater(
  ref: PaymentRef,
  { status }: QueriedStatus,
  refused: number,
  kinds: PaymentKinds,
): Promise<PaymentSnapshot | null> {
  if (ref.kind !== 'payout' || !('isFloatLow' in status)) return null;
  const { failureCode } = status;
  return kinds.recordNextGeneration(ref, { refused, failureCode, requiresOneTry: status.kind === 'refused' });
}

/** Records what the status says about the send of a payout or refund: the operator has the payment, or does not know it. */
async function applyToSend<Kind extends PaymentKind>(
  kind: Kind,
  before: PaymentSnapshot<Kind>,
  { db, clocks, kinds, ref, queried, generation }: Application,
): Promise<PaymentSnapshot<Kind>> {
  // A collection has a state for an accepted send.
  if (ref.kind === 'collection') return before;
  const lifecycle = LIFECYCLES[kind];
  let snapshot = before;
  const { issuedId } = queried;
  if (lifecycle.isAcceptanceUnrecorded(before, queried.status) || issuedId !== undefined) {
    await markAccepted(db, ref, new Date(), { issuedId: issuedId ?? null, generation });
    // The snapshot may be older than the send, and an accepted payment was sent.
    snapshot = { ...before, isSendBegun: true, isAccepted: true };
  }
  const step = lifecycle.notFoundStep(snapshot, queried, paymentClocks(clocks));
  if (step === null) return snapshot;
  // The clock of this process may have been set back since the query.
  const queriedAt = new Date(Math.min(queried.queriedAtMs, Date.now()));
  const { notFoundGraceMs: graceMs, notFoundGapMs: gapMs } = clocks;
  if (step === 'count') await addNotFound(db, ref, { queriedAt, graceMs, gapMs });
  else await resetNotFounds(db, ref, queriedAt);
  return (await kinds.load(ref)).snapshot as PaymentSnapshot<Kind>;
}

/** One transaction. It moves no money: a person decides what follows. */
async function recordContradiction({ db, log, ref, queried }: Application): Promise<void> {
  const { status, queriedAtMs } = queried;
  const found = await recordDiscrepancy(db, { ref, status, queriedAtMs, at: new Date() });
  // Every query finds a contradiction that persists; the ledger check repeats it until it is settled.
  if (!found?.isNew) return;
  const { id, merchantId } = ref;
  log.fatal(
    { id, merchantId, kind: found.kind, status },
    'the operator contradicts the recorded state: a person must settle the discrepancy',
  );
}
