// Decides accepted payments by the outcome table or by a person's choice, and sends the callbacks.
import { behaviourOf, decidedAtMs, FLOAT_TOO_LOW, type Outcome } from './behaviours.ts';
import type { CallbackSender } from './callback-sender.ts';
import { createDueWork } from './due-work.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { callbackBody } from './airtel-answers.ts';
import { darajaMessage, queueTimeOut } from './daraja-answers.ts';
import { decide, giveBack, oneMore, toWire, waitsInQueue, type Transaction } from './transaction.ts';

export type Decisions = {
  /** Decides the payment when it is due; cancels an earlier schedule if the payment has no due time. */
  schedule(transaction: Transaction): void;
  /** Decides the payment now; resolves after the callbacks. */
  decideNow(operatorReference: string): Promise<void>;
  /** A person's decision. The first decision counts, whether by a person or by the table. */
  decideByPerson(operatorReference: string, outcome: Outcome): Promise<'decided' | 'too_late'>;
  /** Returns the money of a paid payment. */
  giveBack(operatorReference: string): Promise<'given_back' | 'not_paid'>;
  /** Schedules the payments that an earlier process left pending. */
  resume(): void;
  /** Stops deciding; resolves when all writes are done. */
  stop(): Promise<void>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly callbacks: CallbackSender;
  /** Whether a switch empties the float. */
  readonly isFloatLow: () => boolean;
};

export function createDecisions(deps: Deps): Decisions {
  const { settings, store } = deps;
  const dueWork = createDueWork(decideDue, settings.onError);

  function schedule({ operatorReference, dueAtMs }: Transaction): void {
    if (dueAtMs === null) dueWork.cancel(operatorReference);
    else dueWork.schedule(operatorReference, dueAtMs);
  }

  async function record(transaction: Transaction): Promise<Transaction> {
    const inJournal = store.put(transaction);
    schedule(transaction);
    await inJournal;
    return transaction;
  }

  async function decideDue(operatorReference: string): Promise<void> {
    const transaction = store.get(operatorReference);
    // The payment is no longer due: it was forgotten because of the limits, or decided by a person in the meantime.
    if (transaction === undefined || transaction.dueAtMs === null) return;
    if (transaction.state === 'PENDING' && waitsInQueue(transaction)) {
      const waiting = await record(afterWait(transaction, settings));
      await callBack(waiting, { url: waiting.timeoutUrl, body: queueTimeOut(waiting) }, deps);
    } else if (transaction.state === 'PENDING') {
      await callBackAsDecided(await recordDecision(transaction, behaviourOf(transaction).behaviour.outcome), deps);
    } else if (transaction.state === 'SUCCESSFUL') {
      await returnMoney(transaction, deps);
    }
  }

  // Writes the decision to the journal before any callback is sent: a process that dies in between sends no callback, and none is
  // sent twice. No other code runs before the first `await`, so the caller that finds a payment pending decides it.
  async function recordDecision(transaction: Transaction, wanted: Outcome): Promise<Transaction> {
    const isMoneyOut = transaction.kind !== 'collection' && wanted.status === 'SUCCESSFUL';
    const possible = isMoneyOut && (deps.isFloatLow() || !store.covers(transaction)) ? FLOAT_TOO_LOW : wanted;
    const { refusedAs } = transaction;
    const outcome: Outcome = refusedAs === null ? possible : { status: 'FAILED', reason: refusedAs };
    const decided = decide(transaction, outcome, Date.now());
    return record(decided.state === 'SUCCESSFUL' ? withPaidBehaviour(decided, settings) : decided);
  }

  return {
    schedule,
    decideNow: (operatorReference) => dueWork.run(operatorReference),
    async decideByPerson(operatorReference, outcome) {
      const transaction = store.get(operatorReference);
      if (transaction?.state !== 'PENDING') return 'too_late';
      const decided = await recordDecision(transaction, outcome);
      // The person does not wait for the callbacks.
      dueWork.follow(callBackAsDecided(decided, deps));
      return 'decided';
    },
    async giveBack(operatorReference) {
      const transaction = store.get(operatorReference);
      if (transaction?.state !== 'SUCCESSFUL') return 'not_paid';
      await record(giveBack(transaction, Date.now()));
      return 'given_back';
    },
    resume() {
      for (const transaction of store.due()) schedule(transaction);
    },
    stop: () => dueWork.stop(),
  };
}

function withPaidBehaviour(paid: Transaction, { times }: SandboxSettings): Transaction {
  const { isGivenBack, paysOneMore } = behaviourOf(paid).behaviour;
  return {
    ...paid,
    ...(isGivenBack === true && { dueAtMs: Date.now() + times.reversalMs }),
    ...(paysOneMore === true && { amount: oneMore(paid.amount) }),
  };
}

function afterWait(transaction: Transaction, { times }: SandboxSettings): Transaction {
  const dueAtMs = decidedAtMs(behaviourOf(transaction).behaviour, times, transaction.receivedAtMs);
  return { ...transaction, queueTimedOutAtMs: Date.now(), dueAtMs };
}

async function returnMoney(transaction: Transaction, deps: Deps): Promise<void> {
  const { store } = deps;
  // A refunded payment is not returned again.
  const isRefunded = store.refundOf(transaction.operatorReference) !== undefined;
  const after = isRefunded ? { ...transaction, dueAtMs: null } : giveBack(transaction, Date.now());
  await store.put(after);
  if (!isRefunded) await callBack(after, { url: after.callbackUrl, body: bodyOf(after, store) }, deps);
}

async function callBackAsDecided(decided: Transaction, deps: Deps): Promise<void> {
  const { forgedOutcome, callbacks } = behaviourOf(decided).behaviour;
  const isForged = forgedOutcome !== undefined && decided.refusedAs === null;
  const body = bodyOf(isForged ? decide(decided, forgedOutcome, Date.now()) : decided, deps.store);
  const message = { url: decided.callbackUrl, body };
  await Promise.all(Array.from({ length: callbacks }, () => callBack(decided, message, deps)));
}

/** The callback body of each operator; null if the operator sends no callback about a payment in this state. */
const BODIES: Readonly<Record<Transaction['wire'], (transaction: Transaction, store: TransactionStore) => unknown>> = {
  'mtn-momo': toWire,
  'airtel-money': callbackBody,
  daraja: (transaction, store) =>
    darajaMessage(transaction, {
      balance: store.balance(transaction.currency),
      original: store.get(transaction.originalReference ?? ''),
    }),
};

function bodyOf(transaction: Transaction, store: TransactionStore): unknown {
  return BODIES[transaction.wire](transaction, store);
}

async function callBack(
  { operatorReference }: Transaction,
  { url, body }: { readonly url: string | null; readonly body: unknown },
  { store, callbacks }: Deps,
): Promise<void> {
  if (url === null || body === null) return;
  const { isSent, result } = await callbacks.send(url, body);
  const transaction = store.get(operatorReference);
  if (transaction === undefined) return;
  await store.put({
    ...transaction,
    callbacksSent: transaction.callbacksSent + (isSent ? 1 : 0),
    callbackResults: [...transaction.callbackResults, { atMs: Date.now(), result }],
  });
}
