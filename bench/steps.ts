// Counts what one whole collection is made of: statements, calls of Temporal, HTTP exchanges, events of its history.
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { fetch } from 'undici';
import { freePort } from '../src/engines/process/ports.ts';
import { COLLECTION_WORKFLOW } from '../workflows/contract.ts';
import { COUNT, startWholeShape } from './collections.ts';
import { NAMESPACE, startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { median, printTable } from './table.ts';

const WARM_UP = 50;
const IDLE_MS = 10_000;
const HISTORIES = 30;

type Counts = ReadonlyMap<string, number>;

/** What the service does by itself, each second, is measured while nothing is requested and left out. */
export async function benchSteps(): Promise<void> {
  const metricsPort = await freePort();
  const bench = await startBenchEnvironment({
    sandboxDecisionMs: 100,
    environment: { MALIPO_METRICS_PORT: String(metricsPort) },
    postgresSettings: { log_min_duration_statement: '0' },
  });
  const whole = await startWholeShape(bench);
  await whole.run(WARM_UP);
  await sleep(3000);
  const idle = await counted(bench, metricsPort, () => sleep(IDLE_MS));
  const busy = await counted(bench, metricsPort, async () => {
    await whole.run(COUNT);
    // Its last webhook is not all of a collection.
    await sleep(2000);
  });
  for (const [title, pick] of [
    ['statements', (run: Counted) => run.statements],
    ['milliseconds of PostgreSQL', (run: Counted) => run.milliseconds],
    ['calls and requests', (run: Counted) => run.calls],
  ] as const) {
    printEach(title, pick(busy), pick(idle), busy.seconds / idle.seconds);
  }
  await printHistories(bench);
  whole.receiver.kill();
  await bench.stop();
}

type Counted = {
  readonly statements: Counts;
  readonly milliseconds: Counts;
  readonly calls: Counts;
  readonly seconds: number;
};

async function counted(bench: BenchEnvironment, metricsPort: number, work: () => Promise<unknown>): Promise<Counted> {
  const callsBefore = await readCalls(metricsPort);
  const from = statSync(bench.postgresLog).size;
  const startedMs = performance.now();
  await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const log = readFileSync(bench.postgresLog).subarray(from).toString('utf8');
  const callsAfter = await readCalls(metricsPort);
  const calls = new Map([...callsAfter].map(([name, count]) => [name, count - (callsBefore.get(name) ?? 0)]));
  return { ...statementsIn(log), calls, seconds };
}

const LOGGED = /LOG: {2}duration: ([0-9.]+) ms {2}(?:(parse|bind|execute) ([^:]+)|statement): *([^\s;(]*)/g;

/**
 * By the name under which it is prepared; of others, by their first word. Each is one round trip. The time is that of the clock, with
 * what PostgreSQL needs to read and plan it.
 */
function statementsIn(log: string): Pick<Counted, 'statements' | 'milliseconds'> {
  const statements = new Map<string, number>();
  const milliseconds = new Map<string, number>();
  for (const [, ms, step = 'execute', name = '<unnamed>', word = ''] of log.matchAll(LOGGED)) {
    const key = name === '<unnamed>' ? word : name;
    milliseconds.set(key, (milliseconds.get(key) ?? 0) + Number(ms));
    if (step === 'execute') statements.set(key, (statements.get(key) ?? 0) + 1);
  }
  return { statements, milliseconds };
}

const COUNTED_CALLS =
  /^(temporal_(?:long_)?request_total|temporal_local_activity_total|malipo_http_requests_total|malipo_operator_calls_total|malipo_webhook_attempts_total)\{([^}]*)\} (\d+)/gm;

async function readCalls(port: number): Promise<Counts> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, name = '', labels = '', value] of text.matchAll(COUNTED_CALLS)) {
    const shown = [...labels.matchAll(/(?:operation|activity_type|method|route|call|result)="([^"]*)"/g)].map(
      ([, label]) => label,
    );
    const key = `${name.replace(/^(temporal|malipo)_|_total$/g, '')} ${shown.join(' ')}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
}

function printEach(title: string, busy: Counts, idle: Counts, idleShare: number): void {
  const each = [...busy]
    .map(([name, count]) => [name, (count - (idle.get(name) ?? 0) * idleShare) / COUNT] as const)
    .filter(([, count]) => count >= 0.01)
    .sort(([, a], [, b]) => b - a);
  printWithSum(title, each);
  process.stdout.write('\n');
}

function printWithSum(title: string, each: readonly (readonly [name: string, count: number])[]): void {
  const sum = each.reduce((total, [, count]) => total + count, 0);
  const lines = [...each, ['all', sum] as const].map(([name, count]) => [name, count.toFixed(2)]);
  printTable([[title, 'for each collection'], ...lines]);
}

async function printHistories({ temporal }: BenchEnvironment): Promise<void> {
  const connection = await Connection.connect({ address: temporal.address });
  const { workflow } = new Client({ connection, namespace: NAMESPACE });
  const types = new Map<string, number>();
  const sizes: number[] = [];
  const query = `WorkflowType = '${COLLECTION_WORKFLOW}' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, historySize } of workflow.list({ query })) {
    if (sizes.length === HISTORIES) break;
    sizes.push(historySize ?? 0);
    const { events } = await workflow.getHandle(workflowId).fetchHistory();
    for (const event of events ?? []) {
      const type = Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? '';
      types.set(type, (types.get(type) ?? 0) + 1);
    }
  }
  await connection.close();
  const each = [...types].map(([type, count]) => [type.replace('EventAttributes', ''), count / sizes.length] as const);
  printWithSum('events of a history', each);
  process.stdout.write(`\nmedian size of a history: ${(median(sizes) / 1000).toFixed(1)} kB\n`);
}
