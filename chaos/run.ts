// Entry of `npm run chaos`.
import { runCampaign } from './campaign.ts';
import { proveChecker } from './prove.ts';
import { readOptions } from './options.ts';
import { formatReport, violationLines, writeReport } from './report.ts';

function reporter(): (line: string) => void {
  const startedAtMs = Date.now();
  return (line) => {
    const seconds = ((Date.now() - startedAtMs) / 1000).toFixed(1).padStart(7);
    process.stdout.write(`${seconds} s  ${line}\n`);
  };
}

function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        reject(new Error(`ended by ${signal}`));
      });
    }
  });
  // The campaign waits for it once everything runs; until then nothing handles it.
  interrupted.catch(() => undefined);
  return interrupted;
}

const options = readOptions();
const report = reporter();
if (options.prove) process.exit((await proveChecker(report)) ? 0 : 1);
report(`seed ${options.seed}`);
const outcome = await runCampaign(options, report, interruption()).catch((error: unknown) => {
  process.stderr.write(`the campaign did not finish: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
process.stdout.write(`\n${formatReport(outcome)}\n`);
if (options.report !== undefined) writeReport(options.report, outcome);
const { violations } = outcome.judgement;
process.stdout.write(violations.length === 0 ? 'no violations\n' : `${violationLines(violations)}\n`);
process.exit(violations.length === 0 ? 0 : 1);
