// The API calls of `malipo trigger`: creates payments, lets the second person decide, and waits for the event.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  endpointSchema,
  eventRowSchema,
  eventSchema,
  paymentSchema,
  payoutSchema,
  parseResponse,
  type EventObject,
  type PayoutObject,
} from './responses.ts';
import { ApiRefusal, type ApiResponse } from './api.ts';
import type { Context } from './command.ts';
import { CliFailure, usage } from './failure.ts';
import { readList } from './pages.ts';
import { credentialsOf, verifyAgain, signInAs, type SignedIn } from './sign-in.ts';
import { phoneFor } from './trigger-recipes.ts';

const POLL_EVERY_MS = 400;
/** How much the clocks of the service's machines may differ: an event may seem older than its payment by this much. */
const CLOCK_SKEW_MS = 60_000;
const EVENTS = '/v1/console/events';

export type Trigger = {
  readonly signedIn: SignedIn;
  readonly context: Context;
  readonly amount: number;
  readonly giveUpAtMs: number;
};

/** The object of the event, and the earliest time of the event. */
export type Subject = { readonly id: string; readonly from: Date };

export async function createCollection(trigger: Trigger, row: string): Promise<Subject> {
  return subjectOf(parseResponse(paymentSchema, await postPayment(trigger, 'collections', row)));
}

/** Creates a payout; if the balance does not cover it, first creates a collection and waits for it. */
export async function createPayout(trigger: Trigger, row: string): Promise<PayoutObject> {
  const { api } = trigger.signedIn;
  const balance = parseResponse(z.looseObject({ available: z.number() }), await api.call('GET', '/v1/api/balance'));
  if (balance.available < trigger.amount) {
    trigger.context.terminal.say('the balance does not cover the payout: creating a collection first');
    await awaitEvent(trigger, 'collection.succeeded', await createCollection(trigger, '100'));
  }
  return parseResponse(payoutSchema, await postPayment(trigger, 'payouts', row));
}

const operatorsSchema = z.object({
  data: z.array(z.looseObject({ id: z.string(), markets: z.array(z.looseObject({ currency: z.string() })) })),
});

async function postPayment(
  { signedIn, amount }: Trigger,
  route: 'collections' | 'payouts',
  row: string,
): Promise<ApiResponse> {
  const { api, session } = signedIn;
  const { currency } = session.merchant;
  const operators = parseResponse(operatorsSchema, await api.call('GET', '/v1/console/operators')).data;
  const reached = operators.filter(({ markets }) => markets.some((market) => market.currency === currency));
  const phone = phoneFor(currency, row, (operator) => reached.some(({ id }) => id === operator));
  const json = { phone, amount, reference: 'malipo-trigger' };
  return api.call('POST', `/v1/api/${route}`, { json, idempotencyKey: randomUUID() });
}

export function subjectOf({ id, created_at: createdAt }: z.infer<typeof paymentSchema>): Subject {
  return { id, from: new Date(Date.parse(createdAt) - CLOCK_SKEW_MS) };
}

/** Releases or rejects the payout as the approver from the environment, or prints who must do it. */
export async function endQueuedPayout(
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
        `POST ${baseUrl}/v1/console/payouts/${payout.id}/${decision}, before ${payout.expires_at}. Waiting for that decision. With ` +
        'MALIPO_APPROVER_EMAIL,\nMALIPO_APPROVER_PASSWORD and MALIPO_APPROVER_TOTP_SECRET in the environment, this command decides.',
    );
    return;
  }
  // An approver of several merchants decides at the merchant of the payout.
  const atMerchant = { ...credentials, merchantId: signedIn.session.merchant.id };
  const approver = await signInAs(atMerchant, signedIn.api.baseUrl, context);
  const path = `/v1/console/payouts/${payout.id}/${decision}`;
  if (decision === 'reject') {
    await approver.api.call('POST', path, { json: { reason: 'Made by malipo trigger, to be rejected.' } });
    return;
  }
  await verifyAgain(approver, credentials, new Date());
  const response = await approver.api.call('POST', path, { idempotencyKey: randomUUID() });
  if (parseResponse(paymentSchema, response).state === 'queued') {
    terminal.say(`${payout.id} needs one more approver by this merchant’s policy. Waiting for them.`);
  }
}

export async function cancelPayout({ signedIn }: Trigger, { id }: { readonly id: string }): Promise<void> {
  await signedIn.api.call('POST', `/v1/console/payouts/${id}/cancel`);
}

/** Sends a test event to the chosen endpoint, or without one to the only enabled endpoint. */
export async function testEndpoint({ signedIn, context }: Trigger, chosen: string | null): Promise<string> {
  const { api } = signedIn;
  const id = chosen ?? (await onlyEndpoint(signedIn));
  const response = await api.call('POST', `/v1/console/endpoints/${encodeURIComponent(id)}/test`);
  context.terminal.say(`a test event goes to ${id}`);
  return parseResponse(z.looseObject({ event_id: z.string() }), response).event_id;
}

async function onlyEndpoint({ api }: SignedIn): Promise<string> {
  const { data } = await readList(api, { path: '/v1/console/endpoints', query: {}, item: endpointSchema, limit: null });
  const enabled = data.filter(({ state }) => state === 'enabled');
  const [only] = enabled;
  if (only && enabled.length === 1) return only.id;
  if (only) throw usage(`there are several endpoints: --endpoint ${enabled.map(({ id }) => id).join(' or ')}`);
  throw new CliFailure('failed', 'there is no enabled endpoint: malipo endpoints add URL adds one');
}

/** Waits for the event of this type about the subject. After too long, throws with the payment's current state. */
export async function awaitEvent(trigger: Trigger, type: string, subject: Subject): Promise<EventObject> {
  const { signedIn, context, giveUpAtMs } = trigger;
  const { api } = signedIn;
  for (;;) {
    const query = { type, created_from: subject.from.toISOString() };
    const { data } = await readList(api, { path: EVENTS, query, item: eventRowSchema, limit: null });
    const found = data.find((row) => row.object_id === subject.id);
    if (found) return getEvent(trigger, found.id);
    if (Date.now() >= giveUpAtMs) throw await timeoutFailure(trigger, type, subject);
    await sleep(POLL_EVERY_MS, undefined, { signal: context.stop });
  }
}

export async function getEvent({ signedIn }: Trigger, id: string): Promise<EventObject> {
  return parseResponse(eventSchema, await signedIn.api.call('GET', `${EVENTS}/${id}`));
}

async function timeoutFailure({ signedIn }: Trigger, type: string, { id }: Subject): Promise<CliFailure> {
  const route = id.startsWith('pay_') ? 'payouts' : 'collections';
  const state = await signedIn.api.call('GET', `/v1/api/${route}/${id}`).then(
    (response) => parseResponse(paymentSchema, response).state,
    (error: unknown) => {
      if (error instanceof ApiRefusal) return 'not visible';
      throw error;
    },
  );
  return new CliFailure(
    'timedOut',
    `${type} of ${id} did not come in time: its state is ${state}. It may still come: malipo events --type ${type}, or --timeout`,
  );
}
