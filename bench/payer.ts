// Payers of a benchmark: they take their time at the handset, cancel, or never answer, as people do.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { CollectionId } from '../src/domain/ids.ts';
import type { BenchEnvironment } from './bench-environment.ts';

/** Of all payers, and of the callbacks about those who answer. */
const SHARES = { neverAnswers: 0.25, cancels: 0.08, callbackLost: 0.03 } as const;
/** The time to answer is log-normal. */
const ANSWER_SECONDS = { median: 20, p95: 90 } as const;
/** So many standard deviations above the mean, 95 of 100 normal values are below. */
const DEVIATIONS_OF_P95 = 1.645;
const SPREAD = Math.log(ANSWER_SECONDS.p95 / ANSWER_SECONDS.median) / DEVIATIONS_OF_P95;

/** Rows of the sandbox by the end of the phone. The first two wait for a person, if the sandbox decides late enough by itself. */
const PHONES = {
  /** One callback. */
  answers: '256772000099',
  /** No callback. */
  answersSilently: '256772000004',
  /** The operator ends the prompt after its own time. */
  neverAnswers: '256772000003',
} as const;

export type Payer = {
  readonly phone: string;
  /** Null: never. */
  readonly answer: { readonly choice: 'approve' | 'cancel'; readonly afterMs: number } | null;
};

export const PAYS_AT_ONCE: Payer = { phone: PHONES.answers, answer: { choice: 'approve', afterMs: 100 } };

/**
 * The payers of a run, one after another: the same ones in each run, so that two runs compare. Anyone who takes longer than the operator
 * keeps the prompt open never answers.
 */
export function payersWhoAnswerWithin(windowMs: number): () => Payer {
  let drawn = 0;
  return () => {
    const [kind, callback, ...ofTime] = sharesOf(drawn++);
    const afterMs = Math.exp(Math.log(ANSWER_SECONDS.median) + SPREAD * normalOf(ofTime)) * 1000;
    if (kind < SHARES.neverAnswers || afterMs >= windowMs) return { phone: PHONES.neverAnswers, answer: null };
    const choice = kind < SHARES.neverAnswers + SHARES.cancels ? 'cancel' : 'approve';
    return {
      phone: callback < SHARES.callbackLost ? PHONES.answersSilently : PHONES.answers,
      answer: { choice, afterMs },
    };
  };
}

/** Four even values above 0 and at most 1, always the same of one number. */
function sharesOf(index: number): [number, number, number, number] {
  const bytes = createHash('sha256').update(`payer ${index}`).digest();
  const share = (at: number) => (bytes.readUInt32LE(at) + 1) / 2 ** 32;
  return [share(0), share(4), share(8), share(12)];
}

/** A normal value of two even ones, by Box and Muller. */
function normalOf([a, b]: [number, number]): number {
  return Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b);
}

const PROMPT_POLL_MS = 500;

/** Answers at the sandbox's handset page, once the prompt is there: a service under load sends it later. */
export async function answerPrompt(
  { db, environment }: Pick<BenchEnvironment, 'db' | 'environment'>,
  id: CollectionId,
  choice: 'approve' | 'cancel',
): Promise<void> {
  const { rows } = await db.pool.query<{ reference: string }>(
    'SELECT operator_reference AS reference FROM payments WHERE id = $1',
    [id],
  );
  const body = new URLSearchParams({ reference: rows[0]?.reference ?? '', choice, pin: '12345' }).toString();
  for (;;) {
    const response = await request(`http://127.0.0.1:${environment['MALIPO_SANDBOX_PORT']}/sandbox/handset`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    await response.body.dump();
    if (response.statusCode === 303) return;
    if (response.statusCode !== 404) throw new Error(`the handset page responded ${response.statusCode}`);
    await sleep(PROMPT_POLL_MS);
  }
}
