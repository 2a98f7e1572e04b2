// A developer's console session: registers endpoints at the test receiver, makes events and reads their deliveries.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockMerchant } from '../../../src/db/webhooks/endpoint.ts';
import type { DeliveryState } from '../../../src/domain/webhooks/delivery.ts';
import type { CollectionState } from '../../../src/domain/payments/collection.ts';
import { makeCollection, untilSoManyWait } from '../../db/rows.ts';
import type { ApiResponse } from '../../support/api.ts';
import { eventually, type TestEnvironment, type TestMerchant } from '../../support/test-environment.ts';
import { type TestPerson, enter } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { parseSignature, signatureOf, type ReceivedWebhook } from '../../support/receiver.ts';

export const ENDPOINTS = '/v1/console/endpoints';
export const EVENTS = '/v1/console/events';
export const DELIVERIES = '/v1/console/deliveries';
export const REPLAYS = '/v1/console/replays';

export type Fields = Readonly<Record<string, unknown>>;
export type ShownDelivery = {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly endpoint_id: string;
  readonly state: DeliveryState;
  readonly attempt_count: number;
  readonly replay_count: number;
  readonly created_at: string;
};

/** An endpoint as it was registered, with the name of its receiver. */
export type RegisteredEndpoint = {
  readonly id: string;
  readonly secret: string;
  readonly name: string;
  readonly shown: Fields;
};

export type DeveloperSession = {
  readonly merchant: TestMerchant;
  readonly person: TestPerson;
  readonly browser: Browser;
  /** Registers an endpoint at the environment's receiver. */
  register(fields?: Fields): Promise<RegisteredEndpoint>;
  change(endpoint: RegisteredEndpoint, fields: Fields): Promise<ApiResponse>;
  /** As GET shows it. */
  show(endpoint: RegisteredEndpoint): Promise<Fields>;
  /** The webhooks that the endpoint's receiver got, in order. */
  received(endpoint: RegisteredEndpoint): ReceivedWebhook[];
  /** Creates a collection in this state, with its events: the last one is of that type. */
  makeEvents(state?: Exclude<CollectionState, 'initiated'>): Promise<void>;
  /** The first hundred rows of a list. */
  list<Row = ShownDelivery>(path: string, query?: Readonly<Record<string, string>>): Promise<Row[]>;
  /** Waits until every delivery to the endpoint is in one of these states; returns them, oldest first. */
  untilAll(endpoint: RegisteredEndpoint, count: number, ...states: readonly DeliveryState[]): Promise<ShownDelivery[]>;
};

/** A new merchant with no endpoint, and a developer of it who is logged in. */
export async function openDeveloperSession(testEnv: TestEnvironment): Promise<DeveloperSession> {
  const merchant = await testEnv.addMerchant();
  const { person, browser } = await enter(testEnv, merchant.id, ['developer']);
  const developer: DeveloperSession = {
    merchant,
    person,
    browser,
    async register(fields = {}) {
      const name = randomUUID();
      const json = { url: testEnv.receiver.urlFor(name), ...fields };
      const response = await browser.call('POST', ENDPOINTS, { json });
      assert.equal(response.status, 201, response.text);
      const { secret, ...shown } = response.json;
      testEnv.receiver.trust(name, String(secret));
      return { id: String(shown['id']), secret: String(secret), name, shown };
    },
    change: ({ id }, json) => browser.call('PATCH', `${ENDPOINTS}/${id}`, { json }),
    async show({ id }) {
      const response = await browser.call('GET', `${ENDPOINTS}/${id}`);
      assert.equal(response.status, 200, response.text);
      return response.json;
    },
    received: ({ name }) => testEnv.receiver.all(name),
    async makeEvents(state = 'failed') {
      await makeCollection(testEnv.db, merchant.id, state);
    },
    async list<Row>(path: string, query: Readonly<Record<string, string>> = {}) {
      const response = await browser.call(
        'GET',
        `${path}?${new URLSearchParams({ limit: '100', ...query }).toString()}`,
      );
      assert.equal(response.status, 200, response.text);
      return response.json['data'] as Row[];
    },
    untilAll: ({ id }, count, ...states) =>
      eventually(`${count} deliveries to be ${states.join(' or ')}`, async () => {
        const rows = await developer.list(DELIVERIES, { endpoint_id: id });
        return rows.length === count && rows.every(({ state }) => states.includes(state)) && rows.reverse();
      }),
  };
  for (const { id } of await developer.list<{ id: string }>(ENDPOINTS)) {
    assert.equal((await browser.call('DELETE', `${ENDPOINTS}/${id}`)).status, 204);
  }
  return developer;
}

/** Makes the calls at the same moment: none proceeds before all of them wait for the merchant's row. */
export async function atOnce<Value>(
  { db }: TestEnvironment,
  { id }: TestMerchant,
  calls: readonly (() => Promise<Value>)[],
): Promise<Value[]> {
  let running: Promise<Value>[] = [];
  await db.withTransaction(async (tx) => {
    await lockMerchant(tx, id);
    running = calls.map((call) => call());
    await untilSoManyWait(db, calls.length);
  });
  return Promise.all(running);
}

/** A time after everything recorded so far, which has a resolution of milliseconds. */
export async function nextMoment(): Promise<string> {
  const lastMs = Date.now();
  while (Date.now() <= lastMs) await sleep(1);
  return new Date().toISOString();
}

/** The index of the secret that made each signature of the webhook, in the order of the signatures; -1: none of them. */
export function signersOf({ headers, rawBody }: ReceivedWebhook, secrets: readonly string[]): number[] {
  const { time, signatures } = parseSignature(String(headers['malipo-signature']));
  const expected = secrets.map((secret) => signatureOf(secret, time, rawBody));
  return signatures.map((signature) => expected.indexOf(signature));
}
