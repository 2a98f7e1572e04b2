// Records webhook attempts and their consequences, many at a time.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
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
  /** The endpoint's values when the attempt was made. */
  readonly url: string;
  readonly isEndpointFailing: boolean;
};

export type RecordDeliveryAttempts = {
  readonly attempts: readonly DeliveryAttempt[];
  /** An endpoint is disabled after every attempt has failed for this long. */
  readonly failingLimitMs: number;
  /** The workflow of a delivery is checked once its next attempt is overdue by this much. */
  readonly overdueMs: number;
  readonly at: Date;
};

export type EndpointDisabled = DisabledEndpoint & { readonly reason: DisabledReason };

/**
 * Records the attempts, the deliveries' next states and the endpoints' health, in one transaction, or in one statement
 * if healthy endpoints accepted all, and one more for an endpoint that failed meanwhile. Returns the endpoints that it
 * disabled, which the audit log records too. Of two records with one attempt number the first counts, so a repeat
 * changes nothing. A result does not affect the health of an endpoint whose URL has changed since the attempt.
 */
export async function recordDeliveryAttempts(db: Database, input: RecordDeliveryAttempts): Promise<EndpointDisabled[]> {
  // The order of locks: deliveries by id, then endpoints by id.
  const records = [...input.attempts].sort((a, b) => (a.id < b.id ? -1 : 1));
  if (records.every(({ next, isEndpointFailing }) => next.state === 'delivered' && !isEndpointFailing)) {
    // The common case is one statement without an explicit transaction. An endpoint that failed after these attempts
    // began must not count as failing until the next event, which may be days later. An endpoint that fails during this
    // statement is healthy again with the retry that it then owes.
    const failing = (await recordAttempts(db, records, input.overdueMs)).filter(
      ({ isEndpointFailing }) => isEndpointFailing,
    );
    if (failing.length > 0) await setEndpointsHealthy(db, endpointsOf(failing));
    return [];
  }
  return db.withTransaction(async (tx) => {
    const recorded = new Set((await recordAttempts(tx, records, input.overdueMs)).map(({ id }) => id));
    const urls = await lockEndpointUrls(tx, endpointsOf(records));
    const effective = records.filter((record) => recorded.has(record.id) && urls.get(record.endpointId) === record.url);
    const failing = endpointsOf(effective.filter(({ next }) => next.state !== 'delivered'));
    const healthy = endpointsOf(effective.filter(({ next }) => next.state === 'delivered'));
    const gone = endpointsOf(effective.filter(({ next }) => next.state === 'dead_lettered' && next.disableEndpoint));
    // An endpoint with both results in one batch counts as healthy: its next failure marks it again.
    const onlyFailing = failing.filter((id) => !healthy.includes(id));
    if (healthy.length > 0) await setEndpointsHealthy(tx, healthy);
    if (onlyFailing.length > 0) await setEndpointsFailing(tx, onlyFailing, input.at);
    return disableGoneOrFailing(tx, { gone, failing: onlyFailing, ...input });
  });
}

type EndpointsToDisable = Omit<RecordDeliveryAttempts, 'attempts'> & {
  readonly gone: readonly EndpointId[];
  readonly failing: readonly EndpointId[];
};

async function disableGoneOrFailing(
  tx: Tx,
  { gone, failing, failingLimitMs, at }: EndpointsToDisable,
): Promise<EndpointDisabled[]> {
  const disabled: EndpointDisabled[] = [];
  const disable = async (ids: readonly EndpointId[], reason: DisabledReason, failingSince?: Date): Promise<void> => {
    if (ids.length === 0) return;
    const endpoints = await disableEndpoints(tx, ids, { reason, at, ...(failingSince && { failingSince }) });
    disabled.push(...endpoints.map((endpoint) => ({ ...endpoint, reason })));
  };
  await disable(gone, 'answered_gone');
  await disable(failing, 'failing', new Date(at.getTime() - failingLimitMs));
  for (const { id, merchantId, reason } of disabled) {
    await recordServiceAct(tx, merchantId, {
      action: 'endpoint.disabled',
      subjectId: id,
      before: { state: 'enabled' },
      after: { state: 'disabled', disabled_reason: reason },
      at,
    });
  }
  return disabled;
}

function endpointsOf(records: readonly { readonly endpointId: EndpointId }[]): EndpointId[] {
  return [...new Set(records.map((record) => record.endpointId))].sort();
}
