// A small run without faults, whose evidence the checker must find clean, and falsified copies of it.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withConnection } from '../src/engines/postgres/connection.ts';
import type { Breakage } from './break-evidence.ts';
import { breakService, type BrokenService } from './broken-services.ts';
import { endLimitMs, prepare, untilClean } from './campaign.ts';
import { check, type Judgement } from './checker/check.ts';
import type { Evidence } from './checker/evidence.ts';
import { createClient } from './client.ts';
import { openLineFile } from './line-file.ts';
import { runLoad } from './load.ts';
import type { PlannedPayment } from './plan.ts';
import { AIRTEL, CURRENCIES, MPESA, MTN, phoneOf, type Wire } from './wires.ts';
import { ALL_ROLES, startTopology, type Topology } from './topology.ts';

export type SmallRun = {
  readonly judgement: Judgement;
  /** The judgement of a copy with this breakage, and the id that a violation must name. */
  judgeBroken(breakage: Breakage): Promise<{ readonly judgement: Judgement; readonly id: string }>;
  stop(): Promise<void>;
};

const SMALL = {
  kind: 'embedded',
  servers: 1,
  roles: [ALL_ROLES],
  merchants: CURRENCIES.length,
  hasDisk: false,
} as const;

const ORDINARY = { merchant: 0, amount: 1500, repetition: 'once', decision: 'release', isReversed: false } as const;

type Planned = Pick<PlannedPayment, 'kind' | 'row'> & Partial<PlannedPayment> & { readonly wire?: Wire };

/** The merchant in Kenya. */
const BY_MPESA = { wire: MPESA, merchant: 3, amount: 2500 } as const;

/** At least one of every kind of ending and of every decision, and the wires on which an answer is lost in other ways. */
const PAYMENTS: readonly Planned[] = [
  { kind: 'collection', row: '000' },
  { kind: 'collection', row: '000', repetition: 'repeated' },
  { kind: 'collection', row: '000', repetition: 'concurrent', merchant: 1 },
  { kind: 'collection', row: '004', repetition: 'conflicting', merchant: 1 },
  { kind: 'collection', row: '001' },
  { kind: 'collection', row: '003', merchant: 2 },
  { kind: 'collection', row: '008', isReversed: true },
  { kind: 'collection', row: '013' },
  { kind: 'collection', row: '014', isReversed: true, merchant: 1 },
  { kind: 'collection', row: '015' },
  { kind: 'collection', row: '009', merchant: 2 },
  { kind: 'payout', row: '000' },
  { kind: 'payout', row: '000', amount: 4500 },
  { kind: 'payout', row: '001', decision: 'release_twice' },
  { kind: 'payout', row: '010', merchant: 1 },
  { kind: 'payout', row: '014', decision: 'release_in_batch', merchant: 2 },
  { kind: 'payout', row: '015', decision: 'release_in_batch', merchant: 2 },
  { kind: 'payout', row: '000', decision: 'reject', merchant: 1 },
  { kind: 'payout', row: '000', decision: 'cancel', merchant: 1 },
  { kind: 'payout', row: '000', decision: 'race', merchant: 2 },
  { kind: 'payout', row: '000', decision: 'leave' },
  { kind: 'collection', row: '000', wire: AIRTEL },
  { kind: 'collection', row: '007', wire: AIRTEL },
  { kind: 'collection', row: '014', wire: AIRTEL, isReversed: true },
  { kind: 'payout', row: '018', wire: AIRTEL },
  { kind: 'payout', row: '006', wire: AIRTEL, merchant: 1 },
  { kind: 'collection', row: '000', ...BY_MPESA, repetition: 'conflicting' },
  { kind: 'collection', row: '001', ...BY_MPESA },
  { kind: 'collection', row: '015', ...BY_MPESA },
  { kind: 'collection', row: '000', ...BY_MPESA, isReversed: true },
  { kind: 'collection', row: '018', ...BY_MPESA },
  { kind: 'payout', row: '000', ...BY_MPESA },
  { kind: 'payout', row: '001', ...BY_MPESA },
  { kind: 'payout', row: '011', ...BY_MPESA },
  { kind: 'payout', row: '018', ...BY_MPESA },
];

const PLAN: readonly PlannedPayment[] = PAYMENTS.map(({ wire = MTN, ...payment }, index) => ({
  ...ORDINARY,
  ...payment,
  index,
  phone: phoneOf(index, payment.row, wire),
  amountStep: wire.amountStep,
  atMs: 0,
  thoughtMs: 0,
}));

async function startSmall(report: (line: string) => void) {
  const topology = await startTopology({ ...SMALL, report });
  const client = createClient(topology.servers, openLineFile(topology.evidence.journalFile));
  const stop = async (): Promise<void> => {
    await client.close();
    await topology.stop();
    rmSync(topology.folder, { recursive: true, force: true });
  };
  return { topology, client, stop };
}

/** Resolves when everything is at its end and the servers are stopped, so that they do not react to a breakage. */
export async function runSmall(report: (line: string) => void): Promise<SmallRun> {
  const { topology, client, stop } = await startSmall(report);
  try {
    await prepare(topology, client, PLAN.length);
    await runLoad(PLAN, { client, merchants: topology.merchants, startMs: Date.now() });
    await untilClean(topology.evidence, Date.now() + endLimitMs(PLAN.length), report);
    await topology.stopServers();
    const whole = copyFiles(topology.evidence, join(topology.folder, 'whole'));
    let copies = 0;
    return {
      judgement: await check(whole),
      judgeBroken: (breakage) => judgeBroken(topology, whole, breakage, ++copies),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const BROKEN_LIMIT_MS = 90_000;
const LOOK_EVERY_MS = 1000;

/** Runs the same payments with a broken service, until the checker names the broken rule or the time is over. */
export async function runBroken(service: BrokenService, report: (line: string) => void): Promise<Judgement> {
  const { topology, client, stop } = await startSmall(report);
  try {
    await prepare(topology, client, PLAN.length);
    const folder = join(topology.folder, 'broken');
    breakService(service, folder);
    await topology.replaceServers(folder);
    // Nobody waits for a paid collection: with some of these services none is ever paid.
    const plan = PLAN.map((payment) => ({ ...payment, isReversed: false }));
    await runLoad(plan, { client, merchants: topology.merchants, startMs: Date.now() });
    const giveUpAtMs = Date.now() + BROKEN_LIMIT_MS;
    for (;;) {
      const judgement = await check(topology.evidence);
      const isNamed = judgement.violations.some(({ rule }) => rule === service.rule);
      if (isNamed || Date.now() > giveUpAtMs) return judgement;
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await stop();
  }
}

async function judgeBroken(topology: Topology, whole: Evidence, breakage: Breakage, number: number) {
  const name = `broken_${number}`;
  const files = copyFiles(whole, join(topology.folder, name));
  await withConnection({ connectionString: topology.adminUrl }, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE malipo`),
  );
  const url = new URL(whole.databaseUrl);
  url.pathname = `/${name}`;
  const evidence: Evidence = { ...files, databaseUrl: url.href };
  const id = await withConnection({ connectionString: url.href }, async (db) => {
    // Changes rows as only a superuser can, past all constraints and triggers.
    await db.query('SET session_replication_role = replica');
    return breakage.apply({ evidence, db, topology });
  });
  return { judgement: await check(evidence), id };
}

const FILES = ['journalFile', 'receiverFile', 'operatorFile', 'processFile', 'faultFile'] as const;

function copyFiles(evidence: Evidence, folder: string): Evidence {
  mkdirSync(folder);
  const copies = FILES.map((name) => {
    const copy = join(folder, basename(evidence[name]));
    cpSync(evidence[name], copy);
    return [name, copy] as const;
  });
  return { ...evidence, ...Object.fromEntries(copies) };
}
