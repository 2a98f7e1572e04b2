// The least that sends webhooks durably: an HTTP server that inserts a message, and a loop that claims some, sends each and marks it.
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { Pool } from 'pg';
import { Agent, request } from 'undici';
import { claimMessages, createMessages, insertMessage, markDelivered, type Message } from './bare-messages.ts';
import { serve } from './serve.ts';

/** As many as our own dispatcher sends for one merchant. */
const MOST_IN_FLIGHT = 128;
const POLL_EVERY_MS = 10;

const [url = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString: url, max: 16 });
const agent = new Agent({ connections: null, pipelining: 1 });
await createMessages(pool);
let inFlight = 0;

async function send({ id, url: to, body }: Message): Promise<void> {
  const headers = { 'content-type': 'application/json', 'malipo-event-id': id };
  const response = await request(to, { dispatcher: agent, method: 'POST', headers, body });
  await response.body.dump();
  await markDelivered(pool, id);
  inFlight -= 1;
}

async function poll(): Promise<never> {
  for (;;) {
    const room = MOST_IN_FLIGHT - inFlight;
    const messages = room > 0 ? await claimMessages(pool, room) : [];
    inFlight += messages.length;
    for (const message of messages) void send(message);
    await sleep(POLL_EVERY_MS);
  }
}

const app = new Koa();
app.use(async (ctx) => {
  const { url: to, body } = JSON.parse(await text(ctx.req)) as Omit<Message, 'id'>;
  const id = randomUUID();
  await insertMessage(pool, { id, url: to, body });
  ctx.status = 202;
  ctx.body = { event_id: id };
});
serve(app.callback());
void poll();
