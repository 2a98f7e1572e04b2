// `npm run chaos -- --prove`: the checker finds nothing in a good run, and every way in which its evidence is broken.
import { BREAKAGES } from './breakages.ts';
import { violationLines } from './report.ts';
import { runSmall } from './small-run.ts';

/** Whether the checker was right every time. */
export async function proveChecker(report: (line: string) => void): Promise<boolean> {
  const run = await runSmall(report);
  try {
    const { violations } = run.judgement;
    report(violations.length === 0 ? 'ok      nothing is found in a good run' : `FAILED  in a good run is found:`);
    if (violations.length > 0) report(violationLines(violations));
    let isRight = violations.length === 0;
    for (const breakage of BREAKAGES) {
      const { judgement, id } = await run.judgeBroken(breakage);
      const found = judgement.violations.filter((violation) => violation.rule === breakage.rule && violation.id === id);
      report(`${found.length > 0 ? 'ok    ' : 'FAILED'}  ${breakage.name} (${breakage.rule} ${id})`);
      if (found.length > 0) continue;
      isRight = false;
      report(violationLines(judgement.violations));
    }
    return isRight;
  } finally {
    await run.stop();
  }
}
