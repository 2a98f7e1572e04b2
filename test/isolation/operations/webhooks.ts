// Every operation on endpoints, events, deliveries and replays: who may call it, and a call that succeeds.
import { randomUUID } from 'node:crypto';
import { MAX_ENDPOINTS_PER_MERCHANT } from '../../../src/domain/webhooks/endpoint.ts';
import type { DeliveryId, EndpointId, EventId, ReplayId } from '../../../src/domain/ids.ts';
import { UNDELIVERED_STATES } from '../../../src/domain/webhooks/replay.ts';
import { continueReplay, createReplay } from '../../../src/operations/webhooks/replay-deliveries.ts';
import { getReplay } from '../../../src/db/webhooks/replay.ts';
import { listEndpoints } from '../../../src/db/webhooks/endpoint.ts';
import { registerEndpoint } from '../../../src/operations/webhooks/register-endpoint.ts';
import { actedBy } from '../../db/payments/payout-rows.ts';
import { makeCollection } from '../../db/rows.ts';
import { about, ANY, KEYS, NOTHING, type Operations, type SampleContext } from '../operation.ts';

export const WEBHOOK_OPERATIONS: Operations = {
  listEndpoints: { roles: ANY, sample: NOTHING },
  getEndpoint: about(ANY, 'whe', addEndpoint),
  createEndpoint: { roles: KEYS, sample: () => ({ json: { url: WEBHOOKS_URL } }) },
  changeEndpoint: {
    roles: KEYS,
    pathId: 'whe',
    sample: async (context) => ({
      id: await addEndpoint(context),
      json: { description: `Changed ${randomUUID()}` },
    }),
  },
  deleteEndpoint: about(KEYS, 'whe', addEndpoint),
  rotateEndpointSecret: {
    roles: KEYS,
    pathId: 'whe',
    sample: async (context) => ({ id: await addEndpoint(context), json: { keep_previous_for: 60 } }),
  },
  testEndpoint: about(KEYS, 'whe', addEndpoint),
  listEvents: { roles: ANY, queryIds: { object_id: 'col' }, sample: NOTHING },
  getEvent: about(ANY, 'evt', async (context) => (await addWithheldDelivery(context)).eventId),
  listDeliveries: { roles: ANY, queryIds: { endpoint_id: 'whe', event_id: 'evt', object_id: 'col' }, sample: NOTHING },
  getDelivery: about(ANY, 'dlv', async (context) => (await addWithheldDelivery(context)).id),
  replayDelivery: about(KEYS, 'dlv', async (context) => (await addWithheldDelivery(context)).id),
  createReplay: {
    roles: KEYS,
    bodyId: { field: 'endpoint_id', refusal: 'endpoint_not_found' },
    sample: async (context) => ({ json: { endpoint_id: await addEndpoint(context) } }),
  },
  listReplays: {
    roles: ANY,
    sample: async (context) => {
      await addReplay(context);
      return {};
    },
  },
  getReplay: about(ANY, 'rpl', addReplay),
};

const WEBHOOKS_URL = 'https://shop.example/webhooks';

/** The merchant's newest endpoint, or another one while there are few: their number is limited. */
async function addEndpoint({ testEnv, shop }: SampleContext): Promise<EndpointId> {
  const { merchantId } = shop;
  const { items } = await listEndpoints(testEnv.db, merchantId, null, MAX_ENDPOINTS_PER_MERCHANT);
  if (items[0] && items.length > 8) return items[0].id;
  const keyRing = testEnv.config.settings.MALIPO_SECRET_KEYS;
  const endpoint = { url: WEBHOOKS_URL, description: null, eventTypes: null };
  return (await registerEndpoint(testEnv.db, { merchantId, ...endpoint, keyRing, at: new Date() })).id;
}

/** A delivery of one of the merchant's events that nothing is going to send. */
async function addWithheldDelivery({ testEnv, shop }: SampleContext): Promise<{ id: DeliveryId; eventId: EventId }> {
  await makeCollection(testEnv.db, shop.merchantId, 'prompted');
  const { rows } = await testEnv.db.pool.query<{ id: DeliveryId; eventId: EventId }>(
    `UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL
     WHERE id = (SELECT max(id) FROM deliveries WHERE merchant_id = $1) RETURNING id, event_id AS "eventId"`,
    [shop.merchantId],
  );
  return rows[0]!;
}

/** A completed replay, because only a limited number may run at a time. */
async function addReplay({ testEnv, shop }: SampleContext): Promise<ReplayId> {
  const longAgo = new Date(0);
  const filter = { endpointId: null, states: UNDELIVERED_STATES, madeFrom: longAgo, madeBefore: longAgo };
  const { id } = await createReplay(testEnv.db, { filter, by: actedBy(shop.owner), at: new Date() });
  while ((await getReplay(testEnv.db, shop.merchantId, id)).state === 'running') {
    await continueReplay(testEnv.db, 100, new Date());
  }
  return id;
}
