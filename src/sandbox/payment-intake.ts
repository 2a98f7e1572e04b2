// Takes what is asked for, once per reference, or turns it away by the table of endings.
import { randomInt } from 'node:crypto';
import { behaviourOf, type Behaviour } from './behaviours.ts';
import type { Decisions } from './decisions.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Order, Transaction } from './transaction.ts';

/** What the wire does with a request: answer that it is taken, a duplicate, or not now; or cut the connection. */
type Reception = 'accepted' | 'duplicate' | 'unavailable' | 'accepted_and_cut';

/** What keeps a refund from being taken: nothing was paid by that reference, or it is not there to be given back. */
type RefundRefusal = 'original_not_paid' | 'original_not_refundable';

export type RefundOrder = Omit<Order, 'phone' | 'originalReference'> & { readonly originalReference: string };

export type PaymentIntake = {
  /** Settles when the answer may go out: what it says is in the journal. */
  receive(order: Order): Promise<Reception>;
  /** The same for a refund, whose payee is who paid the collection. */
  receiveRefund(order: RefundOrder): Promise<Reception | RefundRefusal>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly decisions: Decisions;
};

export function createPaymentIntake({ settings, store, decisions }: Deps): PaymentIntake {
  async function receive(order: Order): Promise<Reception> {
    const { row, behaviour } = behaviourOf(order);
    const known = store.get(order.operatorReference);
    if (known !== undefined && known.state !== 'NOT_TAKEN') {
      await store.put({ ...known, requestsReceived: known.requestsReceived + 1 });
      return 'duplicate';
    }
    const asked = askedOnceMore(order, row, known);
    if (asked.requestsReceived <= (behaviour.requestsRefused ?? 0)) {
      await store.put(asked);
      return 'unavailable';
    }
    const accepted = take(asked, dueAtMs(behaviour, settings));
    const inJournal = store.put(accepted);
    if (behaviour.callsBackBeforeAnswer !== true) decisions.expect(accepted);
    await inJournal;
    if (behaviour.callsBackBeforeAnswer === true) await decisions.decideNow(order.operatorReference);
    return behaviour.cutsConnection === true ? 'accepted_and_cut' : 'accepted';
  }

  async function receiveRefund(order: RefundOrder): Promise<Reception | RefundRefusal> {
    const original = store.get(order.originalReference);
    const known = store.get(order.operatorReference);
    if (known === undefined || known.state === 'NOT_TAKEN') {
      const refusal = refusalOf(order, original, store.refundOf(order.originalReference));
      if (refusal !== null) return refusal;
    }
    return receive({ ...order, phone: (known ?? original)?.phone ?? '' });
  }

  return { receive, receiveRefund };
}

// MTN takes a part of the amount too; nobody here asks for one, and a second part would need sums kept of the first.
function refusalOf(
  order: RefundOrder,
  original: Transaction | undefined,
  earlier: Transaction | undefined,
): RefundRefusal | null {
  if (original?.kind !== 'collection') return 'original_not_paid';
  if (original.givenBackAtMs !== null || earlier !== undefined) return 'original_not_refundable';
  if (original.state !== 'SUCCESSFUL') return 'original_not_paid';
  const isWhole = original.currency === order.currency && Number(original.amount) === Number(order.amount);
  return isWhole ? null : 'original_not_refundable';
}

function askedOnceMore(order: Order, row: string, known: Transaction | undefined): Transaction {
  return {
    ...order,
    row,
    state: 'NOT_TAKEN',
    reason: null,
    financialTransactionId: '',
    receivedAtMs: known?.receivedAtMs ?? Date.now(),
    dueAtMs: null,
    decidedAtMs: null,
    givenBackAtMs: null,
    requestsReceived: (known?.requestsReceived ?? 0) + 1,
    promptsRaised: 0,
    transfersAccepted: 0,
    callbacksSent: 0,
    callbackResults: [],
  };
}

function take(asked: Transaction, due: number | null): Transaction {
  const counted = asked.kind === 'collection' ? { promptsRaised: 1 } : { transfersAccepted: 1 };
  return { ...asked, ...counted, state: 'PENDING', dueAtMs: due, financialTransactionId: newReceipt() };
}

function dueAtMs({ endsAfter }: Behaviour, { times }: SandboxSettings): number | null {
  if (endsAfter === 'never') return null;
  return Date.now() + (endsAfter === 'at_once' ? 0 : times[endsAfter]);
}

// MTN's are plain numbers of about this length.
function newReceipt(): string {
  return randomInt(10_000_000_000, 99_999_999_999).toString();
}
