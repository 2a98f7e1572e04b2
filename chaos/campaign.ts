// One campaign: payments under faults, a quiet end, and the checker's judgement.
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEMO_CLOCKS } from '../src/domain/clocks.ts';
import { check, type Judgement } from './checker/check.ts';
import type { Evidence } from './checker/evidence.ts';
import { CATCH_UP_MS } from './checker/send-rules.ts';
import type { Violation } from './checker/violation.ts';
import { createClient, type Client } from './client.ts';
import { runFaults } from './faults.ts';
import { openLineFile } from './line-file.ts';
import { fundMerchants, runLoad } from './load.ts';
import type { Options } from './options.ts';
import { planPayments } from './plan.ts';
import { randomOf } from './random.ts';
import { type Outcome } from './report.ts';
import { startMarkers } from './markers.ts';
import { describeFault, scheduleFaults, schedulePulls, type PlannedFault } from './schedule.ts';
import { ALL_ROLES, startTopology, type Topology } from './topology.ts';
import { CURRENCIES } from './wires.ts';

const MINUTE_MS = 60_000;
/**
 * How long payments continue after the last fault. The last of them are sent in a time that no fault affects, so
 * nothing excuses a service that does not send them.
 */
const CALM_MS = CATCH_UP_MS + DEMO_CLOCKS.promptDeadlineMs;
const CHECK_EVERY_MS = 3000;
/** For a machine several times slower than one on which everything is in time. */
const SLOW_MACHINE = 3;
/** The addition of each payment to the limit: a slow machine works off a backlog slowly. */
const DRAIN_MS_PER_PAYMENT = 200;
const FEW = 3;
/**
 * Between two pulls there is little time to send, and given-up payments have nothing left to lose. Shorter than
 * `CATCH_UP_MS`: a slow machine gives up its remaining work by then, which would delay sends without a fault.
 */
const PATIENT = { MALIPO_PROMPT_DEADLINE_MS: '20000', MALIPO_PAYOUT_SEND_DEADLINE_MS: '20000' };

type Report = (line: string) => void;

/** Rejects with the reason of `interrupted` if that rejects, after everything started is stopped. */
export async function runCampaign(options: Options, report: Report, interrupted: Promise<never>): Promise<Outcome> {
  const topology = await startTopology({
    kind: options.topology,
    servers: options.servers,
    roles: options.areRolesSplit ? ['api', 'worker,dispatcher'] : [ALL_ROLES],
    merchants: CURRENCIES.length,
    hasDisk: options.faults && options.pulls === 0,
    settings: options.pulls > 0 ? PATIENT : {},
    report,
  });
  report(`everything runs; evidence and logs are in ${topology.folder}`);
  const client = createClient(topology.servers, openLineFile(topology.evidence.journalFile));
  let outcome: Outcome | undefined;
  try {
    outcome = await Promise.race([runOn(topology, client, options, report), interrupted]);
    return outcome;
  } finally {
    await client.close();
    const isKept = options.keep || outcome?.judgement.violations.length !== 0;
    await topology.stop(isKept);
    if (!isKept) rmSync(topology.folder, { recursive: true, force: true });
    else report(`the logs and the evidence are kept in ${topology.folder}`);
  }
}

async function runOn(topology: Topology, client: Client, options: Options, report: Report): Promise<Outcome> {
  const { payments, seed, minutes, except } = options;
  const durationMs = minutes * MINUTE_MS;
  const loadOverMs = durationMs + (options.faults ? CALM_MS : 0);
  const plan = planPayments(
    { payments, merchants: CURRENCIES.length, durationMs: loadOverMs, except },
    randomOf(seed, 'payments'),
  );
  const hasDisk = topology.disk !== null;
  const schedule = scheduleOf(options, topology);
  if (options.faults && options.pulls === 0 && !hasDisk)
    report('no disk can be mounted here: it is never full in this campaign');
  for (const fault of schedule) report(`planned: ${describeFault(fault)}`);
  await prepare(topology, client, payments);
  report(`the merchants have money; ${payments} payments and ${schedule.length} faults follow`);
  const startMs = Date.now();
  const markers = options.pulls > 0 ? await startMarkers(topology.temporalPostgres.server) : null;
  const [, faults] = await Promise.all([
    runLoad(plan, { client, merchants: topology.merchants, startMs }),
    runFaults(schedule, { topology, seed, startMs, report }),
  ]);
  const losses = (await markers?.stop()) ?? [];
  const loadMs = Date.now() - startMs;
  report('the load and the faults are over; waiting for the end of everything');
  const quietFromMs = Date.now();
  const judgement = await untilClean(topology.evidence, quietFromMs + endLimitMs(payments), report);
  const endMs = judgement.violations.length === 0 ? Date.now() - quietFromMs : null;
  return { options, judgement, faults, losses, loadMs, endMs };
}

function scheduleOf({ faults, pulls, plug, seed, minutes, faultGap }: Options, topology: Topology): PlannedFault[] {
  const durationMs = minutes * MINUTE_MS;
  const random = randomOf(seed, 'faults');
  if (!faults) return [];
  if (pulls > 0) return schedulePulls({ pulls, plug, durationMs }, random);
  const servers = topology.serverProcesses.length;
  return scheduleFaults(
    { durationMs, servers, hasDisk: topology.disk !== null, longestGapMs: faultGap * 1000 },
    random,
  );
}

export async function prepare(topology: Topology, client: Client, payments: number): Promise<void> {
  for (const merchant of topology.merchants) {
    for (const person of [merchant.maker, ...merchant.approvers]) await client.logIn(merchant, person);
  }
  await fundMerchants(client, topology.merchants, payments);
}

/**
 * How long the service may take to bring everything to its end, by its own clocks: a payment without an outcome goes
 * through all of these waits at most.
 */
export function endLimitMs(payments: number): number {
  const clocks = DEMO_CLOCKS;
  const waits = [
    clocks.promptDeadlineMs,
    clocks.promptWindowMs,
    clocks.notFoundGraceMs,
    clocks.reconcileForMs,
    2 * clocks.staleAfterMs,
    2 * clocks.sweepEveryMs,
    Math.max(...clocks.lateCheckAgesMs, ...clocks.returnCheckAgesMs),
    ...clocks.deliveryScheduleMs,
  ];
  return SLOW_MACHINE * waits.reduce((sum, wait) => sum + wait, 0) + payments * DRAIN_MS_PER_PAYMENT;
}

/** The first confirmed judgement without a violation, or the last one before the limit. */
export async function untilClean(
  evidence: Evidence,
  limitAtMs: number,
  report: Report,
  isExpected: (violation: Violation) => boolean = () => false,
): Promise<Judgement> {
  let wasClean = false;
  let reported = '';
  for (;;) {
    const startedAtMs = Date.now();
    const all = await check(evidence);
    const violations = all.violations.filter((violation) => !isExpected(violation));
    const judgement = { ...all, violations };
    const isClean = violations.length === 0;
    if ((isClean && wasClean) || Date.now() > limitAtMs) return judgement;
    wasClean = isClean;
    const summary = isClean ? 'everything is at its end' : `not at the end: ${summaryOf(violations)}`;
    if (summary !== reported) report(summary);
    reported = summary;
    // The judgement of large evidence takes long, and the service needs the machine too.
    await sleep(Math.max(CHECK_EVERY_MS, Date.now() - startedAtMs));
  }
}

/** The violations themselves if they are few, otherwise their number for each rule. */
function summaryOf(violations: readonly Violation[]): string {
  if (violations.length <= FEW) return violations.map(({ rule, id, text }) => `${rule} ${id} (${text})`).join('; ');
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, count]) => `${count} ${rule}`).join(', ');
}
