// The merchants' side: requests that are recorded before and after, and repeated with the same key until answered.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { JournalRequest } from './checker/evidence.ts';
import type { LineFile } from './line-file.ts';
import type { Merchant, Person } from './merchants.ts';
import { createSessions } from './person-sessions.ts';
import type { Server } from './topology.ts';

export type Response = { readonly status: number; readonly body: string };

type Method = 'POST' | 'PATCH' | 'DELETE';

type Command = Pick<JournalRequest, 'key' | 'subjects'> & {
  /** Null: not recorded, because the checker does not judge it. */
  readonly action: JournalRequest['action'] | null;
  /** POST by default. */
  readonly method?: Method;
  readonly path: string;
  readonly body: object | null;
};

export type Client = {
  /** With the merchant's API key. Null: no valid response within the limit of repeats. */
  asMerchant(merchant: Merchant, command: Command): Promise<Response | null>;
  /** In the person's session. */
  asPerson(merchant: Merchant, person: Person, command: Command): Promise<Response | null>;
  /** The payment as the API shows it; null if it cannot be read now. */
  read(merchant: Merchant, path: string): Promise<{ readonly state: string } | null>;
  logIn(merchant: Merchant, person: Person): Promise<void>;
  close(): Promise<void>;
};

const SESSION = '/v1/console/session';
const CALL_LIMIT_MS = 15_000;
const REPEAT_LIMIT_MS = 180_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 3000;

/** Requests go to the servers in turn, as behind a load balancer. */
export function createClient(servers: readonly Server[], journal: LineFile): Client {
  const agent = new Agent({ connections: 64, headersTimeout: CALL_LIMIT_MS, bodyTimeout: CALL_LIMIT_MS });
  let turn = 0;
  let lastNumber = 0;

  async function call(
    method: 'GET' | Method,
    path: string,
    headers: (server: Server) => Record<string, string>,
    body: string | null,
  ): Promise<Response & { readonly cookie: string }> {
    turn += 1;
    const server = servers[turn % servers.length];
    if (!server) throw new Error('there is no server');
    const response = await request(`${server.url}${path}`, {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(CALL_LIMIT_MS),
      headers: { ...headers(server), ...(body !== null && { 'content-type': 'application/json' }) },
      body,
    });
    const cookie = [response.headers['set-cookie']].flat()[0]?.split(';')[0] ?? '';
    return { status: response.statusCode, body: await response.body.text(), cookie };
  }

  const sessions = createSessions((bodyOf) =>
    untilAnswered(async () => {
      const body = await bodyOf();
      return call('POST', SESSION, fromOurPages, body).catch(() => null);
    }),
  );

  async function send(
    entry: Pick<JournalRequest, 'merchantId' | 'userId'>,
    command: Command,
    headers: (server: Server) => Record<string, string>,
  ): Promise<Response | null> {
    const number = ++lastNumber;
    const { method = 'POST', action, key, subjects, path } = command;
    const body = command.body === null ? null : JSON.stringify(command.body);
    const note = (line: object): void => {
      if (action !== null) journal.append({ ...line, number, atMs: Date.now() });
    };
    note({ type: 'request', action, key, subjects, body: body ?? '', ...entry });
    const all = (server: Server) => ({ ...headers(server), ...(key !== null && { 'idempotency-key': key }) });
    return untilAnswered(async () => {
      const response = await call(method, path, all, body).catch((error: unknown) => {
        note({ type: 'result', status: null, body: String(error) });
        return null;
      });
      if (!response) return null;
      const { status, body: text } = response;
      note({ type: 'result', status, body: text });
      return { status, body: text };
    });
  }

  return {
    asMerchant: (merchant, command) =>
      send({ merchantId: merchant.id, userId: null }, command, () => ({ authorization: `Bearer ${merchant.apiKey}` })),
    async asPerson(merchant, person, command) {
      const cookie = await sessions.freshCookie(merchant, person);
      if (cookie === null) return null;
      const entry = { merchantId: merchant.id, userId: person.id };
      return send(entry, command, (server) => ({ ...fromOurPages(server), cookie }));
    },
    async read(merchant, path) {
      const response = await call('GET', path, () => ({ authorization: `Bearer ${merchant.apiKey}` }), null).catch(
        () => null,
      );
      return response?.status === 200 ? (JSON.parse(response.body) as { state: string }) : null;
    },
    logIn: (merchant, person) => sessions.logIn(merchant, person),
    close: () => agent.destroy(),
  };
}

/** Repeats it until there is a valid response; null if there is none within the limit. */
async function untilAnswered<Answer extends Response>(attempt: () => Promise<Answer | null>): Promise<Answer | null> {
  const giveUpAtMs = Date.now() + REPEAT_LIMIT_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    const response = await attempt();
    if (response && !isToBeRepeated(response)) return response;
    if (Date.now() > giveUpAtMs) return null;
    await sleep(waitMs);
  }
}

function fromOurPages({ url }: Server): Record<string, string> {
  return { origin: url, 'malipo-console': '1' };
}

function isToBeRepeated({ status, body }: Response): boolean {
  return status >= 500 || status === 429 || (status === 409 && body.includes('idempotency_key_in_flight'));
}
