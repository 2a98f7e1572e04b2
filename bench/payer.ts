// Payers of a benchmark: they take their time, cancel, or never answer, as people do.
import { request } from 'undici';
import type { BenchEnvironment } from './bench-environment.ts';

/** Of a hundred payers so many never answer, so many cancel, and of so many the callback is lost. */
const SHARES = { never: 25, cancels: 8, silent: 3 } as const;
const MEDIAN_SECONDS = 20;
const P95_SECONDS = 90;
/** The standard deviation of the logarithm, of which 95 of 100 are below 1.645. */
const SPREAD = Math.log(P95_SECONDS / MEDIAN_SECONDS) / 1.645;

/** A payer whose prompt waits for a person, and one who pays after the sandbox's own time, without a callback. */
const DECIDES = '256772000099';
const PAYS_SILENTLY = '256772000004';

export type Payer = {
  readonly phone: string;
  readonly choice: 'approve' | 'cancel' | 'never' | 'silent';
  readonly answersAfterMs: number;
};

/** A payer by chance: the time to answer is log-normal. */
export function anyPayer(random: () => number = Math.random): Payer {
  const percent = random() * 100;
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const answersAfterMs = MEDIAN_SECONDS * Math.exp(SPREAD * normal) * 1000;
  if (percent < SHARES.never) return { phone: DECIDES, choice: 'never', answersAfterMs };
  if (percent < SHARES.never + SHARES.cancels) return { phone: DECIDES, choice: 'cancel', answersAfterMs };
  if (percent < SHARES.never + SHARES.cancels + SHARES.silent) {
    return { phone: PAYS_SILENTLY, choice: 'silent', answersAfterMs: MEDIAN_SECONDS * 1000 };
  }
  return { phone: DECIDES, choice: 'approve', answersAfterMs };
}

/** Answers the prompt at the sandbox's handset page. */
export async function answerPrompt(
  { environment }: Pick<BenchEnvironment, 'environment'>,
  reference: string,
  choice: 'approve' | 'cancel',
): Promise<void> {
  const body = new URLSearchParams({ reference, choice, pin: '1234' }).toString();
  const response = await request(`${environment['MALIPO_MTN_MOMO_BASE_URL']}/sandbox/handset`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  await response.body.dump();
  if (response.statusCode !== 303) throw new Error(`the handset answered ${response.statusCode}`);
}
