// Mocha's reporter for the whole run: a line per folder of tests, the failures where they happen and once more at the
// end, and a file that says how each folder did. A line per test would bury the one that matters among thousands.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

const { Base } = Mocha.reporters;
/** Global hooks stop the servers of the run within this time, unless the option `endLimitMs` is given. */
const END_LIMIT_MS = 120_000;

/** Named export only: mocha takes it through the default that CommonJS interop gives. */
class PartsReporter extends Base {
  constructor(runner, options) {
    super(runner, options);
    const totals = { passed: 0, failed: 0, parts: {}, failures: [], failedFiles: [], files: {} };
    let lastMs = performance.now();
    let current = '';
    const count = (test, outcome) => {
      const part = options.reporterOptions.part ?? relative('test', test.file ?? 'test/unknown').split('/')[0];
      if (part !== current) this.printPart(current, totals.parts[current]);
      current = part;
      const entry = (totals.parts[part] ??= { ms: 0, passed: 0, failed: 0 });
      // Hooks count with the test that follows them: the time between two ends is one test's, with all it needed.
      const ms = performance.now() - lastMs;
      lastMs += ms;
      entry.ms += ms;
      const file = relative('.', test.file ?? 'test/unknown');
      totals.files[file] = (totals.files[file] ?? 0) + ms;
      entry[outcome] += 1;
      totals[outcome] += 1;
    };
    runner.on('pass', (test) => count(test, 'passed'));
    runner.on('fail', (test, error) => {
      count(test, 'failed');
      const failure = `${test.fullTitle()}: ${error?.message ?? error}`;
      totals.failures.push(failure);
      // Without a file it is a hook of the whole run.
      const file = test.file === undefined ? null : relative('.', test.file);
      if (!totals.failedFiles.includes(file)) totals.failedFiles.push(file);
      console.log(`FAILED ${failure}`);
    });
    runner.once('end', () => {
      this.printPart(current, totals.parts[current]);
      if (totals.failed > 0) Base.list(this.failures);
      writeFileSync(options.reporterOptions.file, JSON.stringify(totals));
      // Not reached by a run that ends by itself: something that a failed hook left open keeps it from ending.
      setTimeout(
        () => {
          console.log(`FAILED the run does not end by itself; open: ${process.getActiveResourcesInfo().join(' ')}`);
          process.exit(1);
        },
        Number(options.reporterOptions.endLimitMs ?? END_LIMIT_MS),
      ).unref();
    });
  }

  printPart(name, entry) {
    if (entry)
      console.log(
        `${entry.failed === 0 ? 'ok    ' : 'FAILED'} ${name} (${entry.passed} passed, ${entry.failed} failed)`,
      );
  }
}

export { PartsReporter as default };
