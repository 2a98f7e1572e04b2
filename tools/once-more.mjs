// Runs the files of failed tests again, alone, to distinguish lasting failures from those caused by parallel runs.

/** More failed files than these are no accident of load: a stalled machine fails the tests of four runs at once. */
export const MOST_FILES = 12;

/**
 * Runs the files of failed tests once more, with nothing in parallel, and returns the failures that did not recur. They
 * stay failures: such a test decides by timing, or the code has a race. `run(files, { part, env })` is the function
 * that made `runs`. Does nothing if more than a few files failed, or no file's tests did.
 */
export async function runFailedOnceMore(runs, run) {
  const isKnown = ({ result }) => !result.failedFiles.includes(null);
  const failedRuns = runs.filter((each) => each.result.failures.length > 0 && isKnown(each));
  const files = failedRuns.reduce((sum, { result }) => sum + result.failedFiles.length, 0);
  if (files > MOST_FILES) return [];
  const passedAlone = [];
  for (const { result, env } of failedRuns) {
    const again = await run(result.failedFiles, { part: 'once more', env });
    if (again.status === 0 && again.result.passed > 0) passedAlone.push(...result.failures);
  }
  return passedAlone;
}
