// Entry of `npm run alerts`: walks every alert, or those that are named.
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { untilClean } from '../chaos/campaign.ts';
import type { FaultLine } from '../chaos/checker/evidence.ts';
import { openLineFile } from '../chaos/line-file.ts';
import { startStage, type Stage } from './stage.ts';
import { walk, type Walk, type Walked } from './walk.ts';
import { WALKS } from './walks.ts';

const USAGE = `usage: npm run alerts [-- ALERT …]

Makes a fault for each alert, or for those that are named: it fires, and clears.`;

/** Until everything is at its end and the checker of campaigns finds nothing wrong with the money. */
const END_LIMIT_MS = 15 * 60_000;

const startedAtMs = Date.now();
const report = (line: string): void => {
  const seconds = ((Date.now() - startedAtMs) / 1000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${line}\n`);
};

const { positionals: named } = readArguments({ usage: USAGE, positionals: [0, Infinity] });
const unknown = named.filter((alert) => !WALKS.some(({ alerts }) => alerts.includes(alert)));
if (unknown.length > 0) endWithUsage(`no walk is of ${unknown.join(', ')}`, USAGE);
const wanted = WALKS.filter(({ alerts }) => named.length === 0 || alerts.some((alert) => named.includes(alert)));

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      reject(new Error(`ended by ${signal}`));
    });
  }
});
interrupted.catch(() => undefined);

const stage = await startStage(report);
if (stage === null) {
  process.stderr.write('NOT RUN: Prometheus is not to be had\n');
  process.exit(1);
}
report(`everything runs; the logs are in ${stage.topology.folder}, Prometheus is ${stage.prometheus.url}`);
const failures: string[] = [];
const faults = openLineFile(stage.topology.evidence.faultFile);
const note = (line: FaultLine): void => {
  faults.append(line);
};
try {
  for (const each of wanted) failures.push(...(await Promise.race([walkOne(each, stage), interrupted])));
  report('the walks are over; waiting for the end of everything');
  const { violations } = await Promise.race([
    // A walk makes one, and has it settled.
    untilClean(stage.topology.evidence, Date.now() + END_LIMIT_MS, report, ({ rule }) => rule === 'discrepancy'),
    interrupted,
  ]);
  failures.push(...violations.map(({ rule, id, text }) => `${rule} ${id}: ${text}`));
} catch (error) {
  failures.push(String(error));
} finally {
  await stage.stop(failures.length > 0);
}
process.stdout.write(failures.length === 0 ? 'every alert fired and cleared\n' : `${failures.join('\n')}\n`);
process.exit(failures.length === 0 ? 0 : 1);

/** What was not as it should be. */
async function walkOne(each: Walk, on: Stage): Promise<string[]> {
  report(`fault: ${each.fault}`);
  const number = WALKS.indexOf(each) + 1;
  // Whichever part it is: what was not sent meanwhile has its reason.
  note({ type: 'begun', fault: number, kind: each.alerts.join(' '), hits: 'server', atMs: Date.now() });
  try {
    const walked = await walk(each, on);
    report(`mended: ${each.remedy}`);
    for (const one of walked) report(lineOf(one));
    return walked.flatMap(({ alert, firedAfterMs, clearedAfterMs }) => [
      ...(firedAfterMs === null ? [`${alert} did not fire`] : []),
      ...(clearedAfterMs === null ? [`${alert} did not clear`] : []),
    ]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    report(`FAILED: ${text}`);
    return each.alerts.map((alert) => `${alert}: ${text}`);
  } finally {
    note({ type: 'healed', fault: number, atMs: Date.now() });
  }
}

function lineOf({ alert, firedAfterMs, clearedAfterMs }: Walked): string {
  const after = (ms: number | null, verb: string, never: string) =>
    ms === null ? never : `${verb} after ${(ms / 1000).toFixed(0).padStart(3)} s`;
  return `  ${alert.padEnd(32)} ${after(firedAfterMs, 'fired', 'NEVER FIRED')}, ${after(clearedAfterMs, 'cleared', 'NEVER CLEARED')}`;
}
