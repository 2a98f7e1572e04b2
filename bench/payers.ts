// What a payment costs when its payer is a person, who takes half a minute, cancels or never answers, and while some callbacks are
// lost; how soon after the callback the merchant knows; and the memory over time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CollectionId } from '../src/domain/ids.ts';
import { loadClocks } from '../src/settings/clocks.ts';
import { callAll } from './callers.ts';
import { answerPrompt, payersWhoAnswerWithin, PAYS_AT_ONCE, type Payer } from './payer.ts';
import { percentile, printTable } from './table.ts';
import { printCpu, startWaitingEnvironment, type WaitingEnvironment } from './waiting-environment.ts';

const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 5);
const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 15);
const WARM_UP = 50;
const MINUTE_MS = 60_000;
/** The sandbox decides nothing by itself meanwhile. */
const NEVER_MS = 24 * 60 * MINUTE_MS;
/** After the last prompt has ended: a lost callback is made up for by a status query within a minute. */
const LAST_END_MS = 3 * MINUTE_MS;

/** The clocks are the real ones unless the environment sets others; the operator keeps a prompt open for as long as the service awaits. */
export async function benchPayers(): Promise<void> {
  const { promptWindowMs } = loadClocks(process.env, []);
  const waiting = await startWaitingEnvironment({
    sandboxDecisionMs: NEVER_MS,
    environment: { MALIPO_SANDBOX_PROMPT_EXPIRY_MS: String(promptWindowMs) },
  });
  const warmUp: CollectionId[] = [];
  await callAll({ count: WARM_UP, callers: 10 }, () => pay(waiting, PAYS_AT_ONCE, warmUp));
  const atRest = await waiting.costAtRest();
  const ids: CollectionId[] = [];
  const count = Math.round(PER_SECOND * 60 * MINUTES);
  const nextPayer = payersWhoAnswerWithin(promptWindowMs);
  const minutes = printEachMinute(waiting, ids);
  const cost = await waiting.costOf(() =>
    Promise.race([
      callAll({ count, perSecond: PER_SECOND }, () => pay(waiting, nextPayer(), ids)),
      sleep(MINUTES * MINUTE_MS + promptWindowMs + LAST_END_MS, undefined, { ref: false }),
    ]),
  );
  minutes.stop();
  printCpu(cost, { atRest, of: 'payment', count: ids.length, digits: 1 });
  process.stdout.write(
    `\n${ids.length} payments in ${cost.seconds.toFixed(0)} s, ` +
      `${(cost.queries / ids.length).toFixed(2)} status queries a payment\n`,
  );
  const latencies = await waiting.callbackToWebhookMs(ids);
  process.stdout.write(
    `\ncallback received to webhook received: p50 ${percentile(latencies, 0.5).toFixed(0)} ms, ` +
      `p99 ${percentile(latencies, 0.99).toFixed(0)} ms (${latencies.length} payments)\n\n`,
  );
  await reportEnds(waiting, { ids, refused: count - ids.length });
  await waiting.stop();
}

/** Resolves when the merchant knows how it ended. The payer's time begins with the request, which the prompt follows at once. */
async function pay(waiting: WaitingEnvironment, { phone, answer }: Payer, ids: CollectionId[]): Promise<void> {
  const id = await waiting.request(phone);
  if (id === undefined) return;
  ids.push(id);
  const ended = waiting.ended(id);
  if (answer) {
    await sleep(answer.afterMs);
    await answerPrompt(waiting.bench, id, answer.choice);
  }
  await ended;
}

function printEachMinute(waiting: WaitingEnvironment, ids: readonly CollectionId[]): { stop(): void } {
  let minute = 0;
  const print = () => {
    const open = ids.filter((id) => !waiting.endedAtMs.has(id)).length;
    process.stdout.write(`minute ${minute++}: ${ids.length} payments, ${open} open; ${waiting.memory()}\n`);
  };
  print();
  const timer = setInterval(print, MINUTE_MS);
  return {
    stop() {
      clearInterval(timer);
      print();
    },
  };
}

async function reportEnds(
  { bench }: WaitingEnvironment,
  { ids, refused }: { readonly ids: readonly CollectionId[]; readonly refused: number },
): Promise<void> {
  const { rows } = await bench.db.pool.query<{ end: string; count: number }>(
    `SELECT state || coalesce(' ' || failure_code, '') AS end, count(*)::int AS count FROM payments
     WHERE id = ANY($1) GROUP BY 1 ORDER BY 1`,
    [ids],
  );
  const lines = [...rows.map(({ end, count }) => [end, String(count)]), ['refused', String(refused)]];
  printTable([['end', 'payments'], ...lines]);
}
