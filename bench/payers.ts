// What a payment costs when payers are people: they take half a minute, cancel, or never answer, and some callbacks are lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../src/engines/process/ports.ts';
import { requestCollection, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { startWholeShape } from './collections.ts';
import { anyPayer, answerPrompt, type Payer } from './payer.ts';
import { percentile } from './table.ts';
import { costOf, memoryMb, shown, statusQueries, sum } from './waiting-environment.ts';

const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 5);
const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 15);
/** Those who pay without a callback do so after this: the median of all. */
const SILENT_AFTER_MS = 20_000;

export async function benchPayers(): Promise<void> {
  const metricsPort = await freePort();
  const environment = { MALIPO_METRICS_PORT: String(metricsPort) };
  const bench = await startBenchEnvironment({ sandboxDecisionMs: SILENT_AFTER_MS, environment });
  const whole = await startWholeShape(bench);
  const made: Promise<number | null>[] = [];
  const queriesBefore = await statusQueries(metricsPort);
  const cost = await costOf(bench, async () => {
    const endsAtMs = performance.now() + MINUTES * 60_000;
    let reportAtMs = performance.now() + 60_000;
    for (let next = performance.now(); next < endsAtMs; next += 1000 / PER_SECOND) {
      await sleep(Math.max(0, next - performance.now()));
      made.push(payOnce(bench, whole, anyPayer()));
      if (performance.now() < reportAtMs) continue;
      reportAtMs += 60_000;
      process.stdout.write(`${made.length} payments; MB: ${shown(memoryMb(bench))}\n`);
    }
  });
  const queries = (await statusQueries(metricsPort)) - queriesBefore;
  // Those who still think are not waited for; whoever never answers never resolves.
  const waits = await Promise.all(made.map((one) => Promise.race([one, sleep(0, null)])));
  const latencies = waits.filter((wait): wait is number => wait !== null);
  const perPayment = Object.fromEntries(Object.entries(cost.cpuMs).map(([name, ms]) => [name, ms / made.length]));
  process.stdout.write(
    `${made.length} payments, ${PER_SECOND} a second: CPU ${sum(perPayment).toFixed(1)} ms each (${shown(perPayment, 1)}); ` +
      `${(queries / made.length).toFixed(2)} status queries each\n` +
      `answer to webhook: p50 ${percentile(latencies, 0.5)} ms, p99 ${percentile(latencies, 0.99)} ms of ${latencies.length}\n`,
  );
  whole.receiver.kill();
  await bench.stop();
}

/** Resolves to how long after the answer the webhook came; null for a payer who does not answer, or of whose answer no callback tells. */
async function payOnce(
  bench: BenchEnvironment,
  whole: Awaited<ReturnType<typeof startWholeShape>>,
  { phone, choice, answersAfterMs }: Payer,
): Promise<number | null> {
  const response = await requestCollection(bench, whole.apiKey, phone);
  const { id } = (await response.body.json()) as { id: string };
  if (choice === 'never' || choice === 'silent') return null;
  await sleep(answersAfterMs);
  const { rows } = await bench.db.pool.query<{ reference: string }>(
    'SELECT operator_reference AS reference FROM payments WHERE id = $1',
    [id],
  );
  const answeredAtMs = Date.now();
  await answerPrompt(bench, rows[0]?.reference ?? '', choice);
  return choice === 'approve' ? (await whole.arrival(id)) - answeredAtMs : null;
}
