// Runs one collection from outside, as a merchant's server would: request, prompt, payment, webhook.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { DemoPayer } from './demo-profiles.ts';

export type DemoCollectionOptions = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly inboxUrl: string;
  readonly payer: DemoPayer;
  readonly report: (line: string) => void;
  readonly timeoutMs: number;
};

const acceptedSchema = z.object({ id: z.string(), state: z.string() });
const inboxSchema = z.array(z.object({ verified: z.boolean(), raw_body: z.string() }));
const eventSchema = z.object({ type: z.string(), data: z.object({ object: z.object({ id: z.string() }) }) });

const CALL_LIMIT_MS = 10_000;

/** Resolves when the receiver has the signed event of the success; rejects after `timeoutMs`. */
export async function runDemoCollection(options: DemoCollectionOptions): Promise<void> {
  const { report, payer } = options;
  const id = await requestCollection(options);
  report(`collection ${id}: accepted (202); the sandbox operator raises the prompt of ${payer.operator}`);
  const giveUpAtMs = Date.now() + options.timeoutMs;
  const reported = new Set<string>();
  while (Date.now() < giveUpAtMs) {
    for (const event of await eventsOf(id, options.inboxUrl)) {
      if (reported.has(event.type)) continue;
      reported.add(event.type);
      report(`webhook received: ${event.type}, signature ${event.verified ? 'verified by the receiver' : 'NOT VALID'}`);
      if (event.type === 'collection.succeeded' && event.verified) {
        report(`balance: ${await readBalance(options)}`);
        return;
      }
    }
    await sleep(100);
  }
  throw new Error(`the webhook of its success did not arrive within ${options.timeoutMs / 1000} s`);
}

async function requestCollection({ baseUrl, apiKey, payer }: DemoCollectionOptions): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/api/collections`, {
    method: 'POST',
    signal: AbortSignal.timeout(CALL_LIMIT_MS),
    headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': randomUUID() },
    body: new URLSearchParams({ phone: payer.phone, amount: '5000', reference: payer.reference }),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`it was refused with ${response.status}: ${text}`);
  return acceptedSchema.parse(JSON.parse(text)).id;
}

async function eventsOf(id: string, inboxUrl: string): Promise<{ type: string; verified: boolean }[]> {
  const response = await fetch(inboxUrl, { signal: AbortSignal.timeout(CALL_LIMIT_MS) });
  const inbox = inboxSchema.parse(await response.json());
  return inbox
    .map(({ verified, raw_body: rawBody }) => ({ verified, event: eventSchema.parse(JSON.parse(rawBody)) }))
    .filter(({ event }) => event.data.object.id === id)
    .map(({ verified, event }) => ({ verified, type: event.type }));
}

async function readBalance({ baseUrl, apiKey }: DemoCollectionOptions): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/api/balance`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(CALL_LIMIT_MS),
  });
  return response.text();
}
