// Webhook deliveries of a merchant as recorded in the database, and further endpoints.
import { APPLICATION } from '../../src/db/platform/access.ts';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { Database } from '../../src/db/platform/database.ts';
import type { DeliveryState } from '../../src/domain/webhooks/delivery.ts';
import type { DeliveryId, EndpointId, MerchantId } from '../../src/domain/ids.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { temporalClient } from './engines.ts';
import { eventually, type TestEnvironment, type TestMerchant } from './test-environment.ts';
import { oneRow } from '../db/rows.ts';
import type { BacklogTarget } from '../../bench/backlog.ts';

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

/** The deliveries of a merchant, oldest first. */
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
  testEnv: TestEnvironment,
  merchant: TestMerchant,
  state: StoredDelivery['state'],
  timeoutMs?: number,
): Promise<StoredDelivery> {
  const look = async () => {
    const [delivery] = await deliveriesOf(testEnv.db, merchant);
    return delivery?.state === state && delivery;
  };
  return eventually(`the delivery to be ${state}`, look, timeoutMs);
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

/** The wait that was decided after a failed attempt. */
export type DecidedWait = { readonly attemptNumber: number; readonly waitMs: number; readonly until: Date };

const WATCH_WAITS = `
  CREATE TABLE decided_waits (delivery_id text, attempt_number int, decided_at timestamptz, until timestamptz);
  CREATE FUNCTION note_wait() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO decided_waits VALUES (NEW.id, NEW.attempt_count, NEW.updated_at, NEW.next_attempt_at);
    RETURN NULL;
  END $$;
  CREATE TRIGGER note_wait AFTER UPDATE ON deliveries FOR EACH ROW
    WHEN (NEW.state = 'retrying' AND NEW.attempt_count > OLD.attempt_count) EXECUTE FUNCTION note_wait();
  GRANT INSERT ON decided_waits TO ${APPLICATION}`;

/** Records every wait that is decided from now on in the test's own database, because a row shows only the last. */
export async function watchWaits(db: Database): Promise<void> {
  await db.pool.query(WATCH_WAITS);
}

/** The waits of one delivery, in order; `watchWaits` must have been called before. */
export async function decidedWaits(db: Database, deliveryId: DeliveryId): Promise<DecidedWait[]> {
  const { rows } = await db.pool.query<DecidedWait>(
    `SELECT attempt_number AS "attemptNumber", until,
       (extract(epoch FROM until - decided_at) * 1000)::float AS "waitMs"
     FROM decided_waits WHERE delivery_id = $1 ORDER BY attempt_number`,
    [deliveryId],
  );
  return rows;
}

/** Sends the merchant's events to `url` as well as to the receiver. */
export async function addEndpoint(testEnv: TestEnvironment, { id }: TestMerchant, url: string): Promise<EndpointId> {
  const endpoint = await registerEndpoint(testEnv.db, {
    merchantId: id,
    url,
    description: null,
    eventTypes: null,
    keyRing: testEnv.config.settings.MALIPO_SECRET_KEYS,
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

/** The merchant's endpoint, as the one that a backlog of deliveries is for. */
export async function backlogTarget({ db }: TestEnvironment, merchantId: MerchantId): Promise<BacklogTarget> {
  const sql = 'SELECT id FROM endpoints WHERE merchant_id = $1';
  return { merchantId, endpointId: (await oneRow<{ id: EndpointId }>(db, sql, [merchantId])).id };
}
