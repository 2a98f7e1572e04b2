// Compares whole collections with traces and without, in turns within one run, each with engines and processes of its own.
import { COUNT, measure, ROUNDS, startWholeShape } from './collections.ts';
import { forkServer, messageFrom, startBenchEnvironment } from './bench-environment.ts';
import { median, printTable, type Round } from './table.ts';

const DECISION_MS = 100;
const WARM_UP = 100;

export async function benchTraces(): Promise<void> {
  const { child: collector, port } = await forkServer('collector-process');
  const off = await startShape({});
  const on = await startShape({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  for (const shape of [off, on]) await shape.run(WARM_UP);
  const rounds: { off: Round; on: Round }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    // Neither is always the first of a round.
    const first = await (round % 2 === 0 ? on : off).measured();
    const second = await (round % 2 === 0 ? off : on).measured();
    rounds.push(round % 2 === 0 ? { off: second, on: first } : { off: first, on: second });
  }
  report(rounds);
  collector.send('count');
  const { bytes } = await messageFrom<{ bytes: number }>(collector);
  const all = ROUNDS * COUNT + WARM_UP;
  process.stdout.write(`the collector took ${Math.round(bytes / all / 100) / 10} kB for each collection\n`);
  collector.kill();
  await off.stop();
  await on.stop();
}

async function startShape(environment: Readonly<Record<string, string>>) {
  // The log as in a real start, since a line about a payment has its trace either way.
  const settings = { MALIPO_LOG_LEVEL: 'info', ...environment };
  const bench = await startBenchEnvironment({ sandboxDecisionMs: DECISION_MS, environment: settings });
  const shape = await startWholeShape(bench);
  return {
    run: (count: number) => shape.run(count),
    measured: () => measure({ server: bench.server.pid(), Temporal: bench.temporal.pid }, () => shape.run(COUNT)),
    async stop() {
      shape.receiver.kill();
      await bench.stop();
    },
  };
}

function report(rounds: readonly { off: Round; on: Round }[]): void {
  const line = (shape: 'off' | 'on') => [
    `traces ${shape}`,
    median(rounds.map((round) => round[shape].perSecond)).toFixed(1),
    median(rounds.map((round) => round[shape].cpuMs['server'] ?? 0)).toFixed(1),
  ];
  printTable([['', 'per second', 'server, CPU ms each'], line('off'), line('on')]);
  const cpu = rounds.map(({ off, on }) => (on.cpuMs['server'] ?? 0) / (off.cpuMs['server'] ?? 0));
  const ratios = cpu.map((ratio) => ratio.toFixed(2)).join(', ');
  process.stdout.write(`\nserver CPU, on / off: ${median(cpu).toFixed(2)} (rounds: ${ratios})\n`);
}
