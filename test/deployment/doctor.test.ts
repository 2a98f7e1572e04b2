// `npm run staff -- doctor`: each condition is really broken on a running deployment, found with its remedy, and mended.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { CHECKS, examine } from '../../src/admin/doctor/doctor.ts';
import { reconciliationScheduleId } from '../../workflows/contract.ts';
import { makeCollection, tamper } from '../db/rows.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { settleDiscrepancy } from '../../src/operations/payments/settle-discrepancy.ts';
import { recordDiscrepancy } from '../../src/operations/payments/record-discrepancy.ts';
import { listOpenRestores } from '../../src/db/platform/fence.ts';
import { addFirstStaff, agree, AMINA } from '../support/staff.ts';
import { temporalClient } from '../support/engines.ts';
import { closeAccount } from '../support/operator-accounts.ts';
import { valuesOf } from '../support/values-of.ts';
import { openTcpLine } from '../support/tcp-line.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { until } from '../engines/throwaway.ts';

type Lines = Readonly<Record<string, readonly string[]>>;

/** What the doctor says is wrong, and what it only notes, by the name of the check. */
function findings(text: string, mark: 'WRONG' | 'note'): Lines {
  const found: Record<string, string[]> = {};
  for (const [, name = '', what = ''] of text.matchAll(new RegExp(`^${mark} +(\\w+(?: \\w+)*?) {2,}(.*)$`, 'gm'))) {
    (found[name] ??= []).push(what);
  }
  return found;
}

describe('npm run staff -- doctor', function () {
  this.timeout(120_000);
  const testEnv = useTestEnvironment();

  const look = async (changed: Readonly<Record<string, string>> = {}) => {
    const { text, exitCode } = await examine({ ...testEnv.environment, ...changed });
    const wrong = findings(text, 'WRONG');
    assert.equal(exitCode, Object.keys(wrong).length > 0 ? 1 : 0, text);
    return { text, wrong, notes: findings(text, 'note') };
  };
  /** It finds this and nothing else, and says what to do. */
  const assertFound = async (name: string, what: RegExp, changed: Readonly<Record<string, string>> = {}) => {
    const { text, wrong } = await look(changed);
    assert.deepEqual(Object.keys(wrong), [name], text);
    assert.match(wrong[name]?.join('\n') ?? '', what);
    const remedy = CHECKS.find((check) => check.name === name)?.remedy;
    assert.ok(remedy !== undefined && text.includes(`→ ${remedy}`), text);
  };
  const sql = (text: string, values: readonly unknown[] = []) => testEnv.db.pool.query(text, [...values]);

  before(async () => {
    // Workers make the schedules, and ask for work, soon after their start.
    await until('everything runs', async () => Object.keys((await look()).wrong).length === 0, 60_000);
  });

  it('reports no fault without a fault, and shows no secret', async () => {
    const { text, wrong } = await look();
    assert.deepEqual(wrong, {}, text);
    assert.match(text, new RegExp(`\\n${CHECKS.length + 2} checked, nothing wrong\\n$`));
    const { password } = new URL(testEnv.environment['MALIPO_DATABASE_URL'] ?? '');
    for (const secret of [password, testEnv.environment['MALIPO_SECRET_KEYS']]) {
      assert.ok(secret !== undefined && secret !== '' && !text.includes(secret));
    }
  });

  it('finds settings with which no server starts, and still checks the reachable parts', async () => {
    await assertFound('settings', /^MALIPO_BACKLOG_MAX_COUNT: /, { MALIPO_BACKLOG_MAX_COUNT: 'many' });
  });

  it('finds an unreachable database, and checks Temporal nevertheless', async () => {
    const line = await openTcpLine(testEnv.environment['MALIPO_DATABASE_URL'] ?? '');
    assert.deepEqual((await look({ MALIPO_DATABASE_URL: line.url })).wrong, {});
    await line.cut();
    const { text, wrong } = await look({ MALIPO_DATABASE_URL: line.url });
    assert.deepEqual(Object.keys(wrong), ['database']);
    assert.match(text, /^– +migrations +skipped: dependency unavailable$/m);
    assert.match(text, /^ok +workers$/m);
  });

  it('finds Temporal unreachable or silent, and checks the database nevertheless', async () => {
    const line = await openTcpLine(`tcp://${testEnv.environment['MALIPO_TEMPORAL_ADDRESS'] ?? ''}`);
    const changed = { MALIPO_TEMPORAL_ADDRESS: new URL(line.url).host };
    assert.deepEqual((await look(changed)).wrong, {});
    line.silence();
    assert.deepEqual(Object.keys((await look(changed)).wrong), ['Temporal']);
    await line.cut();
    const { text, wrong } = await look(changed);
    assert.deepEqual(Object.keys(wrong), ['Temporal'], text);
    assert.match(text, /^– +schedules +skipped: dependency unavailable$/m);
    assert.match(text, /^ok +migrations$/m);
  });

  it('finds a migration that is missing, and one that is of another version', async () => {
    const { rows } = await sql(
      'DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations) RETURNING *',
    );
    const [last] = rows as { name: string; sha256: string; applied_at: Date }[];
    assert.ok(last);
    // Soon the server stops its work, too, and says that it is not ready.
    const found = async () => (await look()).wrong['migrations']?.join() ?? '';
    assert.match(await found(), new RegExp(`the database lacks ${last.name}$`));
    const insert = 'INSERT INTO schema_migrations (name, sha256, applied_at) VALUES ($1, $2, $3)';
    await sql(insert, [last.name, last.sha256, last.applied_at]);
    await sql(insert, ['9999-later.sql', last.sha256, last.applied_at]);
    assert.match(await found(), /migrations that this version does not know: 9999-later\.sql/);
    await sql('UPDATE schema_migrations SET oldest_servers = $1 WHERE name = $2', [last.name, '9999-later.sql']);
    await until('everything runs', async () => Object.keys((await look()).wrong).length === 0, 60_000);
    assert.match(
      (await look()).notes['migrations']?.join() ?? '',
      /beside which this one may run, added 9999-later\.sql/,
    );
    await sql("DELETE FROM schema_migrations WHERE name = '9999-later.sql'");
  });

  it('finds keys that are not those of the rows, by name and by content', async () => {
    const key = randomBytes(32).toString('base64');
    await assertFound('sealing keys', /^[1-9]\d* secrets are sealed with a key/, {
      MALIPO_SECRET_KEYS: `other:${key}`,
    });
    await assertFound('sealing keys', /^[1-9]\d* secrets cannot be opened/, { MALIPO_SECRET_KEYS: `test:${key}` });
    const { wrong } = await look({ MALIPO_ATTESTATION_KEYS: `other:${key}` });
    assert.deepEqual(Object.keys(wrong), ['attestation keys', 'operator accounts']);
    assert.match(wrong['attestation keys']?.join('\n') ?? '', /rows of members are not attested/);
  });

  it('finds an account with an operator that somebody altered, and one whose credentials no key opens', async () => {
    const { rows } = await testEnv.db.pool.query<{ id: string }>('SELECT id FROM operator_accounts ORDER BY id');
    const [id = '', other = ''] = valuesOf(rows, 'id');
    const key = randomBytes(32).toString('base64');
    await assertFound('operator accounts', new RegExp(`^no key opens the credentials of ${other}$`, 'm'), {
      MALIPO_OPERATOR_KEYS: `other:${key}`,
    });
    await tamper(testEnv.db, 'UPDATE operator_accounts SET calls_per_second = calls_per_second + 1 WHERE id = $1', [
      id,
    ]);
    const { wrong } = await look();
    assert.deepEqual(wrong['operator accounts'], [`${id} is not as the service wrote it: nobody uses it`]);
    await tamper(testEnv.db, 'UPDATE operator_accounts SET calls_per_second = calls_per_second - 1 WHERE id = $1', [
      id,
    ]);
  });

  it('finds the settings of the other environment', async () => {
    const { wrong } = await look({ MALIPO_ENVIRONMENT: 'live' });
    assert.deepEqual(wrong['environment'], ['MALIPO_ENVIRONMENT is live, and the database is for test']);
    assert.deepEqual(wrong['transport'], ['the connection to PostgreSQL is not encrypted']);
  });

  it('notes an account that may too much, as the owner may', async () => {
    const account = new URL(testEnv.environment['MALIPO_DATABASE_URL'] ?? '').username;
    await sql(`GRANT DELETE ON ledger_entries TO ${account}`);
    const { notes } = await look();
    assert.match(notes['account']?.join() ?? '', /more than the application needs: DELETE on \w+ ledger_entries/);
    await sql(`REVOKE DELETE ON ledger_entries FROM ${account}`);
  });

  it('finds a namespace that is not there', async () => {
    const { wrong } = await look({ MALIPO_TEMPORAL_NAMESPACE: 'nobody' });
    assert.deepEqual(wrong['namespace'], ['Temporal has no namespace nobody']);
  });

  it('finds a paused schedule', async () => {
    const prefix = testEnv.environment['MALIPO_TASK_QUEUE_PREFIX'] ?? '';
    const { schedule } = await temporalClient();
    const sweep = schedule.getHandle(reconciliationScheduleId(prefix));
    // The workers restore it within a minute.
    await until('it is seen', async () => {
      await sweep.pause();
      return (await look()).wrong['schedules']?.join() === `${reconciliationScheduleId(prefix)}: paused`;
    });
    await sweep.unpause();
  });

  it('finds that no worker polls, and that the schedules are missing', async () => {
    const { wrong } = await look({ MALIPO_TASK_QUEUE_PREFIX: 'nobody' });
    assert.deepEqual(Object.keys(wrong), ['schedules', 'workers']);
    // One queue for each of the two operators.
    assert.deepEqual(wrong['workers']?.length, 4);
    assert.match(wrong['schedules']?.join() ?? '', /: gone/);
  });

  it('finds a fence that nobody writes, and a service in recovery', async () => {
    const client = await testEnv.db.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT * FROM fence FOR UPDATE');
      await until(
        'the fence is old',
        async () => /written \d/.test((await look()).wrong['fence']?.join() ?? ''),
        60_000,
      );
      await client.query('ROLLBACK');
    } finally {
      client.release(true);
    }
    await until('it is written again', async () => (await look()).wrong['fence'] === undefined, 60_000);
    await sql(`INSERT INTO restores (reason, found_at, counter, sessions_ended) VALUES ('no_marker', now(), 1, 0)`);
    const found = (await look()).wrong['recovery']?.join() ?? '';
    assert.match(found, /^in recovery since .*: the database has a fence, and no marker of it is to be found$/);
    const [{ id: restore } = { id: '' }] = await listOpenRestores(testEnv.db);
    await addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS);
    await agree(testEnv.db, { kind: 'recovery_opening', payload: { restore, reason: 'a test' } });
    assert.equal((await look()).wrong['recovery'], undefined);
  });

  it('finds an API that does not answer', async () => {
    await assertFound('API', /\/readyz does not answer: .*ECONNREFUSED/, {
      MALIPO_PUBLIC_URL: `http://127.0.0.1:${await freePort()}`,
    });
  });

  it('finds quarantined work, and discrepancies with an operator', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const { id } = await makeCollection(testEnv.db, merchantId, 'failed');
    const other = await makeCollection(testEnv.db, merchantId, 'initiated');
    const broken = "UPDATE work SET failures = 10, due_at = now() + interval '1 hour' WHERE id = $1";
    await sql(broken, [other.id]);
    await assertFound('failing work', /^collection: the workflows of 1 fail again and again$/);
    await sql('UPDATE work SET failures = 0, due_at = now() WHERE id = $1', [other.id]);
    const at = new Date();
    const status = { kind: 'paid', operatorReceipt: '4711' } as const;
    const ref = { kind: 'collection', id, merchantId } as const;
    await recordDiscrepancy(testEnv.db, { ref, status, queriedAtMs: at.getTime(), at });
    await assertFound('discrepancies', /^1 unsettled \(\w+\), the oldest since \d+ s$/);
    const { rows } = await sql('SELECT id::text FROM discrepancies WHERE payment_id = $1', [id]);
    const [{ id: number }] = rows as [{ id: string }];
    assert.ok((await settleDiscrepancy(testEnv.db, { id: number, how: 'given back', by: AMINA, at })) !== null);
    assert.deepEqual((await look()).wrong, {});
  });

  it('finds that no account with an operator is active', async () => {
    for (const operator of ['mtn-momo', 'airtel-money'] as const) await closeAccount(testEnv.db, operator);
    await assertFound('operator accounts', /^no account is active: no payment is accepted$/);
  });
});
