// The metrics of a running server: what waits, what is stuck, and what was replaced.
import assert from 'node:assert/strict';
import { freePort } from '../../src/engines/process/ports.ts';
import { markDone } from '../../src/db/platform/housekeeping.ts';
import { recordStaffAct } from '../../src/db/accounts/audit.ts';
import { countRows, makeCollection, tamper } from '../db/rows.ts';
import { createLog } from '../../src/log.ts';
import { createFiguresReader } from '../../src/server/metrics/figures-reader.ts';
import type { ServiceFigures } from '../../src/operations/read-service-figures.ts';
import { scrape } from '../support/scrape.ts';
import { logInAs } from '../support/people.ts';
import { AMINA } from '../support/staff.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

describe('the metrics of a server', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let port: number;

  before(async () => {
    port = await freePort();
    const { id: merchantId } = await testEnv.addMerchant();
    for (let i = 0; i < 3; i++) await makeCollection(testEnv.db, merchantId);
    const { id } = await makeCollection(testEnv.db, merchantId, 'prompted');
    await testEnv.db.pool.query("UPDATE work SET failures = 10 WHERE id = $1 AND task = 'workflow'", [id]);
    await markDone(testEnv.db, { task: 'ledger_check', doneAsOf: new Date(1_700_000_000_000), faults: 3 });
    await testEnv.db.withTransaction((tx) =>
      recordStaffAct(tx, merchantId, AMINA, { action: 'a.done', subjectId: null, at: new Date() }),
    );
    await tamper(testEnv.db, "UPDATE audit_entries_to_link SET queued_at = now() - interval '1 hour'");
    await tamper(testEnv.db, "UPDATE audit_chains SET unsigned_since = now() - interval '3 hours'");
    await testEnv.startServer({
      MALIPO_ROLES: 'api',
      MALIPO_METRICS_PORT: String(port),
      MALIPO_BACKLOG_MAX_PER_MERCHANT: '3',
    });
  });

  function measured(): Promise<string[]> {
    return eventually('the first measurement', async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return text.includes('malipo_backlog 3') && text.split('\n');
    });
  }

  async function assertMeasured(expected: readonly string[]): Promise<void> {
    const lines = await measured();
    for (const line of expected) assert.ok(lines.includes(line), line);
  }

  it('show the backlog, the merchants over their share, and failing and quarantined work by kind', async () => {
    await assertMeasured([
      'malipo_backlog 3',
      'malipo_backlog_late 0',
      'malipo_backlog_full_merchants 1',
      'malipo_workflows_replaced_total 0',
      'malipo_workflows_stuck{kind="collection"} 1',
      'malipo_workflows_stuck{kind="payout"} 0',
      'malipo_workflows_quarantined{kind="collection"} 1',
    ]);
  });

  it('count every refusal of a person, also those without an entry of their own in the audit log', async () => {
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    for (let n = 0; n < 12; n++) {
      const refused = await viewer.call('POST', '/v1/console/keys', { json: { name: 'k', scopes: ['balance:read'] } });
      assert.equal(refused.status, 403);
    }
    assert.ok((await measured()).includes('malipo_person_refusals_total 12'));
    assert.equal(await countRows(testEnv.db, `audit_entries WHERE outcome = 'refused'`), 10);
  });

  it('show as of when each task of housekeeping is done, never done ones too, and the faults that a check found', async () => {
    await assertMeasured([
      'malipo_housekeeping_done_as_of_timestamp_seconds{task="ledger_check"} 1700000000',
      'malipo_housekeeping_done_as_of_timestamp_seconds{task="purge"} 0',
      'malipo_housekeeping_faults{task="ledger_check"} 3',
    ]);
  });

  it('show for how long the oldest audit entry has waited for its link, and the oldest link for its signature', async () => {
    const lines = await measured();
    const secondsOf = (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
    const [unlinked, unsigned] = ['unlinked', 'unsigned'].map((what) =>
      secondsOf(`malipo_audit_${what}_oldest_age_seconds`),
    );
    assert.ok(unlinked! >= 3600 && unlinked! < 2 * 3600, String(unlinked));
    assert.ok(unsigned! >= 3 * 3600 && unsigned! < 4 * 3600, String(unsigned));
  });

  it('are shown by a process of any role, with its roles', async () => {
    const workerPort = await freePort();
    const worker = await testEnv.startServer({ MALIPO_ROLES: 'worker', MALIPO_METRICS_PORT: String(workerPort) });
    const seen = await scrape(workerPort);
    await worker.stop();
    assert.equal(seen.valueOf('malipo_process_role', { role: 'worker' }), 1);
    assert.equal(seen.valueOf('malipo_process_role', { role: 'api' }), 0);
    assert.equal(seen.valueOf('malipo_backlog'), 3);
  });
});

describe('the metrics that are read from the database', () => {
  const testLog = createLog({ level: 'silent', process: 'test' });

  it('are read once for concurrent scrapes, and again after some seconds', async () => {
    let reads = 0;
    const read = () => Promise.resolve({ number: ++reads } as unknown as ServiceFigures);
    const reader = createFiguresReader({ read, log: testLog, keptForMs: 60_000 });
    await Promise.all([reader.read(), reader.read(), reader.read()]);
    await reader.read();
    assert.equal(reads, 1);
    const forgetful = createFiguresReader({ read, log: testLog, keptForMs: 0 });
    await forgetful.read();
    await forgetful.read();
    assert.equal(reads, 3);
  });

  it('are missing and not old when the database fails or is silent, and are there again afterwards', async () => {
    const answers = [
      () => Promise.resolve({} as ServiceFigures),
      () => Promise.reject(new Error('away')),
      () => new Promise<ServiceFigures>(() => undefined),
    ];
    let turn = 0;
    const reader = createFiguresReader({ read: () => answers[turn++]!(), log: testLog, keptForMs: 0, patienceMs: 20 });
    assert.notEqual(await reader.read(), null);
    assert.equal(await reader.read(), null);
    assert.equal(await reader.read(), null);
    // The silent read is still in progress: no other one begins.
    assert.equal(await reader.read(), null);
    assert.equal(turn, 3);
  });
});
