// Records webhook attempts with what follows from them, many in one transaction.
import type { Database } from '../db/database.ts';
import { recordAttempts, type AttemptRecord } from '../db/delivery.ts';
import { disableEndpoints, setEndpointsFailing } from '../db/endpoint.ts';
import type { EndpointId } from '../domain/ids.ts';

export type DeliveryAttempt = AttemptRecord & {
  readonly endpointId: EndpointId;
  /** As it was known when the attempt was made. */
  readonly isEndpointFailing: boolean;
};

/**
 * Attempts, the deliveries' next states and the endpoints' health, in one transaction. Of two records for one attempt
 * number the first stands, so recording again changes nothing.
 */
export async function recordDeliveryAttempts(db: Database, attempts: readonly DeliveryAttempt[]): Promise<void> {
  // One written order of locks: deliveries by id, then endpoints by id.
  const records = [...attempts].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (records.every(({ next, isEndpointFailing }) => next.state === 'delivered' && !isEndpointFailing)) {
    // The common case leaves every endpoint as it is, and one statement is a transaction by itself. An endpoint that
    // failed since these attempts began is made healthy by the next one that arrives.
    await recordAttempts(db, records);
    return;
  }
  await db.withTransaction(async (tx) => {
    const recorded = new Set(await recordAttempts(tx, records));
    const effective = records.filter((record) => recorded.has(record.id));
    const failing = endpointsOf(effective.filter(({ next }) => next.state !== 'delivered'));
    const healthy = endpointsOf(effective.filter(({ next }) => next.state === 'delivered'));
    const gone = endpointsOf(effective.filter(({ next }) => next.state === 'dead_lettered' && next.disableEndpoint));
    // An endpoint that did both within one batch counts as healthy: its next failure will say so again.
    const onlyFailing = failing.filter((id) => !healthy.includes(id));
    if (onlyFailing.length > 0) await setEndpointsFailing(tx, onlyFailing, true);
    if (healthy.length > 0) await setEndpointsFailing(tx, healthy, false);
    if (gone.length > 0) await disableEndpoints(tx, gone, 'the endpoint answered 410 Gone');
  });
}

function endpointsOf(records: readonly DeliveryAttempt[]): EndpointId[] {
  return [...new Set(records.map((record) => record.endpointId))].sort();
}
