// A second try, alone, for the files of failed tests: it tells a failure that comes back from one that came from what ran beside it.

/** More failed files than these are no accident of load: a stalled machine fails what four runs do at that moment. */
export const MOST_FILES = 12;

/**
 * Runs the files of failed tests once more, with nothing beside them, and returns the failures that did not come back. They stay
 * failures: such a test decides by timing, or the code has a race. `run(files, { part, env })` is what made `runs`. Does nothing where
 * more than a few files failed, or no file's tests did.
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
