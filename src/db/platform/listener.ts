// PostgreSQL's notifications: sends them, and listens for them on a connection of its own, reconnecting until it is closed.
import { Client } from 'pg';
import type { Log } from '../../log.ts';
import { statement, type Queryable } from './database.ts';
import { connectionTo } from './session-settings.ts';

const NOTIFY = statement('notify')`SELECT pg_notify($1, '')`;

/** Without a payload: the rows say what is due. Never in a transaction that writes: its commit would wait. */
export async function notify(db: Queryable, channel: string): Promise<void> {
  await db.run(NOTIFY, [channel]);
}

export type Listener = { close(): Promise<void> };

const RECONNECT_EVERY_MS = 1000;
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Calls `onNotified` at each notification and after each connect or reconnect, because notifications in between are
 * lost. A lost connection is no error for the caller, who also polls.
 */
export function listen(options: { url: string; channel: string; onNotified: () => void; log: Log }): Listener {
  let client: Client | null = null;
  let isClosed = false;
  let retry: NodeJS.Timeout | null = null;

  async function connect(): Promise<void> {
    const fresh = new Client({
      ...connectionTo(options.url),
      application_name: 'malipo-listener',
      keepAlive: true,
      // A server that accepts the connection and stays silent would also delay the stop.
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    let isLost = false;
    const lose = (error?: Error) => {
      if (isLost || isClosed) return;
      isLost = true;
      options.log.warn({ error, channel: options.channel }, 'the listening connection was lost');
      fresh.end().catch(() => undefined);
      retry = setTimeout(() => void connect(), RECONNECT_EVERY_MS);
    };
    fresh.on('error', lose);
    fresh.on('end', lose);
    fresh.on('notification', options.onNotified);
    client = fresh;
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${fresh.escapeIdentifier(options.channel)}`);
      options.onNotified();
    } catch (error) {
      lose(error instanceof Error ? error : undefined);
    }
  }

  const connecting = connect();
  return {
    async close() {
      isClosed = true;
      if (retry) clearTimeout(retry);
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
}
