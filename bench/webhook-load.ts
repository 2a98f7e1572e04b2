// Webhooks to one endpoint under load, at a low rate, and from a queue, beside a bare counterpart, in turns within one run. The method
// is that of a comparison of products: 32 callers, 10,000 messages, a receiver that takes 1 ms or 50 ms, durable storage.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { forkServer, messageFrom, startBenchEnvironment } from './bench-environment.ts';
import type { Load } from './callers.ts';
import { cpuMsSince, cpuSecondsByName } from './cpu.ts';
import type { Written } from './event-writer-process.ts';
import { median, percentile, printTable, type Round } from './table.ts';
import { bareProduct, ourProduct, startWriter, WAYS, type Product, type Way } from './webhook-products.ts';

const COUNT = Number(process.env['BENCH_COUNT'] ?? 10_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CALLERS = 32;
const CALM_PER_SECOND = 20;
const CALM_SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10);
const RECEIVER_MS = [1, 50] as const;
/** Only the cases whose name has this in it are run. */
const CASES = process.env['BENCH_CASES'] ?? '';
const WARM_UP = 500;
const POLL_EVERY_MS = 50;

/** What is measured of a product: each kind of load, at each receiver, and each way in which the messages come. */
type Case = { readonly name: string; readonly product: Product; readonly run: () => Promise<Round> };

export async function benchWebhookLoad(): Promise<void> {
  const bench = await startBenchEnvironment({ sandboxDecisionMs: 100 });
  const { child: receiver, port } = await forkServer('timed-receiver-process');
  const bare = await forkServer('bare-webhooks-process', [bench.postgres.urlFor('malipo')]);
  const writer = await startWriter(bench);
  const cases: Case[] = [];
  for (const ms of RECEIVER_MS) {
    const target = { bench, writer, url: `http://127.0.0.1:${port}/${ms}` };
    const products = [await ourProduct(target), await bareProduct(target, bare.child, bare.port)];
    for (const product of products) await flood(product, receiver, { way: 'operation', count: WARM_UP });
    cases.push(...casesOf(products, receiver, ms));
  }
  const results = new Map<Case, Round[]>(cases.filter(({ name }) => name.includes(CASES)).map((each) => [each, []]));
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [each, of] of results) {
      of.push(await each.run());
      process.stderr.write(
        `round ${round}: ${each.name}, ${each.product.name}: ${of.at(-1)?.perSecond.toFixed(0)}/s\n`,
      );
    }
  }
  report(results);
  for (const child of [receiver, bare.child, writer]) child.kill();
  await bench.stop();
}

/** The products in turns. */
function casesOf(products: readonly Product[], receiver: ChildProcess, ms: number): Case[] {
  const cases: Case[] = [];
  const add = (name: string, run: (product: Product) => Promise<Round>): void => {
    for (const product of products) cases.push({ name, product, run: () => run(product) });
  };
  for (const way of WAYS) add(`${way}, ${ms} ms`, (product) => flood(product, receiver, { way, count: COUNT }));
  add(`queued, ${ms} ms`, (product) => drain(product, receiver));
  if (ms > 1) return cases;
  for (const way of WAYS) add(`${way}, ${CALM_PER_SECOND} a second`, (product) => pace(product, receiver, way));
  return cases;
}

type Flood = { readonly way: Way; readonly count: number };

function flood(product: Product, receiver: ChildProcess, { way, count }: Flood): Promise<Round> {
  return measure(product, receiver, { way, load: { count, callers: CALLERS } });
}

function pace(product: Product, receiver: ChildProcess, way: Way): Promise<Round> {
  const load = { count: CALM_PER_SECOND * CALM_SECONDS, perSecond: CALM_PER_SECOND };
  return measure(product, receiver, { way, load });
}

async function measure(
  product: Product,
  receiver: ChildProcess,
  { way, load }: { readonly way: Way; readonly load: Load },
): Promise<Round> {
  const before = cpuSecondsByName(product.pids);
  const [sent, received] = await Promise.all([product.send[way](load), receive(receiver, load.count)]);
  const cpuMs = cpuMsSince(before, product.pids, load.count);
  return { ...timesOf(sent, received), cpuMs };
}

async function drain(product: Product, receiver: ChildProcess): Promise<Round> {
  const before = cpuSecondsByName(product.pids);
  const receiving = receive(receiver, COUNT);
  await product.queue(COUNT);
  const received = [...(await receiving).values()].sort((a, b) => a - b);
  const seconds = ((received.at(-1) ?? 0) - (received[0] ?? 0)) / 1000;
  return { perSecond: COUNT / seconds, latenciesMs: [], cpuMs: cpuMsSince(before, product.pids, COUNT) };
}

/** Resolves to when each message came, once so many did. */
async function receive(receiver: ChildProcess, count: number): Promise<ReadonlyMap<string, number>> {
  const received = new Map<string, number>();
  while (received.size < count) {
    await sleep(POLL_EVERY_MS);
    receiver.send('take');
    for (const [id, atMs] of await messageFrom<Written>(receiver)) received.set(id, atMs);
  }
  return received;
}

function timesOf(sent: Written, received: ReadonlyMap<string, number>): Omit<Round, 'cpuMs'> {
  const latenciesMs = sent.map(([id, atMs]) => (received.get(id) ?? Number.NaN) - atMs);
  const firstMs = Math.min(...sent.map(([, atMs]) => atMs));
  const lastMs = Math.max(...received.values());
  return { perSecond: (sent.length * 1000) / (lastMs - firstMs), latenciesMs };
}

function report(results: ReadonlyMap<Case, readonly Round[]>): void {
  const rows = [...results].map(([{ name, product }, all]) => {
    const latencies = all.flatMap(({ latenciesMs }) => latenciesMs);
    const p = (share: number) => (latencies.length === 0 ? '' : percentile(latencies, share).toFixed(1));
    const cpu = Object.keys(product.pids).map(
      (part) => [part, median(all.map(({ cpuMs }) => cpuMs[part] ?? 0))] as const,
    );
    // What writes or calls is not the product.
    const total = cpu.reduce((sum, [part, ms]) => sum + (part === 'writer' ? 0 : ms), 0);
    return [
      name,
      product.name,
      median(all.map(({ perSecond }) => perSecond)).toFixed(0),
      p(0.5),
      p(0.99),
      total.toFixed(2),
      cpu.map(([part, ms]) => `${part} ${ms.toFixed(2)}`).join(', '),
    ];
  });
  printTable([['', 'product', 'delivered/s', 'p50 ms', 'p99 ms', 'CPU ms each', 'by process'], ...rows]);
}
