// Takes collection requests, decides them by the table of endings when they are due, and calls back.
import { randomInt } from 'node:crypto';
import { collectionBehaviour, type Behaviour } from './behaviours.ts';
import type { CallbackSender } from './callback-sender.ts';
import { createDueWork } from './due-work.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { decide, toWire, type Order, type Transaction } from './transaction.ts';

/** What the wire does with a request: answer that it is taken, a duplicate, or not now; or cut the connection. */
type Reception = 'taken' | 'duplicate' | 'unavailable' | 'taken_and_cut';

export type CollectionDesk = {
  /** Settles when the answer may go out: what it says is in the journal. */
  receive(order: Order): Promise<Reception>;
  /** Takes up what an earlier process left undecided. */
  resume(): void;
  /** Decides nothing more; settles when nothing is being written any more. */
  stop(): Promise<void>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly callbacks: CallbackSender;
};

export function createCollectionDesk({ settings, store, callbacks }: Deps): CollectionDesk {
  const decisions = createDueWork(decideAndCallBack, settings.onError);

  function schedule({ operatorReference, dueAtMs }: Transaction): void {
    if (dueAtMs !== null) decisions.schedule(operatorReference, dueAtMs);
  }

  async function decideAndCallBack(operatorReference: string): Promise<void> {
    const transaction = store.get(operatorReference);
    // Forgotten in the meantime, over the bound on what is kept.
    if (transaction === undefined) return;
    const { behaviour } = collectionBehaviour(transaction.phone);
    const decided = decide(transaction, behaviour.ending, Date.now());
    // In the journal before the callback goes out: a process that dies in between sends none, and never a second one.
    await store.put(decided);
    const url = transaction.callbackUrl;
    if (url === null) return;
    const { forgedEnding } = behaviour;
    const body = toWire(forgedEnding === undefined ? decided : decide(decided, forgedEnding, Date.now()));
    await Promise.all(Array.from({ length: behaviour.callbacks }, () => callBack(operatorReference, url, body)));
  }

  async function callBack(operatorReference: string, url: string, body: unknown): Promise<void> {
    const { isSent, result } = await callbacks.send(url, body);
    const transaction = store.get(operatorReference);
    if (transaction === undefined) return;
    await store.put({
      ...transaction,
      callbacksSent: transaction.callbacksSent + (isSent ? 1 : 0),
      callbackResults: [...transaction.callbackResults, { atMs: Date.now(), result }],
    });
  }

  async function receive(order: Order): Promise<Reception> {
    const { row, behaviour } = collectionBehaviour(order.phone);
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
    const taken = take(asked, dueAtMs(behaviour, settings));
    const inJournal = store.put(taken);
    if (behaviour.callsBackBeforeAnswer !== true) schedule(taken);
    await inJournal;
    if (behaviour.callsBackBeforeAnswer === true) await decisions.run(order.operatorReference);
    return behaviour.cutsConnection === true ? 'taken_and_cut' : 'taken';
  }

  return {
    receive,
    resume() {
      for (const transaction of store.pending()) schedule(transaction);
    },
    stop: () => decisions.stop(),
  };
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
    requestsReceived: (known?.requestsReceived ?? 0) + 1,
    promptsRaised: 0,
    callbacksSent: 0,
    callbackResults: [],
  };
}

function take(asked: Transaction, due: number | null): Transaction {
  return { ...asked, state: 'PENDING', promptsRaised: 1, dueAtMs: due, financialTransactionId: newReceipt() };
}

function dueAtMs({ endsAfter }: Behaviour, { times }: SandboxSettings): number | null {
  if (endsAfter === 'never') return null;
  return Date.now() + (endsAfter === 'at_once' ? 0 : times[endsAfter]);
}

// MTN's are plain numbers of about this length.
function newReceipt(): string {
  return randomInt(10_000_000_000, 99_999_999_999).toString();
}
