// `npm run check`: format, lint, types, unused code, packages, structure and unit tests. The one command a contributor must know.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './programs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules', '.bin', name);

/** A step that takes longer has hung and is ended. */
const STEP_LIMIT_MS = 30 * 60_000;

/** Each with its name and command; all others need the first. */
const STEPS = [
  ['install', process.execPath, ['tools/install.mjs']],
  ['format', bin('prettier'), ['--check', '--log-level=warn', '.']],
  ['types', bin('tsc'), ['--noEmit', '-p', '.']],
  // The linter reads them too.
  ['types of the API', process.execPath, ['--import=tsx/esm', 'tools/generate-console-types.ts']],
  ['types of the console', bin('tsc'), ['--noEmit', '-p', 'console']],
  ['lint', bin('eslint'), ['.']],
  ['unused', bin('knip'), []],
  ['packages', process.execPath, ['tools/packages.mjs', 'check']],
  [
    'tidy and unit tests',
    bin('mocha'),
    [
      '--reporter=dot',
      'test/tidy.test.ts',
      'test/domain/**/*.test.ts',
      'test/security/**/*.test.ts',
      'test/console/**/*.test.ts',
    ],
  ],
];

/** Runs the steps, prints how long each took, and returns the names of those that failed. */
export async function check() {
  const failed = [];
  for (const [name, command, args] of STEPS) {
    const startedMs = performance.now();
    const { status } = await runProgram(command, args, { cwd: root, limitMs: STEP_LIMIT_MS });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
    if (status !== 0) failed.push(name);
    if (status !== 0 && name === 'install') break;
  }
  return failed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = await check();
  if (failed.length > 0) console.error(`check failed: ${failed.join(', ')}`);
  process.exit(failed.length === 0 ? 0 : 1);
}
