// Generates a client from the OpenAPI document of a started server, without a warning, and pays in, pays out and releases with it.
//
// Needs Python 3.11. The first run installs openapi-python-client in the versions of `generated-clients/requirements.txt` into the
// cache folder, from the package index; later runs need no network.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { readArguments } from '../src/arguments.mjs';
import { endRun } from '../test/support/run-end.ts';
import { addPerson, PASSWORD } from '../test/support/people.ts';
import { startTestEnvironment } from '../test/support/test-environment.ts';
import { installPythonPrograms } from './python-programs.ts';

readArguments({
  usage: 'usage: node --import=tsx/esm tools/generated-client.ts\n\nGenerates a client in Python, and pays with it.',
});

const FOLDER = join(import.meta.dirname, 'generated-clients');
const LIMIT_MS = 5 * 60_000;
/** The exit code if the generator cannot be installed. */
const NOT_INSTALLED = 3;
const run = promisify(execFile);

async function payWithClient(programs: string): Promise<void> {
  const testEnv = await startTestEnvironment();
  const folder = mkdtempSync(join(tmpdir(), 'malipo-client-'));
  try {
    const { baseUrl, merchant } = testEnv;
    const approver = await addPerson(testEnv, merchant.id, ['approver']);
    // It formats its output with a program in the same folder.
    const env = { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}`, PYTHONPATH: folder };
    const from = ['--url', `${baseUrl}/v1/openapi.json`, '--output-path', folder, '--overwrite'];
    await run('openapi-python-client', ['generate', ...from, '--fail-on-warning'], { env, timeout: LIMIT_MS });
    const people = {
      MALIPO_BASE_URL: baseUrl,
      MALIPO_API_KEY: merchant.key,
      MALIPO_APPROVER_EMAIL: approver.email,
      MALIPO_APPROVER_PASSWORD: PASSWORD,
      MALIPO_APPROVER_TOTP_SECRET: approver.totpSecret ?? '',
    };
    const script = join(FOLDER, 'openapi_python_client.py');
    const { stdout } = await run('python', [script], { env: { ...env, ...people }, timeout: LIMIT_MS });
    process.stdout.write(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await testEnv.stop();
    await endRun();
  }
}

const programs = installPythonPrograms('openapi-python-client', FOLDER);
if (programs === null) process.exitCode = NOT_INSTALLED;
else await payWithClient(programs);
