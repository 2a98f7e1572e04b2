// Creates many events at once, each for one endpoint: a backlog of deliveries that are all due at the same moment.
import type { Database } from '../src/db/platform/database.ts';
import { notify } from '../src/db/platform/listener.ts';
import type { AttemptRecord } from '../src/db/webhooks/delivery.ts';
import { insertDeliveryWork } from '../src/db/work/work-rows.ts';
import { newId, type DeliveryId, type EndpointId, type MerchantId } from '../src/domain/ids.ts';
import { DELIVERIES_CHANNEL } from '../src/server/open-databases.ts';

export type BacklogTarget = { readonly merchantId: MerchantId; readonly endpointId: EndpointId };

/**
 * Creates `count` events, to the targets in turn, in one transaction, and notifies the dispatchers. With `retrying` each is left to its own workflow.
 */
export async function makeBacklog(
  db: Database,
  targets: readonly BacklogTarget[],
  { count, state = 'pending' }: { readonly count: number; readonly state?: 'pending' | 'retrying' },
): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const target = targets[index % targets.length];
    if (!target) throw new Error('a backlog needs a target');
    const id = newId('evt');
    return { ...target, id, deliveryId: newId('dlv'), body: bodyOf(id, target.endpointId) };
  });
  await db.pool.query(
    `WITH row AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         AS row (event_id, delivery_id, merchant_id, endpoint_id, body)),
     event AS (
       INSERT INTO events (id, merchant_id, type, endpoint_id, body, created_at)
       SELECT event_id, merchant_id, 'endpoint.test', endpoint_id, body, now() FROM row),
     new_work AS (${insertDeliveryWork(`(SELECT delivery_id AS id, merchant_id FROM row WHERE $6 = 'retrying') AS retrying`)})
     INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, next_attempt_at, created_at, updated_at)
     SELECT delivery_id, event_id, endpoint_id, merchant_id, $6, now(), now(), now() FROM row`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.deliveryId),
      rows.map((row) => row.merchantId),
      rows.map((row) => row.endpointId),
      rows.map((row) => row.body),
      state,
    ],
  );
  await notify(db, DELIVERIES_CHANNEL);
}

const ANSWER = { statusCode: 200, headers: {}, body: Buffer.from('ok'), retryAfterMs: null };

/** Of a first attempt that its receiver took without a wait. */
export const deliveredAtOnce = (id: DeliveryId): AttemptRecord => ({
  ...{ id, attemptNumber: 1, replayCount: 0, attemptsBeforeReplay: 0 },
  attempt: { startedAt: new Date(), durationMs: 1, result: { kind: 'answered', ...ANSWER } },
  next: { state: 'delivered' },
  at: new Date(),
});

/** A body as long as that of a collection's event. */
function bodyOf(id: string, endpointId: string): string {
  const object = { id: endpointId, description: 'x'.repeat(500) };
  const event = { id, type: 'endpoint.test', created_at: new Date().toISOString(), environment: 'test' };
  return JSON.stringify({ ...event, data: { object } });
}
