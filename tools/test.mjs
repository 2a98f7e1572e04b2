// `npm test`: everything that CI runs. Prints how long each part took, and ends with "N passed, N failed".
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { check } from './check.mjs';
import { runFailedOnceMore } from './once-more.mjs';
import { runProgram, startProgram } from './programs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const MINUTE_MS = 60_000;
/** Each kind of program has hung when it takes longer, and is ended together with what it started. */
const LIMITS_MS = {
  build: 60 * MINUTE_MS,
  tests: 45 * MINUTE_MS,
  campaign: 30 * MINUTE_MS,
  requests: 15 * MINUTE_MS,
};
/** Its payments and faults follow from the seed alone, whatever the speed of the machine. */
const UNDER_FAULTS = ['--seed', '146', '--payments', '250', '--minutes', '5'];

/** Seconds and seed. A slower machine sends fewer requests, the first of the same ones. */
const GENERATED_REQUESTS = ['60', '1'];
/** Of those that took longest. */
const FILES_SHOWN = 25;
/** What `tools/fuzz.ts` ends with where Schemathesis cannot be installed. */
const NOT_INSTALLED = 3;

const failedChecks = await check();
if (failedChecks.includes('install')) process.exit(1);
const prepared = await runNode(['--import=tsx/esm', 'tools/prepare-temporal.ts']);
if (prepared.status !== 0) failedChecks.push('Temporal server');
// Once for all: campaigns run the processes as they are built.
const built = await runNode(['tools/build.mjs']);
if (built.status !== 0) failedChecks.push('build');

const startedMs = performance.now();
const reports = mkdtempSync(join(tmpdir(), 'malipo-report-'));
process.on('exit', () => rmSync(reports, { recursive: true, force: true }));
// Three runs at once, each with its own servers, because tests wait a lot; divided so that all take about the same time.
const FIRST_RUN = ['faults', 'operators', 'sandbox', 'chaos'];
const SECOND_RUN = ['browser', 'cli', 'embedded', 'dev', 'db', 'isolation', 'deployment'];
const folders = readdirSync(join(root, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'support')
  .map((entry) => entry.name);
const others = folders.filter((name) => ![...FIRST_RUN, ...SECOND_RUN].includes(name));
const filesOf = (names) => names.map((name) => `test/${name}/**/*.test.ts`);
const runs = await Promise.all([
  run(filesOf(FIRST_RUN)),
  run(filesOf(SECOND_RUN)),
  run([...filesOf(others), 'test/*.test.ts']),
]);

// Once more on Temporal's production server, whose PostgreSQL enforces what the development server's SQLite does not: a file
// for each workflow, and the races. After the others, because many of its tests wait for what a killed server left.
const ON_PRODUCTION_SERVER = [
  'test/faults/killed-between-steps.test.ts',
  'test/faults/killed-during-payout.test.ts',
  'test/faults/killed-during-releases.test.ts',
  'test/faults/killed-during-replay.test.ts',
  'test/faults/killed-during-requests.test.ts',
  'test/workflows/callbacks.test.ts',
  'test/workflows/long-keys.test.ts',
  'test/workflows/rechecks.test.ts',
  'test/workflows/sweep.test.ts',
  'test/api/payments/payout-decisions.test.ts',
  'test/api/payments/reversals.test.ts',
];
// The campaign and the generated requests run beside it, because those tests wait even more than others.
const [onProductionServer, campaign, requests] = await Promise.all([
  run(ON_PRODUCTION_SERVER, { part: 'on PostgreSQL', env: { MALIPO_TEST_TEMPORAL: 'postgresql' } }),
  runQuietly(['chaos/run.ts', ...UNDER_FAULTS], LIMITS_MS.campaign),
  runQuietly(['tools/fuzz.ts', ...GENERATED_REQUESTS], LIMITS_MS.requests),
]);
runs.push(onProductionServer);
const passedOnlyAlone = await runFailedOnceMore(runs, run);

const lateTimers = runs.reduce((sum, each) => sum + each.lateTimers, 0);
if (lateTimers > 0) {
  console.log(
    `\n${lateTimers} timers of stopped workers fired in Temporal's core, which reports each as a panic of its thread`,
  );
}
console.log('\nhow long each part took:');
for (const { result } of runs) {
  for (const [part, { ms, passed, failed }] of Object.entries(result.parts)) {
    console.log(`  ${part.padEnd(14)} ${(ms / 1000).toFixed(1).padStart(6)} s   ${passed} passed, ${failed} failed`);
  }
}
console.log('the files that took longest:');
const files = runs.flatMap(({ result }) => Object.entries(result.files));
for (const [file, ms] of files.sort(([, a], [, b]) => b - a).slice(0, FILES_SHOWN)) {
  console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s   ${file}`);
}
console.log(`  ${'all of it'.padEnd(14)} ${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s`);
// Once more where they are seen: a reader of a long output, or of its end, finds here what failed.
for (const { result } of runs) {
  for (const failure of result.failures) console.log(`FAILED ${failure}`);
}
for (const failure of passedOnlyAlone) console.log(`PASSED ONLY ALONE ${failure}`);
if (failedChecks.length > 0) console.log(`failed checks: ${failedChecks.join(', ')}`);
let [passed, failed] = [0, failedChecks.length];
countOne('payments under faults', campaign);
if (requests.status === NOT_INSTALLED) {
  console.log('NOT RUN generated requests: Schemathesis cannot be installed; only test/properties sent any');
} else {
  countOne('generated requests', requests);
}
for (const { status, signal, result } of runs) {
  passed += result.passed;
  failed += result.failed;
  // A run in which no test passed was aborted.
  if (result.passed > 0 && (status === 0 || result.failed > 0)) continue;
  failed += 1;
  console.log(`a test run itself failed (${signal ?? `code ${status}`})`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function runNode(args) {
  return runProgram(process.execPath, args, { cwd: root, limitMs: LIMITS_MS.build });
}

/** Runs a TypeScript program; its output is printed only when it fails. */
async function runQuietly(args, limitMs) {
  const startedMs = performance.now();
  const { child, ended } = startProgram(process.execPath, ['--import=tsx/esm', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    limitMs,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const { status, signal } = await ended;
  if (status !== 0) console.log(`${output}ended by ${signal ?? `code ${status}`}`);
  return { status, ms: performance.now() - startedMs };
}

function countOne(name, { status, ms }) {
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${(ms / 1000).toFixed(1)} s)`);
  if (status === 0) passed += 1;
  else failed += 1;
}

/** Runs these files in one process; resolves with its exit and its counts, under the name of `part` if that is given. */
async function run(files, { part, env = {} } = {}) {
  const report = join(reports, `${randomUUID()}.json`);
  const { child, ended } = startProgram(
    join(root, 'node_modules', '.bin', 'mocha'),
    [
      '--reporter=test/support/parts-reporter.mjs',
      `--reporter-option=file=${report}`,
      ...(part === undefined ? [] : [`--reporter-option=part=${part}`]),
      ...files,
    ],
    {
      cwd: root,
      env: { ...process.env, ...env, RUST_BACKTRACE: '0' },
      stdio: ['ignore', 'inherit', 'pipe'],
      limitMs: LIMITS_MS.tests,
    },
  );
  const late = forwardErrors(child.stderr);
  const { status, signal } = await ended;
  return { status, signal, env, result: readReport(report), lateTimers: late.count };
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, parts: {}, failures: [], failedFiles: [], files: {} };
  }
}

/**
 * Forwards standard error of the tests, except the panics that Temporal's core prints when the time-out of a local
 * activity fires after its worker was shut down. They are harmless and come by the hundred, so they are only counted.
 */
function forwardErrors(stream) {
  const counted = { count: 0 };
  let heldBack = [];
  const flush = () => {
    for (const line of heldBack) console.error(line);
    heldBack = [];
  };
  createInterface({ input: stream })
    .on('line', (line) => {
      if (/^thread 'tokio-runtime-worker' .*local_activities\.rs/.test(line)) {
        flush();
        heldBack = [line];
      } else if (heldBack.length > 0 && line.startsWith('receive half not dropped')) {
        counted.count += 1;
        heldBack = [];
      } else if (line === '' || line.startsWith('note: run with `RUST_BACKTRACE')) {
        // These lines surround each panic.
      } else {
        flush();
        console.error(line);
      }
    })
    .on('close', flush);
  return counted;
}
