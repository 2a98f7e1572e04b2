// Mocha's reporter for the whole run: the usual one, and a file that says how each folder of tests did and how long it took.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

/** Named export only: mocha takes it through the default that CommonJS interop gives. */
class PartsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const totals = { passed: 0, failed: 0, parts: {} };
    let lastMs = performance.now();
    const count = (test, outcome) => {
      const part = relative('test', test.file ?? 'test/unknown').split('/')[0];
      const entry = (totals.parts[part] ??= { ms: 0, passed: 0, failed: 0 });
      // Hooks count with the test that follows them: the time between two ends is one test's, with all it needed.
      entry.ms += performance.now() - lastMs;
      lastMs = performance.now();
      entry[outcome] += 1;
      totals[outcome] += 1;
    };
    runner.on('pass', (test) => count(test, 'passed'));
    runner.on('fail', (test) => count(test, 'failed'));
    runner.once('end', () => writeFileSync(options.reporterOptions.file, JSON.stringify(totals)));
  }
}

export { PartsReporter as default };
