// Ways in which a service could be broken, each done to the evidence of a good run: the checker must name every one.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Client as TemporalClient, Connection } from '@temporalio/client';
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

const PAID_COLLECTION = `SELECT id FROM collections WHERE state = 'succeeded' AND amount_minor < 1000000 ORDER BY id LIMIT 1`;
const PAID_PAYOUT = `SELECT id FROM payouts WHERE state = 'succeeded' ORDER BY id LIMIT 1`;
const UNDECIDED_PAYOUT = `SELECT id FROM payouts WHERE state = 'reconciling' ORDER BY id LIMIT 1`;

export const BREAKAGES: readonly Breakage[] = [
  {
    name: 'a collection that was sent under a second reference',
    rule: 'sent_twice',
    apply: sendAgain,
  },
  {
    name: 'a prompt that was raised twice under one reference',
    rule: 'sent_twice',
    apply: async (copy) => {
      const { id = '', reference } = await rowOf(
        copy,
        `SELECT id, operator_reference AS reference FROM (${PAID_COLLECTION}) AS c
        JOIN collections USING (id)`,
      );
      changeLines(copy.evidence.operatorFile, (line) =>
        line['operatorReference'] === reference ? [{ ...line, promptsRaised: 2 }] : [line],
      );
      return id;
    },
  },
  {
    name: 'an entry of the ledger that was changed',
    rule: 'transfers_wrong',
    apply: (copy) =>
      change(
        copy,
        PAID_COLLECTION,
        `UPDATE ledger_transfers SET amount_minor = amount_minor + 1 WHERE collection_id = $1`,
      ),
  },
  {
    name: 'a balance that was changed',
    rule: 'balance_differs_from_entries',
    apply: (copy) =>
      change(
        copy,
        `SELECT id FROM ledger_accounts WHERE kind = 'available' ORDER BY id LIMIT 1`,
        'UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE id = $1',
      ),
  },
  {
    name: 'money that was created by a transfer and its balance together',
    rule: 'balance_differs_from_operator',
    apply: async (copy) => {
      const id = await change(
        copy,
        `SELECT id FROM ledger_accounts WHERE kind = 'available' ORDER BY id LIMIT 1`,
        'UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE id = $1',
      );
      await copy.db.query(
        `UPDATE ledger_transfers SET amount_minor = amount_minor + 1
         WHERE id = (SELECT min(t.id) FROM ledger_transfers t WHERE credit_account_id = $1 AND kind = 'collection_paid')`,
        [id],
      );
      return id;
    },
  },
  {
    name: 'an event that was deleted',
    rule: 'event_missing',
    apply: (copy) =>
      change(copy, PAID_COLLECTION, 'DELETE FROM events WHERE collection_id = $1 AND resource_version = 1'),
  },
  {
    name: 'an event that was doubled',
    rule: 'event_surplus',
    apply: doubleEvent,
  },
  {
    name: 'a delivery that counts as delivered and was never sent',
    rule: 'webhook_not_received',
    apply: async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) => (eventIdIn(line) === id ? [] : [line]));
      return id;
    },
  },
  {
    name: 'a webhook whose bytes are not those of its event',
    rule: 'webhook_wrong',
    apply: async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) =>
        eventIdIn(line) === id ? [{ ...line, body: Buffer.from('{}').toString('base64') }] : [line],
      );
      return id;
    },
  },
  {
    name: 'a delivery that is still owed',
    rule: 'delivery_unfinished',
    apply: (copy) =>
      change(
        copy,
        'SELECT id FROM deliveries ORDER BY id LIMIT 1',
        `UPDATE deliveries SET state = 'pending', next_attempt_at = now() WHERE id = $1`,
      ),
  },
  {
    name: 'an accepted request that was lost',
    rule: 'accepted_request_lost',
    apply: (copy) => change(copy, PAID_COLLECTION, 'DELETE FROM collections WHERE id = $1'),
  },
  {
    name: 'a payment that nobody requested',
    rule: 'row_without_request',
    apply: async (copy) => {
      const { id = '', key } = await rowOf(
        copy,
        `SELECT id, idempotency_key AS key FROM (${PAID_COLLECTION}) AS c
        JOIN collections USING (id)`,
      );
      changeLines(copy.evidence.journalFile, (line) => (line['key'] === key ? [] : [line]));
      return id;
    },
  },
  {
    name: 'a repeated request that got other bytes',
    rule: 'replay_differs',
    apply: (copy) => {
      const [first] = linesOf(copy.evidence.journalFile).filter(
        ({ type, status }) => type === 'result' && status === 202,
      );
      const request = linesOf(copy.evidence.journalFile).find((line) => line['number'] === first?.['number']);
      changeLines(copy.evidence.journalFile, (line) =>
        line === first || isSame(line, first) ? [line, { ...line, body: `${String(line['body'])} ` }] : [line],
      );
      return Promise.resolve(String(request?.['key']));
    },
  },
  {
    name: 'a state that contradicts the operator',
    rule: 'state_contradicts_operator',
    apply: (copy) =>
      change(
        copy,
        PAID_COLLECTION,
        `UPDATE collections SET state = 'expired', failure_code = 'unknown', operator_receipt = NULL,
           previous_state = 'prompted' WHERE id = $1`,
      ),
  },
  {
    name: 'held money that was given back while the operator may still pay',
    rule: 'state_contradicts_operator',
    apply: (copy) =>
      change(
        copy,
        UNDECIDED_PAYOUT,
        `UPDATE payouts SET state = 'failed', failure_code = 'unknown', previous_state = 'reconciling' WHERE id = $1`,
      ),
  },
  {
    name: 'an expiry that says that nothing was sent',
    rule: 'state_contradicts_operator',
    apply: (copy) =>
      change(
        copy,
        `SELECT id FROM collections WHERE state = 'expired' ORDER BY id LIMIT 1`,
        `UPDATE collections SET failure_code = 'service_unavailable', send_begun_at = NULL WHERE id = $1`,
      ),
  },
  {
    name: 'a payout that was sent without a release',
    rule: 'sent_without_release',
    apply: (copy) => change(copy, PAID_PAYOUT, 'DELETE FROM payout_approvals WHERE payout_id = $1'),
  },
  {
    name: 'a decision without its entry in the audit log',
    rule: 'audit_missing',
    apply: (copy) => change(copy, PAID_PAYOUT, 'DELETE FROM audit_entries WHERE subject_id = $1'),
  },
  {
    name: 'a server that ended by itself',
    rule: 'process_ended',
    apply: ({ evidence }) => {
      const end = { name: 'server 0', atMs: Date.now(), reason: 'ended with code 1', wasReady: true };
      writeFileSync(evidence.processFile, `${JSON.stringify(end)}\n`, { flag: 'a' });
      return Promise.resolve('server 0');
    },
  },
  // The last one, because the workflow is gone for the others too.
  {
    name: 'a payment that is stuck, its workflow gone and no check due',
    rule: 'payment_stuck',
    apply: async (copy) => {
      const id = await change(copy, UNDECIDED_PAYOUT, 'UPDATE payouts SET check_due_at = NULL WHERE id = $1');
      const { temporalAddress: address, namespace } = copy.evidence;
      const connection = await Connection.connect({ address });
      const { workflow } = new TemporalClient({ connection, namespace });
      for await (const { workflowId } of workflow.list({
        query: `ExecutionStatus = 'Running' AND MalipoResourceId = '${id}'`,
      })) {
        await workflow.getHandle(workflowId).terminate('a breakage for the checker');
      }
      await connection.close();
      return id;
    },
  },
];

type Line = Readonly<Record<string, unknown>>;

async function rowOf({ db }: Copy, sql: string, values: readonly unknown[] = []): Promise<Record<string, string>> {
  const { rows } = await db.query<Record<string, string>>(sql, [...values]);
  const [row] = rows;
  if (!row) throw new Error(`there is nothing to break: ${sql}`);
  return row;
}

/** Applies `sql` to the row that `select` finds; returns the row's id. */
async function change(copy: Copy, select: string, sql: string): Promise<string> {
  const { id = '' } = await rowOf(copy, select);
  const { rowCount } = await copy.db.query(sql, [id]);
  if (rowCount === 0) throw new Error(`nothing was broken: ${sql}`);
  return id;
}

async function eventOfPaid(copy: Copy): Promise<string> {
  const { id = '' } = await rowOf(
    copy,
    `SELECT id FROM events WHERE type = 'collection.succeeded' ORDER BY id LIMIT 1`,
  );
  return id;
}

async function doubleEvent(copy: Copy): Promise<string> {
  const id = await eventOfPaid(copy);
  const second = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  await copy.db.query('ALTER TABLE events DROP CONSTRAINT events_one_per_change');
  await copy.db.query(
    `INSERT INTO events (id, merchant_id, type, collection_id, resource_version, body, created_at)
     SELECT $2, merchant_id, type, collection_id, resource_version, replace(body, $1, $2), created_at
     FROM events WHERE id = $1`,
    [id, second],
  );
  return second;
}

// As a server would that draws a new reference for a repeated send.
async function sendAgain(copy: Copy): Promise<string> {
  const {
    id = '',
    phone,
    amount,
  } = await rowOf(
    copy,
    `SELECT id, phone, amount_minor::text AS amount FROM (${PAID_COLLECTION}) AS c
    JOIN collections USING (id)`,
  );
  const { topology, evidence } = copy;
  const settings = topology.environment;
  const base = `${topology.sandbox.url}/collection`;
  const subscription = { 'Ocp-Apim-Subscription-Key': settings['MALIPO_MTN_MOMO_COLLECTION_SUBSCRIPTION_KEY'] ?? '' };
  const user = `${settings['MALIPO_MTN_MOMO_COLLECTION_API_USER'] ?? ''}:${settings['MALIPO_MTN_MOMO_COLLECTION_API_KEY'] ?? ''}`;
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

function eventIdIn({ headers }: Line): unknown {
  return (headers as Line)['malipo-event-id'];
}

function isSame(line: Line, other: Line | undefined): boolean {
  return JSON.stringify(line) === JSON.stringify(other);
}

function linesOf(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}

function changeLines(file: string, changed: (line: Line) => readonly Line[]): void {
  const lines = linesOf(file).flatMap((line) => changed(line).map((each) => `${JSON.stringify(each)}\n`));
  writeFileSync(file, lines.join(''));
}
