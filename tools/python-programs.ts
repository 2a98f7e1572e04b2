// Installs Python programs in fixed versions, which are not npm packages.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheFolder } from '../src/engines/temporal/go-build.ts';

const INSTALL_LIMIT_MS = 5 * 60_000;
const PIP_INSTALL =
  '-m pip install --quiet --retries 1 --timeout 20 --no-deps --only-binary :all: --require-hashes --requirement'.split(
    ' ',
  );

/**
 * The folder of the programs in `requirements.txt` of this folder, installed once for each list of versions into the
 * cache folder. Null, with a message, without Python 3.11, or without package index and earlier installation.
 */
export function installPythonPrograms(name: string, folder: string): string | null {
  const requirements = join(folder, 'requirements.txt');
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const base = cacheFolder(process.env);
  const installed = join(base, `${basename(folder)}-${version}`);
  const complete = join(installed, 'complete');
  if (!existsSync(complete)) {
    const limited = { stdio: 'inherit', timeout: INSTALL_LIMIT_MS } as const;
    try {
      execFileSync('python3', ['-m', 'venv', '--clear', installed], limited);
      execFileSync(join(installed, 'bin', 'python'), [...PIP_INSTALL, requirements], limited);
    } catch (error) {
      process.stderr.write(`${name} cannot be installed: ${error instanceof Error ? error.message : String(error)}\n`);
      return null;
    }
    writeFileSync(complete, '');
  }
  return join(installed, 'bin');
}
