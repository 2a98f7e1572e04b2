// One run per data folder: a record of the supervisor and its children, to refuse a second run and to clean up after a
// killed one.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { endProcess, identifyProcess, isRunning, type ProcessIdentity } from '../engines/process/process-identity.ts';

/** PostgreSQL needs SIGINT: on SIGTERM it waits for its clients to disconnect. */
type StopSignal = 'SIGTERM' | 'SIGINT';

export type RunRecord = {
  /** Records a child to end with the run. Call it as soon as the process exists: only recorded children are ended. */
  add(child: { readonly name: string; readonly pid: number; readonly stopSignal?: StopSignal }): void;
  remove(pid: number): void;
  /** Ends all recorded children, last one first, and immediately those that a start still adds. */
  endChildren(): Promise<void>;
  /** Removes the record after a clean stop. */
  close(): void;
};

type RunRecordOptions = { readonly dataDir: string; readonly report: (line: string) => void };

const identity = z.object({ pid: z.int().positive(), startedAt: z.string() });
const contentSchema = z.object({
  supervisor: identity,
  children: z.array(identity.extend({ name: z.string(), stopSignal: z.enum(['SIGTERM', 'SIGINT']) })),
});
type Content = z.infer<typeof contentSchema>;

const MAX_TRIES = 5;
/** How long a process of this or an earlier run may take to stop before it is killed. */
const STOP_LIMIT_MS = 20_000;

/**
 * Claims the data folder for this process. Throws with the name of the other process while another run has it. Leftover
 * processes of a killed run are ended first, but only if both process number and start time are as recorded.
 */
export async function openRunRecord({ dataDir, report }: RunRecordOptions): Promise<RunRecord> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'run.json');
  const supervisor = ownIdentity();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (claim(file, { supervisor, children: [] })) return recordAt(file, supervisor, report);
    const earlier = readContent(file, report);
    if (earlier && isRunning(earlier.supervisor)) {
      const { pid } = earlier.supervisor;
      throw new Error(`Malipo already runs on ${dataDir} as process ${pid}. Stop that one first: kill ${pid}`);
    }
    if (earlier) await endLeftovers(earlier, report);
    discard(file, earlier);
  }
  throw new Error(`could not claim ${file}: other starts keep taking it`);
}

function recordAt(file: string, supervisor: ProcessIdentity, report: RunRecordOptions['report']): RunRecord {
  let children: Content['children'] = [];
  let isOver = false;
  // An outdated record only costs a manual clean-up after a killed run, and must not end the run itself.
  const save = (): void => {
    try {
      const temporary = writeBeside(file, { supervisor, children });
      renameSync(temporary, file);
    } catch (error) {
      report(`${file} could not be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    add: ({ name, pid, stopSignal = 'SIGTERM' }) => {
      const child = identifyProcess(pid);
      if (!child) return;
      if (isOver) {
        process.kill(pid, stopSignal);
        return;
      }
      children = [...children.filter((other) => other.pid !== pid), { name, ...child, stopSignal }];
      save();
    },
    remove: (pid) => {
      children = children.filter((child) => child.pid !== pid);
      if (!isOver) save();
    },
    endChildren: async () => {
      isOver = true;
      await endInReverse(children);
    },
    close: () => {
      isOver = true;
      rmSync(file, { force: true });
    },
  };
}

function ownIdentity(): ProcessIdentity {
  const own = identifyProcess(process.pid);
  if (!own) throw new Error('this system does not tell when a process was started, so runs cannot be told apart');
  return own;
}

// Creating a hard link fails if the file exists, so exactly one of several concurrent starts gets the name.
function claim(file: string, content: Content): boolean {
  const temporary = writeBeside(file, content);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

// Moved aside and read again, because another start may have written its own record since the first read.
function discard(file: string, stale: Content | undefined): void {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(file, aside);
    const moved = readContent(aside, () => undefined);
    if (moved && moved.supervisor.startedAt !== stale?.supervisor.startedAt) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

async function endLeftovers({ supervisor, children }: Content, report: RunRecordOptions['report']): Promise<void> {
  for (const { name, pid } of await endInReverse(children)) {
    report(`ended ${name} (process ${pid}), left behind by the run of process ${supervisor.pid}`);
  }
}

// The last started is ended first, so servers end before their database. Returns those that were still running.
async function endInReverse(children: Content['children']): Promise<Content['children']> {
  const ended: Content['children'] = [];
  for (const child of children.toReversed()) {
    if (await endProcess(child, child.stopSignal, STOP_LIMIT_MS)) ended.push(child);
  }
  return ended;
}

/** Undefined if there is none; also, with a report, if it cannot be read. */
function readContent(file: string, report: (line: string) => void): Content | undefined {
  try {
    return contentSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    report(`${file} cannot be read: end by hand what an earlier run on this folder may have left running`);
    return undefined;
  }
}

function writeBeside(file: string, content: Content): string {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, JSON.stringify(content, null, 2), { mode: 0o600 });
  return temporary;
}
