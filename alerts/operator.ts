// What the operator's staff do: decide a payment, or correct their records of it.
import { appendFileSync, readFileSync } from 'node:fs';
import { change } from './database.ts';
import type { Stage } from './stage.ts';

/** Of phones whose payments wait for a person. */
export const UNDECIDED_ROW = '099';

/** A line of the operator's journal; the last one of a reference counts. */
export type Recorded = Readonly<Record<string, unknown>> & {
  readonly operatorReference: string;
  readonly state: string;
  readonly promptsRaised: number;
  readonly transfersTaken: number;
};

/** The operator pays it. */
export async function decideAtOperator(stage: Stage, id: string): Promise<void> {
  const response = await fetch(`${stage.topology.sandbox.url}/sandbox/transactions`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ reference: await referenceOf(stage, id), choice: 'approve' }).toString(),
  });
  if (response.status !== 303) throw new Error(`the operator did not decide ${id}: ${response.status}`);
}

/** From now on the operator's records of the payment say so. */
export async function correctAtOperator(stage: Stage, id: string, correction: object): Promise<void> {
  const { sandbox, evidence } = stage.topology;
  const reference = await referenceOf(stage, id);
  await sandbox.stop();
  const recorded = recordsOf(evidence.operatorFile).get(reference);
  appendFileSync(evidence.operatorFile, `${JSON.stringify({ ...recorded, ...correction })}\n`);
  await sandbox.start();
}

/** What the operator has of each payment, by its reference. */
export function recordsOf(journalFile: string): ReadonlyMap<string, Recorded> {
  const lines = readFileSync(journalFile, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as Recorded);
  return new Map(records.map((record) => [record.operatorReference, record]));
}

async function referenceOf(stage: Stage, id: string): Promise<string> {
  const sql = 'SELECT operator_reference FROM payments WHERE id = $1';
  const [found] = await change<{ operator_reference: string }>(stage, sql, [id]);
  if (!found) throw new Error(`there is no ${id}`);
  return found.operator_reference;
}
