// Finds a Temporal server to run: from a setting, the PATH or the user's cache; downloaded once, or built once with Go.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
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
import { findProjectRoot } from '../../project-root.ts';
import { DownloadError, downloadTemporal, type DownloadLimits } from './download.ts';

export type TemporalBinaryOptions = GoBuildOptions & {
  readonly sourceDir?: string;
  readonly downloadLimits?: DownloadLimits;
};

/** The programs of Temporal's production server, which keeps its data in PostgreSQL. */
export type TemporalPrograms = {
  readonly server: string;
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
/** If Go is available, it builds the server sooner than a slow line downloads it. */
const DOWNLOAD_LIMITS = {
  beforeGo: { silenceMs: 20_000, totalMs: 60_000 },
  alone: { silenceMs: 20_000, totalMs: 600_000 },
} as const;

/**
 * Returns the path of a `temporal` program whose server is new enough. The first call on a machine downloads it, in the
 * version of go.mod, unless MALIPO_TEMPORAL_DOWNLOAD is `false`. If that fails, Go builds it in minutes. The result is
 * kept in the user's cache folder (MALIPO_CACHE_DIR), outside the project.
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
  return cachedOrBuilt(CLI, problemWith, options);
}

/**
 * Returns the programs of the production server, built with Go from the module of the development server. They are kept
 * in the same cache folder, and built at the first call on a machine.
 */
export async function resolveTemporalPrograms(options: TemporalBinaryOptions): Promise<TemporalPrograms> {
  return {
    server: await cachedOrBuilt(PRODUCTION_SERVER, problemWithVersion, options),
    sqlTool: await cachedOrBuilt(SQL_TOOL, problemWithVersion, options),
  };
}

async function cachedOrBuilt(
  program: GoProgram,
  problem: (binary: string) => string | undefined,
  options: TemporalBinaryOptions,
): Promise<string> {
  const { env, sourceDir = join(findProjectRoot(), 'tools', 'temporal') } = options;
  const cached = join(goCacheFolder(sourceDir, env), program.file);
  if (isExecutable(cached) && problem(cached) === undefined) return cached;
  const go = findOnPath('go', env);
  const notDownloaded =
    program === CLI ? await downloadInto(cached, { ...options, sourceDir }, go !== undefined) : undefined;
  if (program === CLI && notDownloaded === undefined) return cached;
  if (!go) {
    const download = notDownloaded === undefined ? '' : ` It could not be downloaded: ${notDownloaded}.`;
    const reason = `No ${program.name.replace(/^the /, '')} was found, and no Go to build it with.${download}`;
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

/** Why the download failed; undefined if it succeeded. */
async function downloadInto(
  binary: string,
  { env, report, onSpawn, sourceDir, downloadLimits }: TemporalBinaryOptions & { readonly sourceDir: string },
  hasGo: boolean,
): Promise<string | undefined> {
  if (env['MALIPO_TEMPORAL_DOWNLOAD'] === 'false') return 'MALIPO_TEMPORAL_DOWNLOAD is false';
  const version = pinnedVersion(sourceDir);
  if (version === undefined) return 'go.mod names no version of it';
  const limits = downloadLimits ?? (hasGo ? DOWNLOAD_LIMITS.beforeGo : DOWNLOAD_LIMITS.alone);
  const isPinned = (file: string) =>
    problemWith(file) ?? (versionOf(file) === version ? undefined : `is not ${version}`);
  try {
    await downloadTemporal({
      version,
      binary,
      problemWith: isPinned,
      limits,
      env,
      report,
      ...(onSpawn && { onSpawn }),
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    report(`the Temporal server was not downloaded: ${error.message}`);
    return error.message;
  }
}

/** The version that Go would build, too. */
function pinnedVersion(sourceDir: string): string | undefined {
  return /^\s*(?:require )?github\.com\/temporalio\/cli v(\d+\.\d+\.\d+)/m.exec(
    readFileSync(join(sourceDir, 'go.mod'), 'utf8'),
  )?.[1];
}

function askVersion(binary: string): SpawnSyncReturns<string> {
  // Without HOME it does not read the user's settings.
  return spawnSync(binary, ['--version'], { encoding: 'utf8', env: {}, timeout: VERSION_LIMIT_MS });
}

function versionOf(binary: string): string | undefined {
  return /^temporal version (\S+)/.exec(askVersion(binary).stdout)?.[1];
}

function problemWithVersion(binary: string): string | undefined {
  const { status, error } = askVersion(binary);
  return status === 0 ? undefined : `does not answer to --version (${error?.message ?? `code ${String(status)}`})`;
}

function problemWith(binary: string): string | undefined {
  const { stdout, status, error } = askVersion(binary);
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
    '  - let this machine reach https://temporal.download, from where it comes in seconds',
    `  - ${withGo}`,
    `  - install the Temporal CLI ${OLDEST_CLI} or newer as "temporal" on the PATH, or name it with MALIPO_TEMPORAL_BINARY`,
    '  - name a running Temporal cluster with MALIPO_TEMPORAL_ADDRESS',
  ].join('\n');
}
