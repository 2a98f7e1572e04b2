// Records webhook attempts with what follows from them, many in one transaction.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import { recordAttempts, type AttemptRecord } from '../../db/webhooks/delivery.ts';
import {
  disableEndpoints,
  lockEndpointUrls,
  setEndpointsFailing,
  setEndpointsHealthy,
  type DisabledEndpoint,
} from '../../db/webhooks/endpoint.ts';
import type { DisabledReason } from '../../domain/webhooks/endpoint.ts';
import type { EndpointId } from '../../domain/ids.ts';

export type DeliveryAttempt = AttemptRecord & {
  readonly endpointId: EndpointId;
  /** Both as they were known when the attempt was made. */
  readonly url: string;
  readonly isEndpointFailing: boolean;
};

export type RecordDeliveryAttempts = {
  readonly attempts: readonly DeliveryAttempt[];
  /** An endpoint of which everything failed for so long is disabled. */
  readonly failingLimitMs: number;
  readonly at: Date;
};

export type EndpointEnd = DisabledEndpoint & { readonly reason: DisabledReason };

/**
 * Attempts, the deliveries' next states and the endpoints' health, in one transaction; returns the endpoints that were
 * disabled by it, which the audit log tells too. Of two records for one attempt number the first stands, so recording again
 * changes nothing. What an address answered says nothing of an endpoint that has another one since.
 */
export async function recordDeliveryAttempts(db: Database, input: RecordDeliveryAttempts): Promise<EndpointEnd[]> {
  // One written order of locks: deliveries by id, then endpoints by id.
  const records = [...input.attempts].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (records.every(({ next, isEndpointFailing }) => next.state === 'delivered' && !isEndpointFailing)) {
    // The common case, where one statement is a transaction by itself. The second finds nothing to change, unless an
    // endpoint failed since these attempts began: then it must not count as failing until the next event, days from now.
    await recordAttempts(db, records);
    await setEndpointsHealthy(db, endpointsOf(records));
    return [];
  }
  return db.withTransaction(async (tx) => {
    const recorded = new Set(await recordAttempts(tx, records));
    const urls = await lockEndpointUrls(tx, endpointsOf(records));
    const effective = records.filter((record) => recorded.has(record.id) && urls.get(record.endpointId) === record.url);
    const failing = endpointsOf(effective.filter(({ next }) => next.state !== 'delivered'));
    const healthy = endpointsOf(effective.filter(({ next }) => next.state === 'delivered'));
    const gone = endpointsOf(effective.filter(({ next }) => next.state === 'dead_lettered' && next.disableEndpoint));
    // An endpoint that did both within one batch counts as healthy: its next failure will say so again.
    const onlyFailing = failing.filter((id) => !healthy.includes(id));
    if (healthy.length > 0) await setEndpointsHealthy(tx, healthy);
    if (onlyFailing.length > 0) await setEndpointsFailing(tx, onlyFailing, input.at);
    return endEndpoints(tx, { gone, failing: onlyFailing, ...input });
  });
}

type ToEnd = Omit<RecordDeliveryAttempts, 'attempts'> & {
  readonly gone: readonly EndpointId[];
  readonly failing: readonly EndpointId[];
};

async function endEndpoints(tx: Tx, { gone, failing, failingLimitMs, at }: ToEnd): Promise<EndpointEnd[]> {
  const ended: EndpointEnd[] = [];
  const end = async (ids: readonly EndpointId[], reason: DisabledReason, failingSince?: Date): Promise<void> => {
    if (ids.length === 0) return;
    const disabled = await disableEndpoints(tx, ids, { reason, at, ...(failingSince && { failingSince }) });
    ended.push(...disabled.map((endpoint) => ({ ...endpoint, reason })));
  };
  await end(gone, 'answered_gone');
  await end(failing, 'failing', new Date(at.getTime() - failingLimitMs));
  for (const { id, merchantId, reason } of ended) {
    await recordServiceAct(tx, merchantId, {
      action: 'endpoint.disabled',
      subjectId: id,
      before: { state: 'enabled' },
      after: { state: 'disabled', disabled_reason: reason },
      at,
    });
  }
  return ended;
}

function endpointsOf(records: readonly DeliveryAttempt[]): EndpointId[] {
  return [...new Set(records.map((record) => record.endpointId))].sort();
}
