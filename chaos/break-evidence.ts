// The means of every breakage: rows changed past all constraints, and lines of evidence changed or removed.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Client } from 'pg';
import { request } from 'undici';
import type { Evidence } from './checker/evidence.ts';
import type { RuleName } from './checker/violation.ts';
import type { Topology } from './topology.ts';

/** A copy of the evidence, which may be changed past every constraint and trigger. */
export type Copy = { readonly evidence: Evidence; readonly db: Client; readonly topology: Topology };

export type Breakage = {
  /** Completes "the checker names …". */
  readonly name: string;
  readonly rule: RuleName;
  /** Breaks the copy; returns the id that the violation must name. */
  readonly apply: (copy: Copy) => Promise<string>;
};

/** Of MTN, which knows each payment by our reference. */
export function firstPayment(condition: string): string {
  return `SELECT id, operator_reference AS reference, idempotency_key AS key, phone, amount_minor::text AS amount
    FROM payments WHERE operator = 'mtn-momo' AND ${condition} ORDER BY id LIMIT 1`;
}

export const PAID_COLLECTION = firstPayment(`kind = 'collection' AND state = 'succeeded' AND amount_minor < 1000000`);

/** For each rule, its breakages by name, and how each is applied. */
export type BreakagesByRule = Readonly<Partial<Record<RuleName, Readonly<Record<string, Breakage['apply']>>>>>;

export type Line = Readonly<Record<string, unknown>>;

export async function rowOf(
  { db }: Copy,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, string>> {
  const { rows } = await db.query<Record<string, string>>(sql, [...values]);
  const [row] = rows;
  if (!row) throw new Error(`there is nothing to break: ${sql}`);
  return row;
}

/** Applies each statement to the row that `select` finds, whose id is $1; returns that id. */
export function change(select: string, ...statements: readonly string[]): Breakage['apply'] {
  return async (copy) => {
    const { id = '' } = await rowOf(copy, select);
    for (const sql of statements) {
      const { rowCount } = await copy.db.query(sql, [id]);
      if (rowCount === 0) throw new Error(`nothing was broken: ${sql}`);
    }
    return id;
  };
}

export async function eventOfPaid(copy: Copy): Promise<string> {
  const { id = '' } = await rowOf(
    copy,
    `SELECT id FROM events WHERE type = 'collection.succeeded' ORDER BY id LIMIT 1`,
  );
  return id;
}

export async function doubleEvent(copy: Copy): Promise<string> {
  const id = await eventOfPaid(copy);
  const second = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  await copy.db.query('ALTER TABLE events DROP CONSTRAINT events_one_per_change');
  await copy.db.query(
    `INSERT INTO events (id, merchant_id, type, payment_id, resource_version, body, created_at)
     SELECT $2, merchant_id, type, payment_id, resource_version, replace(body, $1, $2), created_at
     FROM events WHERE id = $1`,
    [id, second],
  );
  return second;
}

// As a server would that drew a new reference for a repeated send.
export async function sendAgain(copy: Copy): Promise<string> {
  const { id = '', phone, amount } = await rowOf(copy, PAID_COLLECTION);
  const { topology, evidence } = copy;
  const settings = topology.environment;
  const base = `${topology.sandbox.url}/collection`;
  const subscription = {
    'Ocp-Apim-Subscription-Key': settings['MALIPO_SANDBOX_MTN_COLLECTION_SUBSCRIPTION_KEY'] ?? '',
  };
  const user = `${settings['MALIPO_SANDBOX_MTN_COLLECTION_API_USER'] ?? ''}:${settings['MALIPO_SANDBOX_MTN_COLLECTION_API_KEY'] ?? ''}`;
  const token = await request(`${base}/token/`, {
    method: 'POST',
    headers: { ...subscription, Authorization: `Basic ${Buffer.from(user).toString('base64')}` },
  });
  const { access_token: accessToken } = (await token.body.json()) as { access_token: string };
  const reference = randomUUID();
  const sent = await request(`${base}/v1_0/requesttopay`, {
    method: 'POST',
    headers: {
      ...subscription,
      Authorization: `Bearer ${accessToken}`,
      'Content-Type': 'application/json',
      'X-Reference-Id': reference,
      'X-Target-Environment': 'sandbox',
    },
    body: JSON.stringify({
      amount,
      currency: 'UGX',
      externalId: reference,
      payer: { partyIdType: 'MSISDN', partyId: phone },
      payerMessage: 'Payment',
      payeeNote: 'Payment',
    }),
  });
  if (sent.statusCode !== 202) throw new Error(`the sandbox operator refused it: ${await sent.body.text()}`);
  await sent.body.dump();
  writeFileSync(evidence.operatorFile, readFileSync(topology.evidence.operatorFile));
  return id;
}

export function eventIdIn({ headers }: Line): unknown {
  return (headers as Line)['malipo-event-id'];
}

export function isSame(line: Line, other: Line | undefined): boolean {
  return JSON.stringify(line) === JSON.stringify(other);
}

export function linesOf(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}

export function changeLines(file: string, changed: (line: Line) => readonly Line[]): void {
  const lines = linesOf(file).flatMap((line) => changed(line).map((each) => `${JSON.stringify(each)}\n`));
  writeFileSync(file, lines.join(''));
}

/**
 * Removes the operator's record of the payment that `select` finds with its `reference`, as if the operator had never
 * received it, and then changes the row as `change` does.
 */
export function forgetAtOperator(select: string, ...statements: readonly string[]): Breakage['apply'] {
  return async (copy) => {
    const { reference } = await rowOf(copy, select);
    changeLines(copy.evidence.operatorFile, (line) => (line['operatorReference'] === reference ? [] : [line]));
    return change(select, ...statements)(copy);
  };
}

type EventBody = { readonly data: { late?: boolean; readonly object: Record<string, unknown> } };

/** Changes the body of the first event of this type that has the text, or of the first at all. */
export function changeEvent(
  { type, text = '' }: { readonly type: string; readonly text?: string },
  edit: (body: EventBody) => void,
): Breakage['apply'] {
  return async (copy) => {
    const { id = '', body: before = '' } = await rowOf(
      copy,
      'SELECT id, body FROM events WHERE type = $1 AND position($2 in body) > 0 ORDER BY id LIMIT 1',
      [type, text],
    );
    const changed = JSON.parse(before) as EventBody;
    edit(changed);
    const body = JSON.stringify(changed);
    if (body === before) throw new Error(`nothing was broken in ${id}`);
    await copy.db.query('UPDATE events SET body = $2 WHERE id = $1', [id, body]);
    return id;
  };
}

export function appendLine(file: string, line: object): void {
  writeFileSync(file, `${JSON.stringify(line)}\n`, { flag: 'a' });
}
