// What many open payments, whose payers never answer, do to the others: how long these take, against the same with none open; the CPU
// of a status query that decides nothing; the memory; and how long a killed service takes to make up for the queries that it missed.
import { setTimeout as sleep } from 'node:timers/promises';
import { measureOverdueQueries } from '../src/db/work/status-queries.ts';
import type { CollectionId } from '../src/domain/ids.ts';
import { OPERATOR_IDS } from '../src/domain/payments/operator-catalogue.ts';
import { callAll, untilAccepted } from './callers.ts';
import { percentile, printTable } from './table.ts';
import {
  printCpu,
  startWaitingEnvironment,
  sumOfService,
  type Cost,
  type WaitingEnvironment,
} from './waiting-environment.ts';

const OPEN = Number(process.env['BENCH_OPEN'] ?? 10_000);
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 8);
const SECONDS = 60 * Number(process.env['BENCH_MINUTES'] ?? 3);
/** Of the window without any other payment. */
const WATCHED_SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const CALLERS = 20;
const WARM_UP = 50;
const POLL_MS = 1000;
/** After the last request: what has not ended by then counts as lost. */
const LAST_END_MS = 10 * 60_000;

/** Rows of the sandbox by the end of the phone: undecided for ever; paid after the payer's time. */
const NEVER_ANSWERS = '256772000010';
const PAYS = '256772000100';
const PAYER_MS = 2000;

export async function benchOpen(): Promise<void> {
  const waiting = await startWaitingEnvironment({
    sandboxDecisionMs: PAYER_MS,
    environment: { MALIPO_SANDBOX_TRANSACTIONS: String(2 * OPEN + 10_000) },
  });
  const request = (phone: string) => untilAccepted(() => waiting.request(phone));
  await callAll({ count: WARM_UP, callers: CALLERS }, async () => waiting.ended(await request(PAYS)));
  const atRest = await waiting.costAtRest();
  process.stdout.write(`none open: ${waiting.memory()}\n`);
  const alone = await payNormally(waiting);
  await open(waiting);
  const watched = await waiting.costOf(() => sleep(WATCHED_SECONDS * 1000));
  process.stdout.write(`after ${WATCHED_SECONDS} s: ${await statesOf(waiting)}; ${waiting.memory()}\n`);
  const beside = await payNormally(waiting);
  process.stdout.write(`with the others beside: ${await statesOf(waiting)}; ${waiting.memory()}\n`);
  reportQueries(watched, atRest);
  reportPayments(alone, beside);
  await killAndRestart(waiting);
  await waiting.stop();
}

async function open(waiting: WaitingEnvironment): Promise<void> {
  const startedMs = performance.now();
  await callAll({ count: OPEN, callers: CALLERS }, async () => {
    await untilAccepted(() => waiting.request(NEVER_ANSWERS));
  });
  while ((await countIn(waiting, ['initiated'])) > 0) await sleep(POLL_MS);
  const seconds = (performance.now() - startedMs) / 1000;
  process.stdout.write(`${OPEN} opened in ${seconds.toFixed(0)} s: ${await statesOf(waiting)}; ${waiting.memory()}\n`);
}

async function statesOf(waiting: WaitingEnvironment): Promise<string> {
  const [prompted, reconciling] = [await countIn(waiting, ['prompted']), await countIn(waiting, ['reconciling'])];
  return `${prompted} prompted, ${reconciling} reconciling`;
}

async function countIn({ bench }: WaitingEnvironment, states: readonly string[]): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM payments WHERE state = ANY($1)';
  return (await bench.db.pool.query<{ count: number }>(sql, [states])).rows[0]?.count ?? 0;
}

type Normal = {
  /** From the request to the webhook; infinite for one that did not end in time. */
  readonly wholeMs: readonly number[];
  readonly callbackMs: readonly number[];
  readonly refused: number;
  readonly cost: Cost;
};

/** Payments whose payers answer, at a fixed rate. */
async function payNormally(waiting: WaitingEnvironment): Promise<Normal> {
  const requestedAtMs = new Map<CollectionId, number>();
  const count = Math.round(PER_SECOND * SECONDS);
  const pay = async () => {
    const atMs = Date.now();
    const id = await waiting.request(PAYS);
    if (id === undefined) return;
    requestedAtMs.set(id, atMs);
    await waiting.ended(id);
  };
  const limit = sleep(SECONDS * 1000 + LAST_END_MS, undefined, { ref: false });
  const cost = await waiting.costOf(() => Promise.race([callAll({ count, perSecond: PER_SECOND }, pay), limit]));
  const { endedAtMs } = waiting;
  return {
    wholeMs: [...requestedAtMs].map(([id, atMs]) => (endedAtMs.get(id) ?? Number.POSITIVE_INFINITY) - atMs),
    callbackMs: await waiting.callbackToWebhookMs([...requestedAtMs.keys()]),
    refused: count - requestedAtMs.size,
    cost,
  };
}

function reportQueries(cost: Cost, atRest: Cost): void {
  const { queries, seconds } = cost;
  process.stdout.write(`\n${(queries / seconds).toFixed(1)} status queries a second that decide nothing\n`);
  printCpu(cost, { atRest, of: 'query', count: queries, digits: 2 });
}

function reportPayments(alone: Normal, beside: Normal): void {
  const line = (name: string, { wholeMs, callbackMs, refused, cost }: Normal) => [
    name,
    ...[wholeMs, callbackMs].flatMap((times) => [0.5, 0.99].map((share) => percentile(times, share).toFixed(0))),
    String(refused),
    (cost.queries / cost.seconds).toFixed(1),
    (sumOfService(cost.cpuMs) / cost.seconds / 1000).toFixed(2),
  ];
  const ratios = (pick: (normal: Normal) => readonly number[]) =>
    [0.5, 0.99].map((share) => (percentile(pick(beside), share) / percentile(pick(alone), share)).toFixed(2));
  const whole = `request to webhook (${PAYER_MS} ms are the payer's)`;
  process.stdout.write(`\n${PER_SECOND} payments a second\n`);
  printTable([
    ['', `${whole}: p50`, 'p99', 'callback to webhook: p50', 'p99', 'refused', 'queries/s', 'cores'],
    line('none open', alone),
    line(`${OPEN} open`, beside),
    ['ratio', ...ratios(({ wholeMs }) => wholeMs), ...ratios(({ callbackMs }) => callbackMs), '', '', ''],
  ]);
}

/** As the service itself counts: a query is overdue that has been due, or claimed by a process that died, for longer. */
const OVERDUE_AFTER_MS = 5000;
/** None is overdue once it stays so for as long: a claim of a process that was killed ends within. */
const QUIET_MS = 60_000;
const RESTART_LIMIT_MS = 30 * 60_000;

async function killAndRestart(waiting: WaitingEnvironment): Promise<void> {
  const killedMs = performance.now();
  const since = () => `${((performance.now() - killedMs) / 1000).toFixed(0)} s`;
  await waiting.bench.killAndRestart();
  process.stdout.write(`\nall processes killed and started again: ready after ${since()}\n`);
  const first = untilAccepted(() => waiting.request(PAYS))
    .then((id) => waiting.ended(id))
    .then(() => process.stdout.write(`the first new payment ended after ${since()}\n`));
  const { lastMs, most } = await watchOverdue(waiting, killedMs);
  process.stdout.write(
    `no status query overdue after ${lastMs === null ? '-' : `${(lastMs / 1000).toFixed(0)} s`}` +
      ` (most at once: ${most})\n${await statesOf(waiting)}; ${waiting.memory()}\n`,
  );
  await Promise.race([first, sleep(LAST_END_MS, undefined, { ref: false })]);
}

type Overdue = {
  /** From the kill until one was overdue for the last time; null: one still was at the end of the limit. */
  readonly lastMs: number | null;
  readonly most: number;
};

async function watchOverdue({ bench }: WaitingEnvironment, killedMs: number): Promise<Overdue> {
  let [lastMs, most] = [performance.now() - killedMs, 0];
  for (;;) {
    const overdue = (await measureOverdueQueries(bench.db, OPERATOR_IDS, OVERDUE_AFTER_MS))[0]?.count ?? 0;
    const nowMs = performance.now() - killedMs;
    if (nowMs > RESTART_LIMIT_MS) return { lastMs: null, most };
    if (overdue > 0) [lastMs, most] = [nowMs, Math.max(most, overdue)];
    if (nowMs - lastMs > QUIET_MS) return { lastMs, most };
    await sleep(POLL_MS);
  }
}
