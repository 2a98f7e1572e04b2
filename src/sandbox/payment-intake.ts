// Accepts payment requests, once per reference, or refuses them by the outcome table.
import { behaviourOf, decidedAtMs, type Behaviour, type RequestRefusal } from './behaviours.ts';
import type { Decisions } from './decisions.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { waitsInQueue, type SandboxRequest, type Transaction } from './transaction.ts';

/** How the API responds: accepted, a duplicate, refused for now, or a cut connection after accepting. */
type IntakeResult = 'accepted' | 'duplicate' | 'accepted_and_cut' | RequestRefusal;

/** Why a refund is refused: the collection was not paid, or its money cannot be refunded or was refunded already. */
type RefundRefusal = 'original_not_paid' | 'original_not_refundable';

export type RefundRequest = Omit<SandboxRequest, 'phone' | 'originalReference'> & {
  readonly originalReference: string;
};

export type PaymentIntake = {
  /** Resolves when the result is in the journal, so that the response may be sent. */
  receive(request: SandboxRequest): Promise<IntakeResult>;
  /** Like `receive`, for a refund; its payee is the payer of the collection. */
  receiveRefund(request: RefundRequest): Promise<IntakeResult | RefundRefusal>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly decisions: Decisions;
};

export function createPaymentIntake({ settings, store, decisions }: Deps): PaymentIntake {
  async function receive(request: SandboxRequest): Promise<IntakeResult> {
    const { row, behaviour } = behaviourOf(request);
    const known = store.get(request.operatorReference);
    if (known !== undefined && known.state !== 'NOT_ACCEPTED') {
      await store.put({ ...known, requestsReceived: known.requestsReceived + 1 });
      return 'duplicate';
    }
    const counted = countRequest(request, row, known);
    if (counted.requestsReceived <= (behaviour.requestsRefused ?? 0)) {
      await store.put(counted);
      return behaviour.refusedWith ?? 'unavailable';
    }
    const accepted = accept(counted, dueAtMs(counted, settings), receiptFor(counted, behaviour, store));
    const inJournal = store.put(accepted);
    if (behaviour.callsBackBeforeResponse !== true) decisions.schedule(accepted);
    await inJournal;
    if (behaviour.callsBackBeforeResponse === true) await decisions.decideNow(request.operatorReference);
    return behaviour.cutsConnection === true ? 'accepted_and_cut' : 'accepted';
  }

  async function receiveRefund(request: RefundRequest): Promise<IntakeResult | RefundRefusal> {
    const original = store.get(request.originalReference);
    const known = store.get(request.operatorReference);
    if (known === undefined || known.state === 'NOT_ACCEPTED') {
      const refusal = refusalOf(request, original, store.refundOf(request.originalReference));
      if (refusal !== null) return refusal;
    }
    return receive({ ...request, phone: (known ?? original)?.phone ?? '' });
  }

  return { receive, receiveRefund };
}

// MTN also accepts partial refunds. The sandbox does not: no client needs partial refunds, and they need a sum per collection.
function refusalOf(
  request: RefundRequest,
  original: Transaction | undefined,
  earlier: Transaction | undefined,
): RefundRefusal | null {
  if (original?.kind !== 'collection') return 'original_not_paid';
  if (original.givenBackAtMs !== null || earlier !== undefined) return 'original_not_refundable';
  if (original.state !== 'SUCCESSFUL') return 'original_not_paid';
  const isWhole = original.currency === request.currency && Number(original.amount) === Number(request.amount);
  return isWhole ? null : 'original_not_refundable';
}

function countRequest(request: SandboxRequest, row: string, known: Transaction | undefined): Transaction {
  return {
    issuedId: null,
    requestId: null,
    timeoutUrl: null,
    refusedAs: null,
    ...request,
    queueTimedOutAtMs: null,
    row,
    state: 'NOT_ACCEPTED',
    reason: null,
    financialTransactionId: '',
    receivedAtMs: known?.receivedAtMs ?? Date.now(),
    dueAtMs: null,
    decidedAtMs: null,
    givenBackAtMs: null,
    requestsReceived: (known?.requestsReceived ?? 0) + 1,
    queriesReceived: 0,
    promptsRaised: 0,
    transfersTaken: 0,
    callbacksSent: 0,
    callbackResults: [],
  };
}

function accept(payment: Transaction, due: number | null, receipt: string): Transaction {
  const prompts = payment.refusedAs === null ? 1 : 0;
  const counter = payment.kind === 'collection' ? { promptsRaised: prompts } : { transfersTaken: 1 };
  return { ...payment, ...counter, state: 'PENDING', dueAtMs: due, financialTransactionId: receipt };
}

function receiptFor({ kind, wire }: Transaction, { reusesReceipt }: Behaviour, store: TransactionStore): string {
  const [last] = reusesReceipt === true ? store.list({ kind, wire, state: 'SUCCESSFUL' }, 1) : [];
  return last?.financialTransactionId ?? newReceipt();
}

function dueAtMs(payment: Transaction, { times }: SandboxSettings): number | null {
  const nowMs = Date.now();
  if (payment.refusedAs !== null) return nowMs + times.decisionMs;
  return waitsInQueue(payment)
    ? nowMs + times.promptExpiryMs
    : decidedAtMs(behaviourOf(payment).behaviour, times, nowMs);
}

const RECEIPTS = 90_000_000_000;
let lastReceipt = 0;

// MTN's receipts are numbers of about this length. Receipts rise with the time, so that none repeats, even after a restart.
function newReceipt(): string {
  lastReceipt = Math.max(lastReceipt + 1, Date.now() % RECEIPTS);
  return (10_000_000_000 + (lastReceipt % RECEIPTS)).toString();
}
