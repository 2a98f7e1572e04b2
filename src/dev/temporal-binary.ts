// Finds a Temporal server to run: from a setting, the PATH or the user's cache, or built once with Go.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildWithGo,
  findOnPath,
  GoBuildError,
  goCacheFolder,
  isExecutable,
  type GoBuildOptions,
  type GoProgram,
} from './go-build.ts';
import { findProjectRoot } from './project-root.ts';

export type TemporalBinaryOptions = GoBuildOptions & {
  /** Where go.mod and go.sum are. */
  readonly sourceDir?: string;
};

/** The programs of Temporal's production server, which keeps its data in PostgreSQL. */
export type TemporalPrograms = {
  readonly server: string;
  /** Creates databases and their schemas. */
  readonly sqlTool: string;
};

const CLI: GoProgram = {
  name: 'the Temporal server',
  file: 'temporal',
  package: 'github.com/temporalio/cli/cmd/temporal',
  howLong: '3 to 4 minutes on two cores',
};
const PRODUCTION_SERVER: GoProgram = {
  name: 'the Temporal production server',
  file: 'temporal-server',
  package: 'go.temporal.io/server/cmd/server',
  howLong: 'up to 2 minutes on two cores',
};
const SQL_TOOL: GoProgram = {
  name: 'the Temporal SQL tool',
  file: 'temporal-sql-tool',
  package: 'go.temporal.io/server/cmd/tools/sql',
  howLong: 'some seconds',
};
// CLI 1.5.0 was the first with server 1.29. A CLI that Go built from its module does not know its own version.
const OLDEST_CLI = '1.5.0';
const OLDEST_SERVER = { major: 1, minor: 29 };
const VERSION_LIMIT_MS = 20_000;

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
  const sourceDir = options.sourceDir ?? defaultSourceDir();
  return cachedOrBuilt(CLI, problemWith, { ...options, sourceDir });
}

/**
 * Returns the programs of the production server, built with Go from the module of the development server: kept in the same
 * cache folder, and built the first time it is called on a machine.
 */
export async function resolveTemporalPrograms(options: TemporalBinaryOptions): Promise<TemporalPrograms> {
  const sourceDir = options.sourceDir ?? defaultSourceDir();
  const given = { ...options, sourceDir };
  return {
    server: await cachedOrBuilt(PRODUCTION_SERVER, problemWithVersion, given),
    sqlTool: await cachedOrBuilt(SQL_TOOL, problemWithVersion, given),
  };
}

function defaultSourceDir(): string {
  return join(findProjectRoot(), 'tools', 'temporal');
}

async function cachedOrBuilt(
  program: GoProgram,
  problem: (binary: string) => string | undefined,
  options: TemporalBinaryOptions & { readonly sourceDir: string },
): Promise<string> {
  const { env, sourceDir } = options;
  const cached = join(goCacheFolder(sourceDir, env), program.file);
  if (isExecutable(cached) && problem(cached) === undefined) return cached;
  const go = findOnPath('go', env);
  if (!go) {
    const reason = `No ${program.name.replace(/^the /, '')} was found, and no Go to build it with.`;
    throw new Error(whatToInstall(reason, program, sourceDir));
  }
  try {
    return await buildWithGo({ go, sourceDir, program, problemWith: problem }, options);
  } catch (error) {
    if (!(error instanceof GoBuildError)) throw error;
    const reason = `${program.name.replace(/^the /, 'The ')} could not be built with ${go}: ${error.message}`;
    throw new Error(whatToInstall(reason, program, sourceDir), { cause: error });
  }
}

function problemWithVersion(binary: string): string | undefined {
  const { status, error } = spawnSync(binary, ['--version'], { env: {}, timeout: VERSION_LIMIT_MS });
  return status === 0 ? undefined : `does not answer to --version (${error?.message ?? `code ${String(status)}`})`;
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

function whatToInstall(reason: string, program: GoProgram, sourceDir: string): string {
  const goVersion = /^go (\S+)$/m.exec(readFileSync(join(sourceDir, 'go.mod'), 'utf8'))?.[1] ?? '';
  const withGo = `install Go ${goVersion} or newer; the server is then built once, in a few minutes`;
  if (program !== CLI) return `${reason} To have it, ${withGo}.`;
  return [
    reason,
    'Do one of these and start again:',
    `  - ${withGo}`,
    `  - install the Temporal CLI ${OLDEST_CLI} or newer as "temporal" on the PATH, or name it with MALIPO_TEMPORAL_BINARY`,
    '  - name a running Temporal cluster with MALIPO_TEMPORAL_ADDRESS',
  ].join('\n');
}
