// An operator whose behaviour the test sets: a real HTTP server that speaks MTN's wire with scripted statuses.
import { json, startStubOperator, type Received, type Reply } from '../operators/stub-operator.ts';

export type ScriptedStatus = {
  /** `ON_HOLD` is no word of the operator's documentation. */
  readonly status: 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'ON_HOLD';
  /** The requested amount by default. */
  readonly amount?: string;
  readonly currency?: string;
  readonly reason?: string;
  /** One of its own for every payment by default. */
  readonly financialTransactionId?: string;
};

export type ScriptedOperator = {
  readonly url: string;
  /** Everything that was requested of it, as it came. */
  readonly received: readonly Received[];
  /** The status of every payment from now on. */
  setStatus(status: ScriptedStatus): void;
  /** How it answers prompt requests from now on. */
  answerPrompts(reply: Reply): void;
  /** How it answers status queries from now on; null: with the status that was set. */
  answerStatusQueries(reply: Reply | null): void;
  /** Leaves status queries without an answer while true. */
  ignoreStatusQueries(isSilent: boolean): void;
  /** How many prompt requests, and how many status queries, came with this reference. */
  prompts(reference: string): number;
  statusQueries(reference: string): number;
  stop(): Promise<void>;
};

export const ACCEPTED: Reply = (response) => response.writeHead(202).end();
export const CUT: Reply = (response) => response.destroy();

/** Accepts every prompt, and keeps it pending until a status is set. */
export async function startScriptedOperator(): Promise<ScriptedOperator> {
  const stub = await startStubOperator();
  let status: ScriptedStatus = { status: 'PENDING' };
  let answerPrompt: Reply = ACCEPTED;
  let answerStatusQuery: Reply | null = null;

  const referenceOf = ({ headers, path, method }: ReturnType<typeof stub.calls>[number]): string =>
    method === 'POST' ? String(headers['x-reference-id']) : (path.split('/').at(-1) ?? '');
  const callsFor = (method: string, reference: string) =>
    stub.calls().filter((received) => received.method === method && referenceOf(received) === reference);

  stub.set({
    call(response, received) {
      if (received.method === 'POST') {
        answerPrompt(response, received);
        return;
      }
      if (answerStatusQuery) {
        answerStatusQuery(response, received);
        return;
      }
      const reference = referenceOf(received);
      const promptRequest = callsFor('POST', reference).at(-1);
      if (promptRequest === undefined) {
        json(404, { code: 'RESOURCE_NOT_FOUND', message: 'Requested resource was not found.' })(response);
        return;
      }
      const { amount, currency } = JSON.parse(promptRequest.body) as { amount: string; currency: string };
      json(200, { amount, currency, externalId: reference, financialTransactionId: reference, ...status })(response);
    },
  });

  return {
    url: stub.url,
    received: stub.received,
    setStatus(next) {
      status = next;
    },
    answerPrompts(reply) {
      answerPrompt = reply;
    },
    answerStatusQueries(reply) {
      answerStatusQuery = reply;
    },
    ignoreStatusQueries(isSilent) {
      answerStatusQuery = isSilent ? () => undefined : null;
    },
    prompts: (reference) => callsFor('POST', reference).length,
    statusQueries: (reference) => callsFor('GET', reference).length,
    stop: () => stub.stop(),
  };
}
