// The service and its bare counterpart, each with the ways in which messages for one endpoint come into it.
import type { ChildProcess } from 'node:child_process';
import { Agent, request } from 'undici';
import { newId, type CollectionId, type MerchantId } from '../src/domain/ids.ts';
import { enrolMember } from '../src/operations/accounts/enrol-member.ts';
import { hashPassword } from '../src/security/password.ts';
import { generateTotpSecret } from '../src/security/totp.ts';
import { makeBacklog } from './backlog.ts';
import { insertMessages } from './bare-messages.ts';
import { forkEntry, messageFrom, type BenchEnvironment } from './bench-environment.ts';
import { callAll, type Load } from './callers.ts';
import type { Pids } from './cpu.ts';
import type { WriterCommand, Written } from './event-writer-process.ts';
import { addEndpoint, newMerchant } from './merchants.ts';
import { nowMs } from './now.ts';
import { logIn, ownPage, PASSWORD } from './people.ts';

/** How messages come: written by the operation that makes them, or requested over HTTP. */
export const WAYS = ['operation', 'API'] as const;
export type Way = (typeof WAYS)[number];

export type Product = {
  readonly name: string;
  readonly pids: Pids;
  /** Resolves to the ids of all messages, and when each was committed or accepted. */
  readonly send: Readonly<Record<Way, (load: Load) => Promise<Written>>>;
  /** Makes so many be pending at one moment; the ids are not known. */
  readonly queue: (count: number) => Promise<void>;
};

/** As long as the event of a collection. */
const BODY = JSON.stringify({ description: 'x'.repeat(700) });
const agent = new Agent({ connections: 64, pipelining: 1 });

type Target = { readonly bench: BenchEnvironment; readonly writer: ChildProcess; readonly url: string };

/** The service, with a new merchant whose one endpoint is at `url`. */
export async function ourProduct(target: Target): Promise<Product> {
  const { bench, writer, url } = target;
  const { db, keyRing, baseUrl } = bench;
  const merchantId = await newMerchant(db);
  const endpointId = await addEndpoint(db, { merchantId, url, keyRing });
  const person = { email: `owner@${merchantId}.example`, totpSecret: generateTotpSecret(), merchantId };
  const enrolled = { ...person, passwordHash: await hashPassword(PASSWORD), name: 'Owner', roles: ['owner'] as const };
  await enrolMember(db, { ...enrolled, keyRing, at: new Date() });
  const headers = { cookie: await logIn(baseUrl, person), ...ownPage(baseUrl) };
  const path = `${baseUrl}/v1/console/endpoints/${endpointId}/test`;
  return {
    name: 'the service',
    pids: {
      server: bench.server.pid(),
      PostgreSQL: bench.postgres.pid,
      Temporal: bench.temporal.pid,
      writer: writer.pid,
    },
    send: {
      operation: async (load) =>
        ask(writer, { load, merchantId, collectionIds: await addCollections(bench, merchantId, load.count) }),
      API: (load) => post(load, path, { headers }),
    },
    queue: (count) => makeBacklog(db, [{ merchantId, endpointId }], { count }),
  };
}

export async function bareProduct({ bench, writer, url }: Target, bare: ChildProcess, port: number): Promise<Product> {
  const message = { url, body: BODY };
  const sent = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) };
  return Promise.resolve({
    name: 'bare',
    pids: { server: bare.pid, PostgreSQL: bench.postgres.pid, writer: writer.pid },
    send: {
      operation: (load) => ask(writer, { load, ...message }),
      API: (load) => post(load, `http://127.0.0.1:${port}/`, sent),
    },
    queue: (count) => insertMessages(bench.db.pool, count, message),
  });
}

export async function startWriter({ environment }: BenchEnvironment): Promise<ChildProcess> {
  const writer = forkEntry('event-writer-process', [JSON.stringify(environment)]);
  await messageFrom(writer);
  return writer;
}

async function ask(writer: ChildProcess, command: WriterCommand): Promise<Written> {
  writer.send(command);
  return messageFrom<Written>(writer);
}

async function post(
  load: Load,
  url: string,
  sent: { readonly headers: Record<string, string>; readonly body?: string },
): Promise<Written> {
  const accepted: [string, number][] = [];
  await callAll(load, async () => {
    const { statusCode, body } = await request(url, { ...sent, method: 'POST', dispatcher: agent });
    const text = await body.text();
    if (statusCode !== 202) throw new Error(`response ${statusCode}: ${text}`);
    accepted.push([(JSON.parse(text) as { event_id: string }).event_id, nowMs()]);
  });
  return accepted;
}

/** New collections whose workflow is said to run: nothing but the writer moves them. */
async function addCollections(
  { db }: BenchEnvironment,
  merchantId: MerchantId,
  count: number,
): Promise<CollectionId[]> {
  const ids = Array.from({ length: count }, () => newId('col'));
  await db.pool.query(
    `WITH made AS (
       INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, version, amount_minor, currency, reference, phone, operator,
         operator_reference, metadata, created_at, updated_at, send_deadline_at, send_begun_at)
       SELECT id, 'collection', $2, id, 'initiated', 0, 5000, 'UGX', 'bench', '256772000100', 'mtn-momo', gen_random_uuid(), '{}', now(), now(),
         now() + interval '1 day', now()
       FROM unnest($1::text[]) AS id
       RETURNING id, merchant_id)
     INSERT INTO work (id, task, kind, merchant_id, operator, priority, is_started, due_at)
     SELECT id, 'workflow', 'collection', merchant_id, 'mtn-momo', 0, true, now() + interval '1 day' FROM made`,
    [ids, merchantId],
  );
  return ids;
}
