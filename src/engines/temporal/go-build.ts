// Builds a program with Go, once for each version of its sources, and keeps it in the user's cache folder.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment } from '../process/supervised-process.ts';

export type GoBuildOptions = {
  readonly report: (line: string) => void;
  readonly env: Environment;
  readonly progressEveryMs?: number;
  /** Called with the process number of a Go build, so that a stop during the build can end it. */
  readonly onSpawn?: (pid: number) => void;
};

export type GoProgram = {
  readonly name: string;
  readonly file: string;
  readonly package: string;
  readonly howLong: string;
};

/** Go's output if it could not build the program, or why the built program is unusable. */
export class GoBuildError extends Error {}

const IS_ABANDONED_AFTER_MS = 60 * 60_000;
const ERROR_LINES = 15;

/** The folder where this user keeps downloads and builds, outside the project. */
export function cacheFolder(env: Environment): string {
  return env['MALIPO_CACHE_DIR'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'malipo');
}

/** One folder for each version of go.mod and go.sum, so that an update of them causes a new build. */
export function goCacheFolder(sourceDir: string, env: Environment): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(sourceDir, name)));
  hash.update(`${process.platform}/${process.arch}`);
  return join(cacheFolder(env), `temporal-${hash.digest('hex').slice(0, 16)}`);
}

export function findOnPath(name: string, env: Environment): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export type GoBuild = {
  readonly go: string;
  readonly sourceDir: string;
  readonly program: GoProgram;
  /** Why the built program is unusable; undefined if it is usable. */
  readonly problemWith: (binary: string) => string | undefined;
};

/**
 * Builds the program and returns its path. Each build writes its own file and renames it at the end: concurrent builds do not
 * disturb each other, and a killed build leaves no file under the program's name. Throws GoBuildError.
 */
export async function buildWithGo(build: GoBuild, options: GoBuildOptions): Promise<string> {
  const { sourceDir, program } = build;
  const { report } = options;
  const folder = goCacheFolder(sourceDir, options.env);
  mkdirSync(folder, { recursive: true });
  const prefix = `${program.file}.building-`;
  removeAbandoned(folder, prefix);
  const unfinished = join(folder, `${prefix}${randomBytes(6).toString('hex')}`);
  const binary = join(folder, program.file);
  report(`building ${program.name} with Go: ${program.howLong}, this once`);
  try {
    const problem = (await runGo(build, unfinished, options)) ?? build.problemWith(unfinished);
    if (problem !== undefined) throw new GoBuildError(problem);
    renameSync(unfinished, binary);
  } finally {
    rmSync(unfinished, { force: true });
  }
  report(`${program.name} is built and kept in ${folder}`);
  return binary;
}

/** Undefined if the build succeeded, otherwise the end of Go's output. */
async function runGo(
  { go, sourceDir, program }: GoBuild,
  output: string,
  { env, report, onSpawn, progressEveryMs = 15_000 }: GoBuildOptions,
): Promise<string | undefined> {
  const startedAt = Date.now();
  // -buildvcs=false: otherwise Go refuses to build in a clone that another account owns. -v: prints a line per package.
  const args = ['build', '-v', '-buildvcs=false', '-ldflags', '-s -w', '-o', output, program.package];
  const child = spawn(go, args, { cwd: sourceDir, env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    report(`building ${program.name}: ${seconds} s, ${lines.length} packages so far`);
  }, progressEveryMs);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return code === 0 ? undefined : `\n${lines.slice(-ERROR_LINES).join('\n')}`;
  } finally {
    clearInterval(progress);
  }
}

/** Removes files and folders with this prefix that killed downloads or builds have left. */
export function removeAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const path = join(folder, name);
    const changedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAtMs > IS_ABANDONED_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
