// Downloads the Temporal CLI by the SDK, in a separate process that is ended if it makes no progress in time.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../process/supervised-process.ts';
import { removeAbandoned } from './go-build.ts';

export type DownloadLimits = {
  /** The longest wait for the first byte, and between two bytes. */
  readonly silenceMs: number;
  readonly totalMs: number;
};

export type TemporalDownload = {
  readonly version: string;
  /** The path of the program, beside which the download runs. */
  readonly binary: string;
  /** Why a program is unusable; undefined if it is usable. */
  readonly problemWith: (binary: string) => string | undefined;
  readonly limits: DownloadLimits;
  readonly env: Environment;
  readonly report: (line: string) => void;
  readonly onSpawn?: (pid: number) => void;
};

/** Why there is no program, in one line. */
export class DownloadError extends Error {}

const LOOK_EVERY_MS = 100;
const REPORT_EVERY_MS = 10_000;
const MB = 1024 * 1024;

/**
 * Resolves when the program is in its place, complete and tried. Each download has its own folder and is renamed at the
 * end: concurrent ones do not collide, and a killed one leaves nothing under the program's name. Throws DownloadError.
 */
export async function downloadTemporal(download: TemporalDownload): Promise<void> {
  const { version, binary, problemWith, report } = download;
  const parent = join(binary, '..');
  mkdirSync(parent, { recursive: true });
  const prefix = `${basename(binary)}.downloading-`;
  removeAbandoned(parent, prefix);
  const folder = join(parent, `${prefix}${randomBytes(6).toString('hex')}`);
  mkdirSync(folder);
  report(`downloading the Temporal server (CLI ${version}) from temporal.download, this once`);
  try {
    const file = await runDownload(folder, download);
    const problem = problemWith(file);
    if (problem !== undefined) throw new DownloadError(`what came ${problem}`);
    renameSync(file, binary);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  report(`the Temporal server is downloaded and kept in ${parent}`);
}

async function runDownload(folder: string, download: TemporalDownload): Promise<string> {
  const { version, env, onSpawn } = download;
  // The SDK chooses these names. The second file gets its name once it is complete.
  const [partial, whole] = [join(folder, `temporal-v${version}.downloading`), join(folder, `temporal-v${version}`)];
  const child = startDownloader(folder, version, env);
  let [said, isEnded] = ['', false];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-2000)));
  const ended = new Promise<void>((resolve) => {
    for (const event of ['close', 'error'] as const) {
      child.once(event, () => {
        isEnded = true;
        resolve();
      });
    }
  });
  if (child.pid !== undefined) onSpawn?.(child.pid);
  try {
    const watch = watchProgress(partial, download);
    while (!existsSync(whole)) {
      // Checked first: the download may have ended between the two.
      const isOver = isEnded;
      if (isOver && !existsSync(whole)) throw new DownloadError(reasonIn(said));
      watch();
      await sleep(LOOK_EVERY_MS);
    }
    return whole;
  } finally {
    endGroup(child);
    await ended;
  }
}

/** A separate group: the SDK tries the downloaded server, which must not outlive it. */
function startDownloader(folder: string, version: string, env: Environment): ChildProcess {
  const isSource = import.meta.filename.endsWith('.ts');
  const entry = fileURLToPath(new URL(`./download-program.${isSource ? 'ts' : 'js'}`, import.meta.url));
  const loader = isSource ? ['--import', 'tsx/esm'] : [];
  return spawn(process.execPath, [...loader, entry, folder, `v${version}`], {
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** A function to call repeatedly: it throws if nothing arrives for too long, or the whole takes too long. */
function watchProgress(partial: string, { limits: { silenceMs, totalMs }, report }: TemporalDownload): () => void {
  const startedAtMs = Date.now();
  let [size, grewAtMs, reportedAtMs] = [0, startedAtMs, startedAtMs];
  return () => {
    const now = Date.now();
    const present = statSync(partial, { throwIfNoEntry: false })?.size ?? 0;
    if (present !== size) [size, grewAtMs] = [present, now];
    const sizeText = `${Math.floor(size / MB)} MB`;
    if (now - grewAtMs > silenceMs) {
      throw new DownloadError(`nothing came for ${silenceMs / 1000} s${size > 0 ? `, after ${sizeText}` : ''}`);
    }
    if (now - startedAtMs > totalMs) {
      throw new DownloadError(`it was not complete after ${totalMs / 1000} s (${sizeText} unpacked)`);
    }
    if (now - reportedAtMs < REPORT_EVERY_MS) return;
    reportedAtMs = now;
    report(`downloading the Temporal server: ${Math.round((now - startedAtMs) / 1000)} s, ${sizeText} unpacked so far`);
  };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

function reasonIn(said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim() ?? 'the download ended without a word';
}
