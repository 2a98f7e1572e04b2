// The export of personal data: it has a row of every table that names the number or the person, and nothing secret.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TABLES_OF_PERSON, type PersonalRecord } from '../../../src/db/accounts/personal-data.ts';
import { exportPersonalData } from '../../../src/operations/accounts/export-personal-data.ts';
import { call } from '../../support/api.ts';
import { pay, untilState, type Payment } from '../../support/payments.ts';
import { untilAllReceived } from '../../support/payment-events.ts';
import { fund, release, requestPayout, untilPayoutState } from '../../support/payouts.ts';
import { addPerson, logIn, type TestPerson } from '../../support/people.ts';
import { AMINA } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';

/** What must never leave the database. */
const SECRET = /sha256|_sealed|password_hash|_hash/;

describe('the export of personal data', function () {
  this.timeout(200_000);
  const testEnv = useTestEnvironment();
  let approver: TestPerson;
  let collection: Payment;
  let payout: Payment;

  before(async () => {
    const { merchant } = testEnv;
    approver = await addPerson(testEnv, merchant.id, ['approver', 'viewer']);
    await fund(testEnv, merchant, 100_000);
    const browser = await logIn(testEnv, approver);
    // A log-in that failed is counted under the e-mail address.
    await call(testEnv.baseUrl, 'POST', '/v1/console/session', {
      json: { email: approver.email, password: 'not the password' },
      idempotencyKey: null,
    });
    collection = await pay(testEnv, '000');
    payout = await requestPayout(testEnv, '000');
    await release(browser, payout);
    await untilState(testEnv, collection, 'succeeded');
    await untilPayoutState(testEnv, payout, 'succeeded', 60_000);
    await untilAllReceived(testEnv, collection);
  });

  const exportOf = (subject: { readonly phone: string } | { readonly email: string }) =>
    exportPersonalData(testEnv.db, { subject, staff: AMINA, at: new Date() });

  /** The tables that have a row with this text in any column. */
  async function tablesWith(text: string): Promise<string[]> {
    const { rows: tables } = await testEnv.db.pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rowCount } = await testEnv.db.pool.query(`SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`, [
        `%${text}%`,
      ]);
      if (rowCount === 1) found.push(name);
    }
    return found;
  }

  function assertComplete(records: readonly PersonalRecord[], tables: readonly string[]): void {
    const exported = new Set(records.map(({ table }) => table));
    assert.deepEqual(
      tables.filter((table) => !exported.has(table)),
      [],
    );
    const columns = records.flatMap(({ row }) => Object.keys(row));
    assert.deepEqual(
      columns.filter((column) => SECRET.test(column)),
      [],
    );
  }

  it('of a number has a row of every table that names the number or its payment', async () => {
    for (const { phone, id } of [collection, payout]) {
      // The tables first: the request log is written a moment after the request.
      const tables = [...(await tablesWith(phone)), ...(await tablesWith(id))];
      const records = await exportOf({ phone });
      assert.ok(tables.includes('events') && tables.includes('operator_callbacks'), tables.join(', '));
      assertComplete(records, tables);
      const others = records.filter(({ row }) => row['phone'] !== undefined && row['phone'] !== phone);
      assert.deepEqual(others, []);
    }
  });

  it('of a person has a row of every table that names them', async () => {
    const tables = [...(await tablesWith(approver.id)), ...(await tablesWith(approver.email))];
    const records = await exportOf({ email: approver.email });
    // Of an event only the values of the payout's row; they are the payee's.
    assertComplete(
      records,
      tables.filter((table) => table !== 'events' && table !== 'idempotency_keys'),
    );
    for (const table of ['users', 'members', 'sessions', 'attempt_counters', 'approvals', 'audit_entries']) {
      assert.ok(
        records.some((record) => record.table === table),
        table,
      );
    }
    assert.ok(!JSON.stringify(records).includes(payout.phone), 'it shows no payee');
  });

  it('of a person reads every table that refers to users or members', async () => {
    const { rows } = await testEnv.db.pool.query<{ name: string }>(
      `SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint
       WHERE contype = 'f' AND confrelid IN ('users'::regclass, 'members'::regclass) ORDER BY 1`,
    );
    const missing = rows.map(({ name }) => name).filter((name) => !TABLES_OF_PERSON.has(name));
    assert.deepEqual(missing, []);
  });

  it('has nothing about a number or a person that is not known', async () => {
    assert.deepEqual(await exportOf({ phone: '256770000000' }), []);
    assert.deepEqual(await exportOf({ email: `${randomUUID()}@nobody.example` }), []);
  });

  it('is in the audit log of every merchant concerned, with its author and without the number', async () => {
    const other = await testEnv.addMerchant();
    const { phone } = collection;
    await untilState(testEnv, await pay(testEnv, '000', { merchant: other, fields: { phone } }), 'succeeded');
    await exportOf({ phone });
    const { rows } = await testEnv.db.pool.query<{
      merchant_id: string;
      staff: string;
      after: Record<string, unknown>;
    }>(
      `SELECT merchant_id, staff, after FROM audit_entries WHERE action = 'personal_data.exported'
       ORDER BY id DESC LIMIT 2`,
    );
    assert.deepEqual(
      rows.map(({ merchant_id, staff }) => [merchant_id, staff]).sort(),
      [
        [testEnv.merchant.id, AMINA.name],
        [other.id, AMINA.name],
      ].sort(),
    );
    for (const { after } of rows) {
      assert.ok(Number(after['records']) > 0);
      assert.ok(!JSON.stringify(after).includes(phone));
    }
  });
});
