// Webhook deliveries of a merchant as they are recorded, and endpoints that are not the receiver's own.
import { deliveryWorkflowId } from '../../workflows/contract.ts';
import type { Database } from '../../src/db/database.ts';
import type { DeliveryState } from '../../src/domain/delivery.ts';
import type { DeliveryId, EndpointId } from '../../src/domain/ids.ts';
import { registerEndpoint } from '../../src/operations/register-endpoint.ts';
import { temporalClient } from './engines.ts';
import { eventually, type House, type TestMerchant } from './house.ts';

export type StoredDelivery = {
  readonly id: DeliveryId;
  readonly endpointId: EndpointId;
  readonly eventType: string;
  readonly state: DeliveryState;
  readonly attemptCount: number;
};

export type StoredAttempt = {
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: Buffer | null;
};

/** Oldest first. */
export async function deliveriesOf(db: Database, { id }: TestMerchant): Promise<StoredDelivery[]> {
  const { rows } = await db.pool.query<StoredDelivery>(
    `SELECT d.id, d.endpoint_id AS "endpointId", e.type AS "eventType", d.state, d.attempt_count AS "attemptCount"
     FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.merchant_id = $1 ORDER BY e.id, d.id`,
    [id],
  );
  return rows;
}

/** Waits until the merchant's only delivery is in `state`. */
export async function untilDelivery(
  house: House,
  merchant: TestMerchant,
  state: StoredDelivery['state'],
): Promise<StoredDelivery> {
  return eventually(`the delivery to be ${state}`, async () => {
    const [delivery] = await deliveriesOf(house.db, merchant);
    return delivery?.state === state && delivery;
  });
}

export async function attemptsOf(db: Database, deliveryId: DeliveryId): Promise<StoredAttempt[]> {
  const { rows } = await db.pool.query<StoredAttempt>(
    `SELECT attempt_number AS number, started_at AS "startedAt", duration_ms AS "durationMs", status_code AS status,
       error, response_headers AS headers, response_body AS body
     FROM delivery_attempts WHERE delivery_id = $1 ORDER BY attempt_number`,
    [deliveryId],
  );
  return rows;
}

/** A merchant whose events go to `url` as well as to the receiver. */
export async function addEndpoint(house: House, { id }: TestMerchant, url: string): Promise<EndpointId> {
  const endpoint = await registerEndpoint(house.db, {
    merchantId: id,
    url,
    description: null,
    eventTypes: null,
    keyRing: house.config.settings.MALIPO_SECRET_KEYS,
    at: new Date(),
  });
  return endpoint.id;
}

/** Whether Temporal knows a workflow for this delivery. */
export async function hasWorkflow(deliveryId: DeliveryId): Promise<boolean> {
  const handle = (await temporalClient()).workflow.getHandle(deliveryWorkflowId(deliveryId));
  return handle.describe().then(
    () => true,
    () => false,
  );
}
