// Prometheus and promtool for the tests of alerts: from the PATH, or Debian's package, unpacked into the cache folder.
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { cacheFolder, findOnPath } from '../src/engines/temporal/go-build.ts';

export type PrometheusPrograms = { readonly prometheus: string; readonly promtool: string };

const DOWNLOAD_LIMIT_MS = 5 * 60_000;
/** The exit code if the package is unavailable. */
const NOT_INSTALLED = 3;

/** Null if they are unavailable; standard error says why. */
export function findPrometheus(): PrometheusPrograms | null {
  const [prometheus, promtool] = ['prometheus', 'promtool'].map((name) => findOnPath(name, process.env));
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool };
  const base = cacheFolder(process.env);
  const folder = join(base, `prometheus-${process.arch}`);
  if (!existsSync(folder) && !unpackInto(base, folder)) return null;
  return { prometheus: join(folder, 'usr/bin/prometheus'), promtool: join(folder, 'usr/bin/promtool') };
}

// Concurrent runs unpack separately, and the first one's folder stays.
function unpackInto(base: string, folder: string): boolean {
  mkdirSync(base, { recursive: true });
  const own = mkdtempSync(join(base, 'prometheus-unpacking-'));
  const limited: ExecFileSyncOptions = { cwd: own, stdio: ['ignore', 'ignore', 'inherit'], timeout: DOWNLOAD_LIMIT_MS };
  try {
    execFileSync('apt-get', ['-q', 'download', 'prometheus'], limited);
    const [file = ''] = readdirSync(own).filter((name) => name.endsWith('.deb'));
    execFileSync('dpkg', ['-x', file, 'unpacked'], limited);
    if (!existsSync(folder)) renameSync(join(own, 'unpacked'), folder);
    return true;
  } catch (error) {
    if (existsSync(folder)) return true;
    process.stderr.write(`Prometheus cannot be had: ${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  readArguments({ usage: 'usage: node --import=tsx/esm tools/prometheus.ts\n\nFinds Prometheus, or unpacks it.' });
  if (findPrometheus() === null) process.exit(NOT_INSTALLED);
}
