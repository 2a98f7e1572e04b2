// Runs `npm start`, as it is built, or `npm run dev` on a data folder of its own, and looks at the processes that it keeps.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { endWithThisProcess } from '../../src/engines/process/parent-guard.ts';
import { freePorts } from '../../src/engines/process/ports.ts';
import { until } from '../engines/throwaway.ts';

const PORTS = [
  'MALIPO_HTTP_PORT',
  'MALIPO_METRICS_PORT',
  'MALIPO_SANDBOX_PORT',
  'MALIPO_RECEIVER_PORT',
  'MALIPO_KES_RECEIVER_PORT',
  'MALIPO_POSTGRES_PORT',
  'MALIPO_TEMPORAL_PORT',
  'MALIPO_TEMPORAL_UI_PORT',
  'MALIPO_CONSOLE_PORT',
] as const;

export type EmbeddedRun = {
  /** What it has printed so far. */
  output(): string;
  errors(): string;
  readonly exited: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** The recorded process of this name, which is `PostgreSQL` or `the Temporal server`; undefined while it is down. */
  pidOf(name: string): number | undefined;
  /** Every process that was recorded in this run, so far as this was called. */
  recorded(): ReadonlySet<number>;
  /** The settings that the run leaves for a shell. */
  demo(): Readonly<Record<string, string>>;
  untilPrinted(text: string | RegExp, times?: number): Promise<void>;
};

const LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 90_000;

/** Compiles the sources, unless that was done since they changed. */
export function build(): void {
  const { status } = spawnSync(process.execPath, ['tools/build.mjs'], { cwd: findProjectRoot(), stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed');
}

export async function chosenPorts(): Promise<Record<(typeof PORTS)[number], string>> {
  const free = await freePorts(PORTS.length);
  return Object.fromEntries(PORTS.map((name, index) => [name, String(free[index])])) as never;
}

const START = 'dist/src/server/entries/start.js';
export const DEV = 'tools/dev.mjs';

export function startEmbedded(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  program = START,
): EmbeddedRun {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [join(findProjectRoot(), program)], {
    // The ports beside that of the metrics may belong to another test.
    env: { PATH, HOME, MALIPO_DATA_DIR: dataDir, MALIPO_PROCESS_PER_ROLE: 'false', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child, { signal: 'SIGTERM', limitMs: STOP_LIMIT_MS });
  const printed = { output: '', errors: '' };
  child.stdout.on('data', (text: Buffer) => (printed.output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed.errors += text.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const seen = new Set<number>();
  const children = (): { name: string; pid: number }[] => {
    const file = join(dataDir, 'run.json');
    if (!existsSync(file)) return [];
    const { children: all } = JSON.parse(readFileSync(file, 'utf8')) as { children: { name: string; pid: number }[] };
    for (const { pid } of all) seen.add(pid);
    return all;
  };
  return {
    output: () => printed.output,
    errors: () => printed.errors,
    exited,
    signal: (name) => child.kill(name),
    pidOf: (name) => children().find((each) => each.name === name)?.pid,
    recorded: () => seen,
    demo: () =>
      Object.fromEntries(
        readFileSync(join(dataDir, 'demo.env'), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
      ),
    async untilPrinted(text, times = 1) {
      const isEnough = (): boolean => {
        if (child.exitCode !== null) throw new Error(`it ended:\n${printed.output}${printed.errors}`);
        return printed.output.split(text).length > times;
      };
      await until(`it prints ${String(text)}`, isEnough, LIMIT_MS).catch((error: unknown) => {
        throw new Error(`it printed:\n${printed.output}${printed.errors}`, { cause: error });
      });
    },
  };
}
