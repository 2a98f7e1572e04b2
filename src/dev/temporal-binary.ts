// Finds a Temporal server to run: from a setting, the PATH or the user's cache, or built once with Go.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { findProjectRoot } from './project-root.ts';
import type { Environment } from './supervised-process.ts';

export type TemporalBinaryOptions = {
  readonly report: (line: string) => void;
  readonly env: Environment;
  /** Where go.mod and go.sum are. */
  readonly sourceDir?: string;
  readonly progressEveryMs?: number;
  /** Called with the process number of a Go build, so that a stop during the build can end it. */
  readonly onSpawn?: (pid: number) => void;
};

const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
// CLI 1.5.0 was the first with server 1.29. A CLI that Go built from its module does not know its own version.
const OLDEST_CLI = '1.5.0';
const OLDEST_SERVER = { major: 1, minor: 29 };
const VERSION_LIMIT_MS = 20_000;
const BUILD_PREFIX = 'temporal.building-';
const BUILD_IS_ABANDONED_AFTER_MS = 60 * 60_000;
const ERROR_LINES = 15;

/**
 * Returns the path of a `temporal` program whose server is new enough. The first call on a machine may build it, which
 * takes minutes; the result is kept in the user's cache folder (MALIPO_CACHE_DIR), outside the project.
 */
export async function resolveTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  const { env, report } = options;
  const named = env['MALIPO_TEMPORAL_BINARY'];
  if (named) {
    const problem = problemWith(named);
    if (problem) throw new Error(`MALIPO_TEMPORAL_BINARY names ${named}, which ${problem}`);
    return named;
  }
  const onPath = findOnPath('temporal', env);
  if (onPath) {
    const problem = problemWith(onPath);
    if (!problem) return onPath;
    report(`not using ${onPath}: it ${problem}`);
  }
  const sourceDir = options.sourceDir ?? join(findProjectRoot(), 'tools', 'temporal');
  const folder = cacheFolder(sourceDir, env);
  const cached = join(folder, 'temporal');
  if (isExecutable(cached) && !problemWith(cached)) return cached;
  const go = findOnPath('go', env);
  if (!go) throw new Error(whatToInstall('No Temporal server was found, and no Go to build it with.', sourceDir));
  return buildWithGo({ ...options, go, sourceDir, folder });
}

/** One folder for each version of go.mod and go.sum, so that an update of them causes a new build. */
function cacheFolder(sourceDir: string, env: Environment): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(sourceDir, name)));
  hash.update(`${process.platform}/${process.arch}`);
  const base = env['MALIPO_CACHE_DIR'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'malipo');
  return join(base, `temporal-${hash.digest('hex').slice(0, 16)}`);
}

function problemWith(binary: string): string | undefined {
  // Without HOME it does not read the user's settings.
  const { stdout, status, error } = spawnSync(binary, ['--version'], {
    encoding: 'utf8',
    env: {},
    timeout: VERSION_LIMIT_MS,
  });
  if (error) return `cannot be run (${error.message})`;
  const version = /Server v?(\d+)\.(\d+)/.exec(stdout);
  if (status !== 0 || !version) return 'does not answer to --version as a Temporal CLI with a server does';
  const [major, minor] = [Number(version[1]), Number(version[2])];
  const isNewEnough = major > OLDEST_SERVER.major || (major === OLDEST_SERVER.major && minor >= OLDEST_SERVER.minor);
  if (isNewEnough) return undefined;
  return `has server ${major}.${minor}, and ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} (CLI ${OLDEST_CLI}) is the oldest that will do`;
}

function findOnPath(name: string, env: Environment): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

type Build = TemporalBinaryOptions & { readonly go: string; readonly sourceDir: string; readonly folder: string };

// Each build writes its own file and renames it at the end: concurrent builds do not disturb each other, and a killed
// build leaves no file under the program's name.
async function buildWithGo({ folder, ...build }: Build): Promise<string> {
  const { go, sourceDir, report } = build;
  mkdirSync(folder, { recursive: true });
  removeAbandonedBuilds(folder);
  const unfinished = join(folder, `${BUILD_PREFIX}${randomBytes(6).toString('hex')}`);
  const binary = join(folder, 'temporal');
  report('building the Temporal server with Go: 3 to 4 minutes on two cores, this once');
  try {
    const failure = await runGo({ ...build, output: unfinished });
    const problem = failure ?? problemWith(unfinished);
    if (problem)
      throw new Error(whatToInstall(`The Temporal server could not be built with ${go}: ${problem}`, sourceDir));
    renameSync(unfinished, binary);
  } finally {
    rmSync(unfinished, { force: true });
  }
  report(`the Temporal server is built and kept in ${folder}`);
  return binary;
}

type GoRun = Omit<Build, 'folder'> & { readonly output: string };

/** Undefined when the build succeeded, otherwise the end of Go's output. */
async function runGo({
  go,
  sourceDir,
  output,
  env,
  report,
  onSpawn,
  progressEveryMs = 15_000,
}: GoRun): Promise<string | undefined> {
  const startedAt = Date.now();
  // -buildvcs=false: otherwise Go refuses to build in a clone that another account owns. -v: prints a line per package.
  const args = ['build', '-v', '-buildvcs=false', '-ldflags', '-s -w', '-o', output, PACKAGE];
  const child = spawn(go, args, { cwd: sourceDir, env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    report(`building the Temporal server: ${seconds} s, ${lines.length} packages so far`);
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

function removeAbandonedBuilds(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(BUILD_PREFIX))) {
    const file = join(folder, name);
    const changedAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAtMs > BUILD_IS_ABANDONED_AFTER_MS) rmSync(file, { force: true });
  }
}

function whatToInstall(reason: string, sourceDir: string): string {
  const goVersion = /^go (\S+)$/m.exec(readFileSync(join(sourceDir, 'go.mod'), 'utf8'))?.[1] ?? '';
  return [
    reason,
    'Do one of these and start again:',
    `  - install Go ${goVersion} or newer; the server is then built once, in a few minutes`,
    `  - install the Temporal CLI ${OLDEST_CLI} or newer as "temporal" on the PATH, or name it with MALIPO_TEMPORAL_BINARY`,
    '  - name a running Temporal cluster with MALIPO_TEMPORAL_ADDRESS',
  ].join('\n');
}
