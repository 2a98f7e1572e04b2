// Sends generated requests to a started server, from its own OpenAPI document, with every check of Schemathesis.
//
// Needs Python 3. The first run installs Schemathesis in the versions of `schemathesis/requirements.txt` into the cache
// folder, from the package index; later runs need no network.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithUsage, readArguments } from '../src/arguments.mjs';
import { startIsolationEnvironment } from '../test/isolation/tenants.ts';
import { endRun } from '../test/support/run-end.ts';
import { startCallers } from './fuzz-callers.ts';
import { installPythonPrograms } from './python-programs.ts';

const FOLDER = join(import.meta.dirname, 'schemathesis');
const DEFAULT_SECONDS = '120';
const USAGE = `usage: npm run fuzz -- [SECONDS [SEED [-- OPTION …]]]

Sends generated requests to every operation, for ${DEFAULT_SECONDS} seconds by default. The options are those of Schemathesis.`;
/** The exit code without Python 3.11, or without a package index and an earlier installation. */
const NOT_INSTALLED = 3;

type Arguments = readonly [seconds: string, seed: string, ...options: string[]];
const given = readGiven();

function readGiven(): Arguments {
  const { positionals } = readArguments({ usage: USAGE, positionals: [0, Infinity] });
  const [seconds = DEFAULT_SECONDS, seed = '1', ...options] = positionals;
  const wrong = [seconds, seed].find((text) => !/^[0-9]{1,9}$/.test(text));
  if (wrong !== undefined) endWithUsage(`'${wrong}' is not a whole number`, USAGE);
  return [seconds, seed, ...options];
}

async function sendRequests(program: string, [seconds, seed, ...options]: Arguments): Promise<number> {
  const isolation = await startIsolationEnvironment();
  const callers = await startCallers(isolation);
  try {
    const { baseUrl } = isolation.testEnv;
    const config = ['--config-file', join(FOLDER, 'schemathesis.toml')];
    const run = ['run', `${baseUrl}/v1/openapi.json`, '--checks', 'all', '--phases', 'examples,coverage,fuzzing'];
    // A stream of events does not end; it has separate tests.
    const endless = ['--exclude-operation-id', 'getStream'];
    const limits = ['--max-time', seconds, '--seed', seed, '--continue-on-failure', ...endless];
    // In its own folder, where its settings look for the hooks.
    const child = spawn(program, [...config, ...run, ...limits, ...options], {
      cwd: FOLDER,
      env: { ...process.env, MALIPO_FUZZ_PREPARE_URL: callers.url },
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0 ? 0 : 1;
  } finally {
    callers.stop();
    await isolation.testEnv.stop();
    await endRun();
  }
}

const programs = installPythonPrograms('Schemathesis', FOLDER);
process.exitCode = programs === null ? NOT_INSTALLED : await sendRequests(join(programs, 'schemathesis'), given);
