// A second try, alone, for the tests that failed while other runs shared the machine.

/** More failed files than these are no accident of load: a stalled machine fails what four runs do at that moment. */
export const MOST_FILES = 12;

/**
 * Runs the files of failed tests once more, with nothing beside them: several runs share the machine, and its load must not
 * decide. Returns the failures that did not come back, for the reader; their tests now count as passed in `runs`.
 * `run(files, { part, env })` is what made `runs`. Does nothing where more than a few files failed, or no file's tests did.
 */
export async function runFailedOnceMore(runs, run) {
  const isKnown = ({ result }) => !result.failedFiles.includes(null);
  const failedRuns = runs.filter((each) => each.result.failures.length > 0 && isKnown(each));
  const files = failedRuns.reduce((sum, { result }) => sum + result.failedFiles.length, 0);
  if (files > MOST_FILES) return [];
  const passedAlone = [];
  for (const failed of failedRuns) {
    const again = await run(failed.result.failedFiles, { part: 'once more', env: failed.env });
    if (again.status !== 0 || again.result.passed === 0) continue;
    passedAlone.push(...failed.result.failures);
    failed.status = 0;
    failed.result.passed += failed.result.failed;
    Object.assign(failed.result, { failed: 0, failures: [] });
  }
  return passedAlone;
}
