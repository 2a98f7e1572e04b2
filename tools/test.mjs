// `npm test`: everything that CI runs. Prints the duration of each part, and ends with "N passed, N failed".
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readArguments } from '../src/arguments.mjs';
import { startCheck } from './check.mjs';
import { runFailedOnceMore } from './once-more.mjs';
import { runCollecting, runProgram, startProgram } from './programs.mjs';

readArguments({
  usage: 'usage: npm test\n\nRuns everything that CI runs. One test file: npx mocha test/db/database.test.ts',
});

const root = dirname(import.meta.dirname);
const MINUTE_MS = 60_000;
/** A program of each kind has hung if it takes longer, and is ended together with its children. */
const LIMITS_MS = {
  build: 60 * MINUTE_MS,
  tests: 45 * MINUTE_MS,
  campaign: 30 * MINUTE_MS,
  requests: 15 * MINUTE_MS,
};
/** Its payments and faults follow from the seed alone, whatever the speed of the machine. */
const UNDER_FAULTS = ['--seed', '146', '--payments', '250', '--minutes', '5'];

/** Seconds and seed. A slower machine sends fewer requests: the first ones of the same sequence. */
const GENERATED_REQUESTS = ['60', '1'];
/** The number of slowest files shown. */
const FILES_SHOWN = 25;
/** The exit code of the Python tools if pip serves nothing, and of `tools/prometheus.ts` without Prometheus. */
const NOT_INSTALLED = 3;

// Separate engines, which one run leaves to the next. None stays after the end: they check whether their folder exists.
process.env.MALIPO_ENGINES_FOLDER = mkdtempSync(join(tmpdir(), 'malipo-engines-of-'));
process.on('exit', () => rmSync(process.env.MALIPO_ENGINES_FOLDER, { recursive: true, force: true }));

// One build for all: campaigns, and the processes that tests start, run the built code.
const check = await startCheck([['build', process.execPath, ['tools/build.mjs']]]);
const failedChecks = [];
const prepared = await runNode(['--import=tsx/esm', 'tools/prepare-temporal.ts']);
if (prepared.status !== 0) failedChecks.push('Temporal server');
const prometheus = await runNode(['--import=tsx/esm', 'tools/prometheus.ts']);

const startedMs = performance.now();
const reports = mkdtempSync(join(tmpdir(), 'malipo-report-'));
process.on('exit', () => rmSync(reports, { recursive: true, force: true }));

// Each run is a process with exclusive engines, which it leaves to the next run. Several run at once, because tests
// wait a lot, but only as many as keep two cores busy. The longest begin first, so that all end at about the same time.
const RUNS_AT_ONCE = 4;
const GROUPS = [
  ...['browser', 'api', 'workflows', 'faults', 'db', 'isolation', 'server settings', 'engines dev'],
  ...['cli', 'embedded deployment', 'webhooks'],
].map((names) => names.split(' '));
const folders = readdirSync(join(root, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'support')
  .map((entry) => entry.name);
const others = folders.filter((name) => !GROUPS.flat().includes(name));
const filesOf = (names) => names.map((name) => `test/${name}/**/*.test.ts`);
// Again on Temporal's production server, whose PostgreSQL enforces rules that the development server's SQLite does not:
// a file for each workflow, and the races.
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
const runs = [];
const keepRun = async (...options) => runs.push(await run(...options));
let requests;
let client;
// In parallel, because it waits for its faults most of the time.
const underFaults = runQuietly(['chaos/run.ts', ...UNDER_FAULTS], LIMITS_MS.campaign);
await runSeveral([
  () => keepRun(ON_PRODUCTION_SERVER, { part: 'on PostgreSQL', env: { MALIPO_TEST_TEMPORAL: 'postgresql' } }),
  ...GROUPS.map((names) => () => keepRun(filesOf(names))),
  () => keepRun([...filesOf(others), 'test/*.test.ts']),
  async () => (requests = await runQuietly(['tools/fuzz.ts', ...GENERATED_REQUESTS], LIMITS_MS.requests)),
  async () => (client = await runQuietly(['tools/generated-client.ts'], LIMITS_MS.requests)),
]);
const campaign = await underFaults;
failedChecks.push(...(await check.failed));
const passedOnlyAlone = await runFailedOnceMore(runs, run);
await runQuietly(['tools/engines.ts', 'stop'], LIMITS_MS.build);

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
// Repeated at the end, so that a reader of a long output finds the failures.
for (const { result } of runs) {
  for (const failure of result.failures) console.log(`FAILED ${failure}`);
}
for (const failure of passedOnlyAlone) console.log(`PASSED ONLY ALONE ${failure}`);
if (failedChecks.length > 0) console.log(`failed checks: ${failedChecks.join(', ')}`);
let [passed, failed] = [0, failedChecks.length];
countOne('payments under faults', campaign);
if (prometheus.status === NOT_INSTALLED) {
  console.log('NOT RUN promtool: Prometheus cannot be had; only the names in alerts and dashboards were checked');
}
if (requests.status === NOT_INSTALLED) {
  console.log('NOT RUN generated requests: Schemathesis cannot be installed; only test/properties sent any');
} else {
  countOne('generated requests', requests);
}
if (client.status === NOT_INSTALLED) {
  console.log('NOT RUN generated client: openapi-python-client cannot be installed');
} else {
  countOne('generated client', client);
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

/** Runs these in their order, at most `RUNS_AT_ONCE` at once. */
async function runSeveral(tasks) {
  const waiting = [...tasks];
  const runNext = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task();
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, runNext));
}

function runNode(args) {
  return runProgram(process.execPath, args, { cwd: root, limitMs: LIMITS_MS.build });
}

/** Runs a TypeScript program; its output is printed only if it fails. */
async function runQuietly(args, limitMs) {
  const startedMs = performance.now();
  const program = ['--import=tsx/esm', ...args];
  const { status, signal, output } = await runCollecting(process.execPath, program, { cwd: root, limitMs });
  if (status !== 0) console.log(`${output}ended by ${signal ?? `code ${status}`}`);
  return { status, ms: performance.now() - startedMs };
}

function countOne(name, { status, ms }) {
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${(ms / 1000).toFixed(1)} s)`);
  if (status === 0) passed += 1;
  else failed += 1;
}

/** Runs these files in one process; resolves with its exit and its counts, under the name of `part` if given. */
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
 * Forwards standard error of the tests, except the panics of Temporal's core when the timeout of a local activity fires
 * after its worker was shut down. They are harmless and come by the hundred, so they are only counted.
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
