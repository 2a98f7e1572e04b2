// What the walks act on: every process of a deployment by itself, its merchants and people, its database, and a Prometheus beside it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '../chaos/client.ts';
import { prepare } from '../chaos/campaign.ts';
import { openLineFile } from '../chaos/line-file.ts';
import type { Merchant } from '../chaos/merchants.ts';
import { startTopology, type ServerProcess, type Topology } from '../chaos/topology.ts';
import { startPrometheus, type Prometheus } from './prometheus.ts';
import { createStageStaff, type StageStaff } from './staff.ts';

export type Stage = {
  readonly topology: Topology;
  readonly api: ServerProcess;
  readonly worker: ServerProcess;
  readonly dispatcher: ServerProcess;
  readonly merchants: readonly Merchant[];
  /** What people and merchants do; each request is repeated until it is answered. */
  readonly client: Client;
  readonly prometheus: Prometheus;
  readonly staff: StageStaff;
  stop(keeps: boolean): Promise<void>;
};

const MERCHANTS = 2;
/**
 * A process gives up to read its figures after five seconds, and the scrape must wait for that: so the scrapes are rarer than they
 * could be, and a span holds a few of them.
 */
const SCRAPE_EVERY_SECONDS = 6;
const SPAN_SECONDS = 30;

/**
 * Those of the demonstration, but: a prompt may be raised for as long as in reality, so that work which waits for us is late before it is
 * too late; work is late soon; one merchant's share of the backlog is small; a collection is undecided for long; a webhook is
 * attempted three times.
 */
const SETTINGS = {
  MALIPO_PROMPT_DEADLINE_MS: '300000',
  MALIPO_RECONCILE_FOR_MS: '1200000',
  MALIPO_BACKLOG_MAX_AGE_MS: '10000',
  MALIPO_BACKLOG_MAX_PER_MERCHANT: '30',
  MALIPO_DELIVERY_SCHEDULE_MS: '0,10000,150000',
};

/** Null where Prometheus cannot be had. Rejects when something does not start, and nothing runs any more. */
export async function startStage(report: (line: string) => void): Promise<Stage | null> {
  const topology = await startTopology({
    kind: 'embedded',
    servers: 1,
    roles: ['api', 'worker', 'dispatcher'],
    merchants: MERCHANTS,
    settings: SETTINGS,
    hasDisk: false,
    report,
  });
  const client = createClient(topology.servers, openLineFile(topology.evidence.journalFile));
  let prometheus: Prometheus | null = null;
  const stop = async (keeps: boolean): Promise<void> => {
    await client.close();
    await prometheus?.stop();
    await topology.stop();
    if (keeps) report(`the logs are kept in ${topology.folder}`);
    else rmSync(topology.folder, { recursive: true, force: true });
  };
  try {
    prometheus = await startPrometheus({
      folder: join(topology.folder, 'prometheus'),
      ports: topology.serverProcesses.map(({ metricsPort }) => metricsPort),
      scrapeEverySeconds: SCRAPE_EVERY_SECONDS,
      spanSeconds: SPAN_SECONDS,
    });
    const [api, worker, dispatcher] = topology.serverProcesses;
    if (prometheus === null || !api || !worker || !dispatcher) {
      await stop(false);
      return null;
    }
    await prepare(topology, client, 0);
    const { merchants } = topology;
    const staff = createStageStaff(topology.environment);
    return { topology, api, worker, dispatcher, merchants, client, prometheus, staff, stop };
  } catch (error) {
    await stop(true);
    throw error;
  }
}

const LOOK_EVERY_MS = 500;

/** Polls until `look` gives a value; rejects with what was waited for. */
export async function until<Value>(
  what: string,
  limitMs: number,
  look: () => Promise<Value | null | false>,
): Promise<Value> {
  const giveUpAtMs = Date.now() + limitMs;
  for (;;) {
    const value = await look();
    if (value !== null && value !== false) return value;
    if (Date.now() > giveUpAtMs) throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
