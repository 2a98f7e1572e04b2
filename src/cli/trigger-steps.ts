// What `malipo trigger` does at the API: makes payments, lets the second person decide, and waits for the event.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  endpointSchema,
  eventRowSchema,
  eventSchema,
  paymentSchema,
  payoutSchema,
  read,
  type EventObject,
  type PayoutObject,
} from './answers.ts';
import { ApiRefusal } from './api.ts';
import type { Context } from './command.ts';
import { CliFailure, usage } from './failure.ts';
import { readList } from './pages.ts';
import { credentialsOf, freshen, signInAs, type SignedIn } from './sign-in.ts';
import { phoneFor, type Recipe } from './trigger-recipes.ts';

const POLL_EVERY_MS = 400;
/** The service's machines may differ by so much; an event is no older than what it tells of, but for that. */
const CLOCKS_DIFFER_MS = 60_000;
const EVENTS = '/v1/console/events';

export type Trigger = {
  readonly signedIn: SignedIn;
  readonly context: Context;
  readonly amount: number;
  readonly giveUpAtMs: number;
};

/** What an event will tell of, and since when it may be there. */
export type Subject = { readonly id: string; readonly from: Date };

type Row = Extract<Recipe, { row: unknown }>['row'];

/** A new collection. */
export async function makeCollection({ signedIn, amount }: Trigger, row: Row): Promise<Subject> {
  const { api, session } = signedIn;
  const json = { phone: phoneFor(session.merchant.currency, row), amount, reference: 'malipo-trigger' };
  const answer = await api.call('POST', '/v1/api/collections', { json, idempotencyKey: randomUUID() });
  return subjectOf(read(paymentSchema, answer));
}

/** A new payout; where the balance does not cover it, a collection that does comes first. */
export async function makePayout(trigger: Trigger, row: Row): Promise<PayoutObject> {
  const { signedIn, amount, context } = trigger;
  const { api, session } = signedIn;
  const balance = read(z.looseObject({ available: z.number() }), await api.call('GET', '/v1/api/balance'));
  if (balance.available < amount) {
    context.terminal.say('the balance does not cover the payout: a collection comes first');
    await awaitEvent(trigger, 'collection.succeeded', await makeCollection(trigger, '100'));
  }
  const json = { phone: phoneFor(session.merchant.currency, row), amount, reference: 'malipo-trigger' };
  const answer = await api.call('POST', '/v1/api/payouts', { json, idempotencyKey: randomUUID() });
  return read(payoutSchema, answer);
}

export function subjectOf({ id, created_at: createdAt }: z.infer<typeof paymentSchema>): Subject {
  return { id, from: new Date(Date.parse(createdAt) - CLOCKS_DIFFER_MS) };
}

/**
 * Has the payout released or rejected by the approver of the environment. Without one it says who must do what, and leaves
 * it to them. Whoever it is, the service refuses the person who made it.
 */
export async function haveDecided(
  trigger: Trigger,
  payout: PayoutObject,
  decision: 'release' | 'reject',
): Promise<void> {
  const { signedIn, context } = trigger;
  const { terminal, environment } = context;
  const credentials = credentialsOf(environment, 'APPROVER_');
  if (!credentials) {
    const { baseUrl } = signedIn.api;
    terminal.say(
      `${payout.id} is queued. Another person, with the role approver, must ${decision} it in the console, or by\n` +
        `POST ${baseUrl}/v1/console/payouts/${payout.id}/${decision}, before ${payout.expires_at}. Waiting for them; with ` +
        'MALIPO_APPROVER_EMAIL,\nMALIPO_APPROVER_PASSWORD and MALIPO_APPROVER_TOTP_SECRET in the environment it is done here.',
    );
    return;
  }
  const approver = await signInAs(credentials, signedIn.api.baseUrl, context);
  const path = `/v1/console/payouts/${payout.id}/${decision}`;
  if (decision === 'reject') {
    await approver.api.call('POST', path, { json: { reason: 'Made by malipo trigger, to be rejected.' } });
    return;
  }
  await freshen(approver, credentials, new Date());
  const answer = await approver.api.call('POST', path, { idempotencyKey: randomUUID() });
  if (read(paymentSchema, answer).state === 'queued') {
    terminal.say(`${payout.id} needs one more approver by this merchant’s policy. Waiting for them.`);
  }
}

export async function cancelPayout({ signedIn }: Trigger, { id }: { readonly id: string }): Promise<void> {
  await signedIn.api.call('POST', `/v1/console/payouts/${id}/cancel`);
}

/** Sends a test event to an endpoint: the one that is named, or the only one that is enabled. */
export async function testEndpoint({ signedIn, context }: Trigger, chosen: string | null): Promise<string> {
  const { api } = signedIn;
  const id = chosen ?? (await onlyEndpoint(signedIn));
  const answer = await api.call('POST', `/v1/console/endpoints/${encodeURIComponent(id)}/test`);
  context.terminal.say(`a test event goes to ${id}`);
  return read(z.looseObject({ event_id: z.string() }), answer).event_id;
}

async function onlyEndpoint({ api }: SignedIn): Promise<string> {
  const { data } = await readList(api, { path: '/v1/console/endpoints', query: {}, item: endpointSchema, limit: null });
  const enabled = data.filter(({ state }) => state === 'enabled');
  const [only] = enabled;
  if (only && enabled.length === 1) return only.id;
  if (only) throw usage(`there are several endpoints: --endpoint ${enabled.map(({ id }) => id).join(' or ')}`);
  throw new CliFailure('failed', 'there is no endpoint that is enabled: malipo endpoints add URL makes one');
}

/** Waits until an event of the type tells of the subject. Throws when that takes too long, with how far it has come. */
export async function awaitEvent(trigger: Trigger, type: string, subject: Subject): Promise<EventObject> {
  const { signedIn, context, giveUpAtMs } = trigger;
  const { api } = signedIn;
  for (;;) {
    const query = { type, created_from: subject.from.toISOString() };
    const { data } = await readList(api, { path: EVENTS, query, item: eventRowSchema, limit: null });
    const found = data.find((row) => row.object_id === subject.id);
    if (found) return getEvent(trigger, found.id);
    if (Date.now() >= giveUpAtMs) throw await lateness(trigger, type, subject);
    await sleep(POLL_EVERY_MS, undefined, { signal: context.stop });
  }
}

export async function getEvent({ signedIn }: Trigger, id: string): Promise<EventObject> {
  return read(eventSchema, await signedIn.api.call('GET', `${EVENTS}/${id}`));
}

async function lateness({ signedIn }: Trigger, type: string, { id }: Subject): Promise<CliFailure> {
  const route = id.startsWith('pay_') ? 'payouts' : 'collections';
  const state = await signedIn.api.call('GET', `/v1/api/${route}/${id}`).then(
    (answer) => read(paymentSchema, answer).state,
    (error: unknown) => {
      if (error instanceof ApiRefusal) return 'not to be seen';
      throw error;
    },
  );
  return new CliFailure(
    'timedOut',
    `${type} of ${id} did not come in time: it is ${state}. It may yet come: malipo events --type ${type}, or --timeout`,
  );
}
