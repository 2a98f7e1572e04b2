// Rows written continuously beside Temporal's, which show how many of its commits each pull of the plug lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { withConnection } from '../src/engines/postgres/connection.ts';
import type { PostgresServer } from '../src/engines/postgres/server.ts';
import { TEMPORAL_DATABASE } from './engines.ts';

/** Confirmed rows that were missing when PostgreSQL ran again. */
export type Loss = {
  readonly atMs: number;
  readonly markers: number;
  /** From the first lost row to the last: all other commits to Temporal's databases in this time are lost too. */
  readonly spanMs: number;
};

type Markers = {
  /** Returns a loss for each outage of PostgreSQL, even without a lost row. */
  stop(): Promise<readonly Loss[]>;
};

const EVERY_MS = 10;
const AGAIN_MS = 50;
const CONNECT_LIMIT_MS = 5000;

/** Commits to Temporal's database, as Temporal does, until it is stopped. */
export async function startMarkers(postgres: PostgresServer): Promise<Markers> {
  const connectionString = postgres.urlFor(TEMPORAL_DATABASE);
  const losses: Loss[] = [];
  const confirmedAtMs = new Map<number, number>();
  let last = 0;
  const stopping = new AbortController();

  async function write(client: Client): Promise<void> {
    const { rows } = await client.query<{ kept: number }>('SELECT coalesce(max(number), 0) AS kept FROM chaos_markers');
    const kept = rows[0]?.kept ?? 0;
    if (confirmedAtMs.size > 0) losses.push(lossAfter(kept));
    confirmedAtMs.clear();
    for (last = Math.max(last, kept) + 1; !stopping.signal.aborted; last++) {
      await client.query('INSERT INTO chaos_markers VALUES ($1)', [last]);
      confirmedAtMs.set(last, Date.now());
      await sleep(EVERY_MS);
    }
  }

  function lossAfter(kept: number): Loss {
    const lost = [...confirmedAtMs].filter(([number]) => number > kept);
    const atMs = Math.max(...confirmedAtMs.values());
    return { atMs, markers: lost.length, spanMs: atMs - (lost[0]?.[1] ?? atMs) };
  }

  const config = { connectionString, connectionTimeoutMillis: CONNECT_LIMIT_MS };
  await withConnection(config, async (client) => {
    await client.query('CREATE TABLE chaos_markers (number integer PRIMARY KEY)');
  });
  const written = (async () => {
    while (!stopping.signal.aborted) {
      await withConnection(config, write).catch(() => undefined);
      await sleep(AGAIN_MS);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await written;
      return losses;
    },
  };
}
