// The events of a payment: as recorded, and as the receiver has them.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/platform/database.ts';
import { untilState, type Payment } from './payments.ts';
import type { ReceivedEvent } from './receiver.ts';
import { promptsRaised } from './sandbox-operator.ts';
import { eventually, PATIENCE_MS, type TestEnvironment } from './test-environment.ts';

/** The transitions of a collection that is paid in the ordinary way, as `transitionsOf` gives them. */
export const PAID_TRANSITIONS = ['initiated > prompted', 'prompted > succeeded'];

/** What the events of a collection or a payout are looked up by. */
export type EventSubject = Pick<Payment, 'id' | 'merchant'>;

export type StoredEvent = { readonly id: string; readonly type: string; readonly version: number };

/** The events of a payment as recorded, in their order. */
export async function storedEvents(db: Database, paymentId: string): Promise<StoredEvent[]> {
  const { rows } = await db.pool.query<StoredEvent>(
    'SELECT id, type, resource_version AS version FROM events WHERE payment_id = $1 ORDER BY resource_version',
    [paymentId],
  );
  return rows;
}

/** The payment's events at the receiver, each once, in the order they were created. Fails on an invalid signature. */
export function receivedOnce(testEnv: TestEnvironment, { id, merchant }: EventSubject): ReceivedEvent[] {
  const received = testEnv.receiver.all(merchant.id).filter(({ event }) => event.data.object.id === id);
  for (const { isVerified, event } of received) assert.ok(isVerified, `${event.type} has a signature that verifies`);
  const byId = new Map(received.map(({ event }) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Waits until the receiver has every event that is recorded for the payment, then returns them. */
export async function untilAllReceived(
  testEnv: TestEnvironment,
  payment: EventSubject,
  timeoutMs = PATIENCE_MS,
): Promise<ReceivedEvent[]> {
  return eventually(
    `the receiver to have every event of ${payment.id}`,
    async () => {
      const stored = await storedEvents(testEnv.db, payment.id);
      const received = receivedOnce(testEnv, payment);
      return stored.length > 0 && stored.every(({ id }) => received.some((event) => event.id === id)) && received;
    },
    timeoutMs,
  );
}

/** One line per event: `initiated > prompted`, with ` late` where the event is marked so. */
export function transitionsOf(events: readonly ReceivedEvent[]): string[] {
  return events.map(({ type, data }) => {
    assert.match(type, new RegExp(`^(collection|payout)\\.${data.object.state}$`));
    return `${data.previous_state ?? 'nothing'} > ${data.object.state}${data.late === true ? ' late' : ''}`;
  });
}

/** Waits until the collection is paid in the ordinary way, by a single prompt. */
export async function untilPaidOnce(
  testEnv: TestEnvironment,
  payment: Payment,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  await untilState(testEnv, payment, 'succeeded', timeoutMs);
  assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), PAID_TRANSITIONS);
  assert.equal(await promptsRaised(testEnv, payment.phone), 1);
}
