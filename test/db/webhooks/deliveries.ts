// Claims and records deliveries as a dispatcher does, with bounds that are in nobody's way.
import type { Database } from '../../../src/db/database.ts';
import { claimDeliveries, type ClaimDeliveries, type DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import {
  recordDeliveryAttempts,
  type DeliveryAttempt,
  type EndpointEnd,
  type RecordDeliveryAttempts,
} from '../../../src/operations/webhooks/record-delivery-attempts.ts';

export function claim(db: Database, limit: number, bounds: Partial<ClaimDeliveries> = {}): Promise<DueDelivery[]> {
  const nobody = { byEndpoint: new Map(), byMerchant: new Map() };
  return claimDeliveries(db, {
    limit,
    leaseMs: 60_000,
    perEndpoint: 1000,
    perMerchant: 1000,
    underWay: nobody,
    ...bounds,
  });
}

export function record(
  db: Database,
  attempts: readonly DeliveryAttempt[],
  options: Partial<RecordDeliveryAttempts> = {},
): Promise<EndpointEnd[]> {
  return recordDeliveryAttempts(db, { attempts, failingLimitMs: 86_400_000, at: new Date(), ...options });
}
