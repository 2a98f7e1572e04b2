// Engines for a run of the tests: it leases them from a keeper, a process that keeps them for the next run, and starts a keeper when none
// is free. Nobody else uses them meanwhile.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isSafelyOurs } from '../../src/engines/postgres/account.ts';
import type { TemporalPrograms } from '../../src/engines/temporal/binary.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { hashOfFiles } from './hash-of-files.ts';

/** With what Temporal runs: the development server, or the production server on the keeper's PostgreSQL. */
export type TemporalKind = { readonly binary: string } | { readonly programs: TemporalPrograms };

/** The namespace of the development server, which creates it at its start. */
export const NAMESPACE = 'malipo-test';

type Plain = Exclude<keyof Answers, 'temporal'>;
export type Ask = { readonly ask: Plain } | { readonly ask: 'temporal'; readonly kind: TemporalKind };

export type PostgresPlace = { readonly adminUrl: string; readonly dataDir: string; readonly pid: number };
export type TemporalPlace = { readonly address: string; readonly uiUrl: string | undefined; readonly pid: number };
export type Status = {
  readonly isLeased: boolean;
  readonly postgres: PostgresPlace | null;
  readonly temporal: TemporalPlace | null;
};

/** What the keeper answers to each ask, in this order; or the reason why it cannot. */
export type Answers = {
  /** Whether it was free. */
  lease: boolean;
  postgres: PostgresPlace;
  temporal: TemporalPlace;
  release: true;
  status: Status;
  /** False while a run has the lease. */
  stop: boolean;
};

export type Keeper = {
  ask<Name extends keyof Answers>(
    ask: { readonly ask: Name } & (Name extends 'temporal' ? { readonly kind: TemporalKind } : unknown),
  ): Promise<Answers[Name]>;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  close(): void;
};

const MEMORY = '/dev/shm';
const LEAST_MEMORY_BYTES = 2 ** 31;
const BEGUN_WITHIN_MS = 10_000;
const ENTRY = join(import.meta.dirname, 'engine-keeper.ts');
/** What keepers run: one that runs another version is left to end by itself. */
const KEEPER_SOURCES = ['src/engines', 'test/support/engine-keeper.ts', 'test/support/engine-lease.ts'];

/** The folder of the keepers' sockets: of this user, or the one that MALIPO_ENGINES_FOLDER names, for a run that ends its keepers itself. */
export function keepersFolder(): string {
  const chosen = process.env['MALIPO_ENGINES_FOLDER'];
  if (chosen !== undefined) return chosen;
  const folder = join(tmpdir(), `malipo-engines-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A listener there could give the tests any server.
  if (!isSafelyOurs(folder)) throw new Error(`${folder} is not a folder of ours alone. Remove it and start again`);
  return folder;
}

/**
 * Where the keeper with this socket has its engines' data: in memory where that has room. Databases are made and dropped by the hundred,
 * and ext4 looks at every file that was deleted within the last minutes before it gives a new one its place, which takes ten times
 * what all the rest of making a database does.
 */
export function enginesFolder(socketFile: string): string {
  const name = `malipo-engines-${basename(socketFile, '.sock')}`;
  const { bavail, bsize } = existsSync(MEMORY) ? statfsSync(MEMORY) : { bavail: 0, bsize: 0 };
  return join(bavail * bsize < LEAST_MEMORY_BYTES ? tmpdir() : MEMORY, name);
}

/** Removes what the keeper with this socket leaves. */
export function removeTraces(socketFile: string): void {
  const name = `malipo-engines-${basename(socketFile, '.sock')}`;
  const folders = [tmpdir(), MEMORY].flatMap((folder) => [join(folder, name), join(folder, `${name}-postgres`)]);
  for (const path of [socketFile, `${socketFile}.log`, ...folders]) rmSync(path, { recursive: true, force: true });
}

/** The keepers that run: all of them, or those of one version. */
export async function findKeepers(version = ''): Promise<Keeper[]> {
  const folder = keepersFolder();
  const names = readdirSync(folder).filter((name) => name.startsWith(version) && name.endsWith('.sock'));
  const found = await Promise.all(names.map((name) => connect(join(folder, name))));
  return found.filter((keeper) => keeper !== null);
}

/** Leases the engines of a keeper that is free, or of a new one. When this process ends without a release, they are ended, too. */
export async function leaseEngines(kindOfTemporal: string): Promise<Keeper> {
  const version = hashOfFiles(KEEPER_SOURCES, kindOfTemporal, process.version);
  let leased: Keeper | null = null;
  for (const keeper of await findKeepers(version)) {
    if (leased === null && (await keeper.ask({ ask: 'lease' }).catch(() => false))) leased = keeper;
    else keeper.close();
  }
  if (leased !== null) return leased;
  const file = join(keepersFolder(), `${version}-${randomBytes(4).toString('hex')}.sock`);
  await startKeeper(file, kindOfTemporal);
  const keeper = await connect(file);
  if (keeper === null || !(await keeper.ask({ ask: 'lease' })))
    throw new Error(`the keeper of the engines at ${file} cannot be used`);
  return keeper;
}

/** Resolves when it listens. It outlives this process. */
async function startKeeper(file: string, kindOfTemporal: string): Promise<void> {
  const log = openSync(`${file}.log`, 'a', 0o600);
  const child = fork(ENTRY, [file, kindOfTemporal], {
    cwd: findProjectRoot(),
    detached: true,
    execArgv: ['--import=tsx/esm'],
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the keeper of the engines did not start:\n${readFileSync(`${file}.log`, 'utf8')}`);
  });
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  child.disconnect();
  child.unref();
}

/** Null if nothing listens there any more. */
async function connect(file: string): Promise<Keeper | null> {
  const socket = createConnection(file);
  try {
    await once(socket, 'connect');
  } catch {
    // One that begins has its file before it listens.
    const madeAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAtMs > BEGUN_WITHIN_MS) removeTraces(file);
    return null;
  }
  return keeperAt(socket);
}

const ENDED = 'the keeper of the engines has ended';

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void };

function keeperAt(socket: Socket): Keeper {
  const waiting: Waiting[] = [];
  createInterface(socket).on('line', (line) => {
    const { answer, error } = JSON.parse(line) as { answer?: never; error?: string };
    const asked = waiting.shift();
    if (error === undefined) asked?.resolve(answer as never);
    else asked?.reject(new Error(error));
  });
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => {
      for (const { reject } of waiting.splice(0)) reject(new Error(ENDED));
      resolve();
    });
  });
  return {
    ended,
    ask: (ask) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error(ENDED));
          return;
        }
        waiting.push({ resolve, reject });
        socket.write(`${JSON.stringify(ask)}\n`);
      }),
    close: () => socket.destroy(),
  };
}
