// Writes events in its own process: as the worker does, by the operation that records a transition of a collection, or with one
// plain INSERT. Notes when each was committed.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { loadConfig } from '../src/settings/config.ts';
import { openDatabase } from '../src/db/platform/database.ts';
import { notify } from '../src/db/platform/listener.ts';
import type { CollectionId, MerchantId } from '../src/domain/ids.ts';
import { recordTransition } from '../src/operations/payments/record-transition.ts';
import { createDispatcherWake } from '../src/server/dispatcher-wake.ts';
import { DELIVERIES_CHANNEL } from '../src/server/open-databases.ts';
import { insertMessage } from './bare-messages.ts';
import { callAll, type Load } from './callers.ts';
import { nowMs } from './now.ts';

export type WriterCommand = { readonly load: Load } & (
  | { readonly merchantId: MerchantId; readonly collectionIds: readonly CollectionId[] }
  | { readonly url: string; readonly body: string }
);
/** The id of each event, and when its transaction was committed. */
export type Written = readonly (readonly [string, number])[];

const { settings, clocks } = loadConfig(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>);
const committed: [string, number][] = [];
const limits = { poolSize: settings.MALIPO_DATABASE_POOL_SIZE, statementTimeoutMs: 30_000, connectTimeoutMs: 30_000 };
const db = openDatabase({
  ...limits,
  url: settings.MALIPO_DATABASE_URL.reveal(),
  onIdleError: () => undefined,
  onStateChange: ({ eventId }) => {
    if (eventId) committed.push([eventId, nowMs()]);
  },
  onDeliveriesOwed: () => {
    dispatcherWake.wake();
  },
});
const dispatcherWake = createDispatcherWake({ notify: () => notify(db, DELIVERIES_CHANNEL), log: pino() });
const context = { db, environment: settings.MALIPO_ENVIRONMENT, clocks } as Parameters<typeof recordTransition>[0];

async function write(command: WriterCommand): Promise<void> {
  await callAll(command.load, async (index) => {
    if ('url' in command) {
      const id = randomUUID();
      await insertMessage(db.pool, { id, ...command });
      committed.push([id, nowMs()]);
      return;
    }
    const id = command.collectionIds[index];
    if (id === undefined) throw new Error('too few collections');
    const ref = { kind: 'collection', id, merchantId: command.merchantId } as const;
    const transition = { kind: 'prompt_accepted' } as const;
    await recordTransition(context, { ref, transition, basis: null, at: new Date() });
  });
  process.send?.(committed.splice(0) satisfies Written);
}

process.on('message', (command: WriterCommand) => void write(command));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
