// `npm run check`: format, lint, types, unused code, packages, structure and unit tests. The one command a contributor must know.
import { dirname, join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { runCollecting } from './programs.mjs';

const root = dirname(import.meta.dirname);
const bin = (name) => join(root, 'node_modules', '.bin', name);

/** A step that takes longer has hung and is ended. */
const STEP_LIMIT_MS = 30 * 60_000;

// Each step has a name and a command. The linter and the build read the output of this one.
const TYPES_OF_API = ['types of the API', process.execPath, ['--import=tsx/esm', 'tools/generate-console-types.ts']];
/** It takes about as long as all the others together, which run in parallel. */
const LINT = ['lint', bin('eslint'), ['.']];
const STEPS = [
  ['format', bin('prettier'), ['--check', '--log-level=warn', '.']],
  ['types', bin('tsc'), ['--noEmit', '-p', '.']],
  ['types of the console', bin('tsc'), ['--noEmit', '-p', 'console']],
  ['unused', bin('knip'), []],
  ['migrations', process.execPath, ['--import=tsx/esm', 'tools/lint-migrations.ts']],
  ['packages', process.execPath, ['tools/packages.mjs', 'check']],
  [
    'tidy and unit tests',
    bin('mocha'),
    [
      '--reporter=dot',
      'test/tidy.test.ts',
      'test/words.test.ts',
      'test/domain/**/*.test.ts',
      'test/security/**/*.test.ts',
      'test/console/**/*.test.ts',
    ],
  ],
];

/**
 * Runs the steps, and then `further` ones, and prints the duration of each. Resolves when all except the linter have
 * ended: nothing else needs its end. `failed` resolves to the names of the failed steps when the linter has ended too.
 */
export async function startCheck(further = []) {
  const failed = [];
  const run = async ([name, command, args]) => {
    const startedMs = performance.now();
    const { status, output } = await runCollecting(command, args, { cwd: root, limitMs: STEP_LIMIT_MS });
    // After its end, so that its output does not mix with that of another program.
    process.stdout.write(output);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
    if (status !== 0) failed.push(name);
  };
  await run(TYPES_OF_API);
  const linted = run(LINT);
  for (const step of [...STEPS, ...further]) await run(step);
  return { failed: linted.then(() => failed) };
}

if (process.argv[1] === import.meta.filename) {
  readArguments({
    usage: 'usage: npm run check\n\nChecks format, lint, types, packages and structure, and runs the unit tests.',
  });
  const failed = await (await startCheck()).failed;
  if (failed.length > 0) console.error(`check failed: ${failed.join(', ')}`);
  process.exit(failed.length === 0 ? 0 : 1);
}
