// Decides accepted payments, by the outcome table or by a person's choice, and sends the callbacks.
import { behaviourOf, FLOAT_TOO_LOW, type Outcome } from './behaviours.ts';
import type { CallbackSender } from './callback-sender.ts';
import { createDueWork } from './due-work.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { callbackBody } from './airtel-answers.ts';
import { decide, giveBack, toWire, type Transaction } from './transaction.ts';

export type Decisions = {
  /** Decides the payment when it is due; cancels that for a payment without a due time. */
  schedule(transaction: Transaction): void;
  /** Resolves after the callbacks. */
  decideNow(operatorReference: string): Promise<void>;
  /** A person's decision. The first decision counts, whether by a person or by the table. */
  decideByPerson(operatorReference: string, outcome: Outcome): Promise<'decided' | 'too_late'>;
  /** Schedules what an earlier process left pending. */
  resume(): void;
  /** Decides nothing more; resolves when all writes are done. */
  stop(): Promise<void>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly callbacks: CallbackSender;
};

export function createDecisions(deps: Deps): Decisions {
  const { settings, store } = deps;
  const dueWork = createDueWork(decideDue, settings.onError);

  function schedule({ operatorReference, dueAtMs }: Transaction): void {
    if (dueAtMs === null) dueWork.cancel(operatorReference);
    else dueWork.schedule(operatorReference, dueAtMs);
  }

  async function decideDue(operatorReference: string): Promise<void> {
    const transaction = store.get(operatorReference);
    // Not due any more: forgotten because of the limits, or decided by a person in the meantime.
    if (transaction === undefined || transaction.dueAtMs === null) return;
    if (transaction.state === 'PENDING') {
      await callBackAsDecided(await recordDecision(transaction, behaviourOf(transaction).behaviour.outcome), deps);
    } else if (transaction.state === 'SUCCESSFUL') {
      await returnMoney(transaction, deps);
    }
  }

  // In the journal before any callback is sent: a process that dies in between sends no callback, and none is sent
  // twice. No other code runs before the first `await`, so the caller that finds a payment pending decides it.
  async function recordDecision(transaction: Transaction, wanted: Outcome): Promise<Transaction> {
    const isMoneyOut = transaction.kind !== 'collection' && wanted.status === 'SUCCESSFUL';
    const decided = decide(transaction, isMoneyOut && !store.covers(transaction) ? FLOAT_TOO_LOW : wanted, Date.now());
    const isGivenBack = behaviourOf(decided).behaviour.isGivenBack === true && decided.state === 'SUCCESSFUL';
    const recorded = isGivenBack ? { ...decided, dueAtMs: Date.now() + settings.times.reversalMs } : decided;
    const inJournal = store.put(recorded);
    schedule(recorded);
    await inJournal;
    return recorded;
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
    resume() {
      for (const transaction of store.due()) schedule(transaction);
    },
    stop: () => dueWork.stop(),
  };
}

async function returnMoney(transaction: Transaction, deps: Deps): Promise<void> {
  const { store } = deps;
  // A refunded payment is not returned again.
  const isRefunded = store.refundOf(transaction.operatorReference) !== undefined;
  const after = isRefunded ? { ...transaction, dueAtMs: null } : giveBack(transaction, Date.now());
  await store.put(after);
  if (!isRefunded) await callBack(after, bodyOf(after), deps);
}

async function callBackAsDecided(decided: Transaction, deps: Deps): Promise<void> {
  const { forgedOutcome, callbacks } = behaviourOf(decided).behaviour;
  const body = bodyOf(forgedOutcome === undefined ? decided : decide(decided, forgedOutcome, Date.now()));
  await Promise.all(Array.from({ length: callbacks }, () => callBack(decided, body, deps)));
}

const BODIES: Readonly<Record<Transaction['wire'], (transaction: Transaction) => unknown>> = {
  'mtn-momo': toWire,
  'airtel-money': callbackBody,
};

function bodyOf(transaction: Transaction): unknown {
  return BODIES[transaction.wire](transaction);
}

async function callBack(
  { operatorReference, callbackUrl }: Transaction,
  body: unknown,
  { store, callbacks }: Deps,
): Promise<void> {
  if (callbackUrl === null) return;
  const { isSent, result } = await callbacks.send(callbackUrl, body);
  const transaction = store.get(operatorReference);
  if (transaction === undefined) return;
  await store.put({
    ...transaction,
    callbacksSent: transaction.callbacksSent + (isSent ? 1 : 0),
    callbackResults: [...transaction.callbackResults, { atMs: Date.now(), result }],
  });
}
