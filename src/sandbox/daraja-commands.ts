// The requests that Daraja answers later, at an address in the request: status, balance, and reversals that it refuses. Each answer is sent once.
import type { CallbackSender } from './callback-sender.ts';
import {
  result,
  statusParameters,
  WRONG_INITIATOR,
  WRONG_QUESTION,
  type ResultIds,
  type Said,
} from './daraja-answers.ts';
import { newConversationId, newRequestId, receiptOf } from './daraja-ids.ts';
import type { DarajaCommand, DarajaReversal, DarajaStatusQuery } from './daraja-request.ts';
import { createDueWork } from './due-work.ts';
import type { SandboxDaraja, SandboxSettings } from './sandbox-config.ts';
import { seenByQuery } from './seen-by-query.ts';
import type { TransactionStore } from './transaction-store.ts';
import { giveBack, type Transaction } from './transaction.ts';

/** `isInitiator`: whether the request has the initiator's name and password. If not, the result refuses the request. */
type Asked<Request extends DarajaCommand> = { readonly request: Request; readonly isInitiator: boolean };

export type DarajaCommands = {
  /** Each method returns the ids of the answer that will be sent. */
  askStatus(asked: Asked<DarajaStatusQuery>): ResultIds;
  askBalance(asked: Asked<DarajaCommand>): ResultIds;
  refuseReversal(asked: Asked<DarajaReversal>, said: Said): ResultIds;
  /** Stops sending; resolves when no send is in progress. */
  stop(): Promise<void>;
};

type Deps = {
  readonly settings: SandboxSettings;
  readonly daraja: SandboxDaraja;
  readonly store: TransactionStore;
  readonly callbacks: CallbackSender;
};

/** Waiting answers are kept only in memory: no answer is sent after a restart, and none is sent twice. */
export function createDarajaCommands(deps: Deps): DarajaCommands {
  const { settings, daraja, store, callbacks } = deps;
  const waiting = new Map<string, () => Promise<void>>();
  const dueWork = createDueWork(async (conversationId) => {
    const send = waiting.get(conversationId);
    waiting.delete(conversationId);
    await send?.();
  }, settings.onError);

  // The result is read when it is sent, not when it is requested.
  function answerLater<Request extends DarajaCommand>(
    { request, isInitiator }: Asked<Request>,
    answer: (ids: ResultIds) => Promise<object> | object,
  ): ResultIds {
    const ids = { originatorId: newRequestId(), conversationId: newConversationId() };
    waiting.set(ids.conversationId, async () => {
      const body = isInitiator ? await answer(ids) : result({ ...ids, said: WRONG_INITIATOR });
      await callbacks.send(request.ResultURL, body);
    });
    dueWork.schedule(ids.conversationId, Date.now() + settings.times.darajaResultMs);
    return ids;
  }

  return {
    askStatus: (asked) =>
      answerLater(asked, async (ids) => {
        const found = await seenByQuery(store, find(store, asked.request));
        if (found === undefined) return result({ ...ids, said: WRONG_QUESTION });
        const shortcode = found.kind === 'payout' ? daraja.payoutShortcode : daraja.shortcode;
        const isReversed =
          found.kind === 'collection' && store.refundOf(found.operatorReference)?.state === 'SUCCESSFUL';
        const shown = isReversed ? giveBack(found, Date.now()) : found;
        return result({ ...ids, parameters: statusParameters(shown, shortcode) });
      }),
    askBalance: (asked) =>
      answerLater(asked, (ids) => {
        const parameters = [
          { Key: 'AccountBalance', Value: accounts(store.balance('KES')) },
          { Key: 'BOCompletedTime', Value: Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14)) },
        ];
        return result({ ...ids, parameters });
      }),
    refuseReversal: (asked, said) => answerLater(asked, (ids) => result({ ...ids, said })),
    stop: () => dueWork.stop(),
  };
}

/** The payment with this receipt. There is no index by receipt, because these requests are rare. */
export function withReceipt(store: TransactionStore, receipt: string): Transaction | undefined {
  const paid = store.list({ wire: 'daraja' }, Infinity).filter(({ state, givenBackAtMs }) => {
    return state === 'SUCCESSFUL' || givenBackAtMs !== null;
  });
  return paid.find((transaction) => receiptOf(transaction) === receipt);
}

function find(store: TransactionStore, request: DarajaStatusQuery): Transaction | undefined {
  const { TransactionID: receipt, OriginalConversationID: id } = request;
  if (receipt !== undefined && receipt !== '') return withReceipt(store, receipt);
  const found = id === undefined ? undefined : (store.get(id.toLowerCase()) ?? store.issued(id));
  return found?.wire === 'daraja' && found.kind !== 'collection' ? found : undefined;
}

/** Each account with its name, currency and four amounts; the first amount is available. */
function accounts(balance: string): string {
  const empty = '0.00|0.00|0.00|0.00';
  return [
    `Working Account|KES|${empty}`,
    `Float Account|KES|${empty}`,
    `Utility Account|KES|${balance}|${balance}|0.00|0.00`,
    `Charges Paid Account|KES|${empty}`,
    `Organization Settlement Account|KES|${empty}`,
  ].join('&');
}
