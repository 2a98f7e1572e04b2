// Sends generated requests to a started server, from its own OpenAPI document, with every check of Schemathesis.
//
// Needs Python 3. The first run installs Schemathesis in the versions of `schemathesis/requirements.txt` into the cache
// folder, from the package index; later runs need no network.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { stopEngines } from '../test/support/engines.ts';
import { startTestEnvironment } from '../test/support/test-environment.ts';

const FOLDER = join(import.meta.dirname, 'schemathesis');
const PUBLIC_PATHS = '^/(v1/api|operators|healthz|readyz|docs|v1/openapi)';
const DEFAULT_SECONDS = '120';

/** The program, installed once for each list of versions. */
function installSchemathesis(): string {
  const requirements = join(FOLDER, 'requirements.txt');
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const { MALIPO_CACHE_DIR, XDG_CACHE_HOME } = process.env;
  const base = MALIPO_CACHE_DIR ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'malipo');
  const folder = join(base, `schemathesis-${version}`);
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) {
    execFileSync('python3', ['-m', 'venv', '--clear', folder], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements];
    execFileSync(join(folder, 'bin', 'python'), pip, { stdio: 'inherit' });
    writeFileSync(complete, '');
  }
  return join(folder, 'bin', 'schemathesis');
}

const [seconds = DEFAULT_SECONDS, seed = '1'] = process.argv.slice(2);
const program = installSchemathesis();
const testEnv = await startTestEnvironment({ environment: { MALIPO_ROLES: 'api' } });
try {
  const header = `Authorization: Bearer ${testEnv.merchant.key}`;
  const selected = ['--include-path-regex', PUBLIC_PATHS, '--phases', 'examples,coverage,fuzzing'];
  const limits = ['--max-time', seconds, '--seed', seed, '--continue-on-failure'];
  const config = ['--config-file', join(FOLDER, 'schemathesis.toml')];
  const run = ['run', `${testEnv.baseUrl}/v1/openapi.json`, '--checks', 'all', '--header', header];
  // In its folder, where its settings look for the hooks.
  const child = spawn(program, [...config, ...run, ...selected, ...limits], { cwd: FOLDER, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await testEnv.stop();
  await stopEngines();
}
