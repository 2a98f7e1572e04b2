// Decides what was taken, by the table of endings or by a person's word, and calls back with the outcome.
import { behaviourOf, FLOAT_TOO_LOW, type Ending } from './behaviours.ts';
import type { CallbackSender } from './callback-sender.ts';
import { createDueWork } from './due-work.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import type { TransactionStore } from './transaction-store.ts';
import { decide, giveBack, toWire, type Transaction } from './transaction.ts';

export type Decisions = {
  /** Decides the payment when it is due; never, if it is not. */
  expect(transaction: Transaction): void;
  /** Settles when the callbacks are answered too. */
  decideNow(operatorReference: string): Promise<void>;
  /** A person's decision. Of two, or of one and the table's own, the first counts. */
  answer(operatorReference: string, ending: Ending): Promise<'decided' | 'too_late'>;
  /** Takes up what an earlier process left undone. */
  resume(): void;
  /** Decides nothing more; settles when nothing is being written any more. */
  stop(): Promise<void>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly store: TransactionStore;
  readonly callbacks: CallbackSender;
};

export function createDecisions(deps: Deps): Decisions {
  const { settings, store } = deps;
  const dueWork = createDueWork(doWhatIsDue, settings.onError);

  function expect({ operatorReference, dueAtMs }: Transaction): void {
    if (dueAtMs === null) dueWork.cancel(operatorReference);
    else dueWork.schedule(operatorReference, dueAtMs);
  }

  async function doWhatIsDue(operatorReference: string): Promise<void> {
    const transaction = store.get(operatorReference);
    // Nothing is: forgotten over the bound on what is kept, or decided by a person in the meantime.
    if (transaction === undefined || transaction.dueAtMs === null) return;
    if (transaction.state === 'PENDING') {
      await callBackAsDecided(await conclude(transaction, behaviourOf(transaction).behaviour.ending), deps);
    } else if (transaction.state === 'SUCCESSFUL') {
      await takeBack(transaction, deps);
    }
  }

  // In the journal before any callback goes out: a process that dies in between sends none, and never a second one.
  // Until the first `await` nothing else runs, so that whoever finds a payment pending is the one who decides it.
  async function conclude(transaction: Transaction, wanted: Ending): Promise<Transaction> {
    const isMoneyOut = transaction.kind !== 'collection' && wanted.status === 'SUCCESSFUL';
    const decided = decide(transaction, isMoneyOut && !store.covers(transaction) ? FLOAT_TOO_LOW : wanted, Date.now());
    const isGivenBack = behaviourOf(decided).behaviour.isGivenBack === true && decided.state === 'SUCCESSFUL';
    const concluded = isGivenBack ? { ...decided, dueAtMs: Date.now() + settings.times.reversalMs } : decided;
    const inJournal = store.put(concluded);
    expect(concluded);
    await inJournal;
    return concluded;
  }

  return {
    expect,
    decideNow: (operatorReference) => dueWork.run(operatorReference),
    async answer(operatorReference, ending) {
      const transaction = store.get(operatorReference);
      if (transaction?.state !== 'PENDING') return 'too_late';
      const decided = await conclude(transaction, ending);
      // The person does not wait for whoever is called back.
      dueWork.follow(callBackAsDecided(decided, deps));
      return 'decided';
    },
    resume() {
      for (const transaction of store.due()) expect(transaction);
    },
    stop: () => dueWork.stop(),
  };
}

async function takeBack(transaction: Transaction, deps: Deps): Promise<void> {
  const { store } = deps;
  // What was refunded is with its payer already; it does not go back twice.
  const isRefunded = store.refundOf(transaction.operatorReference) !== undefined;
  const after = isRefunded ? { ...transaction, dueAtMs: null } : giveBack(transaction, Date.now());
  await store.put(after);
  if (!isRefunded) await callBack(after, toWire(after), deps);
}

async function callBackAsDecided(decided: Transaction, deps: Deps): Promise<void> {
  const { forgedEnding, callbacks } = behaviourOf(decided).behaviour;
  const body = toWire(forgedEnding === undefined ? decided : decide(decided, forgedEnding, Date.now()));
  await Promise.all(Array.from({ length: callbacks }, () => callBack(decided, body, deps)));
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
