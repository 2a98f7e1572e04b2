// Claims and records deliveries as a dispatcher does, with limits that no test reaches by default.
import type { Database } from '../../../src/db/platform/database.ts';
import { claimDeliveries, type ClaimDeliveries, type DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import type { NextStep } from '../../../src/domain/webhooks/delivery.ts';
import {
  recordDeliveryAttempts,
  type DeliveryAttempt,
  type EndpointDisabled,
  type RecordDeliveryAttempts,
} from '../../../src/operations/webhooks/record-delivery-attempts.ts';

export function claim(db: Database, limit: number, bounds: Partial<ClaimDeliveries> = {}): Promise<DueDelivery[]> {
  const nothing = { byEndpoint: new Map(), byMerchant: new Map() };
  return claimDeliveries(db, {
    limit,
    leaseMs: 60_000,
    perEndpoint: 1000,
    endpointLimits: new Map(),
    perMerchant: 1000,
    inFlight: nothing,
    ...bounds,
  });
}

export function record(
  db: Database,
  attempts: readonly DeliveryAttempt[],
  options: Partial<RecordDeliveryAttempts> = {},
): Promise<EndpointDisabled[]> {
  return recordDeliveryAttempts(db, {
    attempts,
    failingLimitMs: 86_400_000,
    overdueMs: 600_000,
    at: new Date(),
    ...options,
  });
}

/** An attempt that the endpoint refused, and what follows from it. */
export function attemptOf(delivery: DueDelivery, next: NextStep, attemptNumber = delivery.attemptCount + 1) {
  const result = { kind: 'no_answer', error: 'the connection was refused' } as const;
  const attempt = { startedAt: new Date(), durationMs: 1, result };
  return { ...delivery, attemptNumber, attempt, next, at: new Date() };
}
