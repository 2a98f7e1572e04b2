// An operator that says what the test tells it to: MTN's wire from a real HTTP server, with the words of a script.
import { json, startStubOperator, type Reply } from '../operators/stub-operator.ts';

export type ScriptedStatus = {
  readonly status: 'PENDING' | 'SUCCESSFUL' | 'FAILED';
  /** What was asked for, unless the script says otherwise. */
  readonly amount?: string;
  readonly currency?: string;
  readonly reason?: string;
};

export type ScriptedOperator = {
  readonly url: string;
  /** How it answers questions about every payment from now on. */
  setStatus(answer: ScriptedStatus): void;
  /** How it answers requests for prompts from now on. */
  answerPrompts(reply: Reply): void;
  /** How it answers questions from now on; null: in the words it was told to say. */
  answerStatusQueries(reply: Reply | null): void;
  /** Leaves questions without any answer, for as long as it is so. */
  ignoreStatusQueries(isSilent: boolean): void;
  /** Requests for a prompt, and questions, with this reference. */
  prompts(reference: string): number;
  statusQueries(reference: string): number;
  stop(): Promise<void>;
};

export const ACCEPTED: Reply = (response) => response.writeHead(202).end();
export const CUT: Reply = (response) => response.destroy();

/** Takes every prompt and decides nothing until it is told to. */
export async function startScriptedOperator(): Promise<ScriptedOperator> {
  const stub = await startStubOperator();
  let answer: ScriptedStatus = { status: 'PENDING' };
  let answerPrompt: Reply = ACCEPTED;
  let answerQuestion: Reply | null = null;

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
      if (answerQuestion) {
        answerQuestion(response, received);
        return;
      }
      const reference = referenceOf(received);
      const asked = callsFor('POST', reference).at(-1);
      if (asked === undefined) {
        json(404, { code: 'RESOURCE_NOT_FOUND', message: 'Requested resource was not found.' })(response);
        return;
      }
      const { amount, currency } = JSON.parse(asked.body) as { amount: string; currency: string };
      json(200, { amount, currency, externalId: reference, financialTransactionId: '4711', ...answer })(response);
    },
  });

  return {
    url: stub.url,
    setStatus(next) {
      answer = next;
    },
    answerPrompts(reply) {
      answerPrompt = reply;
    },
    answerStatusQueries(reply) {
      answerQuestion = reply;
    },
    ignoreStatusQueries(isSilent) {
      answerQuestion = isSilent ? () => undefined : null;
    },
    prompts: (reference) => callsFor('POST', reference).length,
    statusQueries: (reference) => callsFor('GET', reference).length,
    stop: () => stub.stop(),
  };
}
