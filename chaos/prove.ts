// `npm run chaos -- --prove`: the checker finds nothing in a good run, but each falsification and broken service.
import { BREAKAGES } from './breakages.ts';
import { BROKEN_SERVICES, type BrokenService } from './broken-services.ts';
import { violationLines } from './report.ts';
import { runBroken, runSmall } from './small-run.ts';

type Report = (line: string) => void;

/** They wait more than they work. */
const RUNS_AT_ONCE = 2;

/** Whether the checker was right every time. */
export async function proveChecker(report: Report): Promise<boolean> {
  const runs = [
    () => proveByEvidence(report),
    ...BROKEN_SERVICES.map((service) => () => proveByService(service, report)),
  ];
  const results: boolean[] = [];
  const carryOut = async (): Promise<void> => {
    for (let run = runs.shift(); run; run = runs.shift()) {
      const isRight = await run().catch((error: unknown) => {
        report(`FAILED  a run did not finish: ${error instanceof Error ? error.message : String(error)}`);
        return false;
      });
      results.push(isRight);
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, carryOut));
  return results.every(Boolean);
}

async function proveByService(service: BrokenService, report: Report): Promise<boolean> {
  const { violations } = await runBroken(service, () => undefined);
  const found = violations.find(({ rule }) => rule === service.rule);
  report(`${found ? 'ok    ' : 'FAILED'}  a service that ${service.name} (${service.rule} ${found?.id ?? ''})`);
  if (!found) report(violationLines(violations));
  return found !== undefined;
}

async function proveByEvidence(report: Report): Promise<boolean> {
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
