// Alerts as a real Prometheus sees them beside a real server: each rings at a fault that is made, and ends when it is mended.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startPrometheus, type Prometheus } from '../../alerts/prometheus.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { makeCollection, tamper } from '../db/rows.ts';
import { runFolder } from '../support/engines.ts';
import { pay } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { setWork } from '../db/work-rows.ts';

describe('alerts beside a real Prometheus', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let prometheus: Prometheus | null = null;

  before(async function () {
    const metricsPort = await freePort();
    prometheus = await startPrometheus({
      folder: join(runFolder(), `prometheus-${metricsPort}`),
      ports: [metricsPort],
      scrapeEverySeconds: 1,
      spanSeconds: 15,
    });
    if (prometheus === null) {
      console.log('NOT RUN alerts beside a real Prometheus: it is not to be had');
      this.skip();
      return;
    }
    await testEnv.startServer({ MALIPO_METRICS_PORT: String(metricsPort) });
    const readable = () => prometheus?.values('malipo_database_readable');
    await eventually('the first scrape', async () => (await readable())?.includes(1));
  });
  after(() => prometheus?.stop());

  async function setOperatorDown(down: boolean): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const url = `${testEnv.sandbox.url}/sandbox/faults`;
    const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ down }) });
    assert.equal(response.status, 200);
  }

  const until = (alert: string, rings: boolean) =>
    eventually(`${alert} to ${rings ? 'ring' : 'end'}`, async () => (await prometheus?.firing())?.has(alert) === rings);

  it('ring while the operator is unavailable', async () => {
    await setOperatorDown(true);
    for (let n = 0; n < 5; n++) await pay(testEnv, '000');
    await until('MalipoOperatorNotAnswering', true);
    await setOperatorDown(false);
    await pay(testEnv, '000');
    await until('MalipoOperatorNotAnswering', false);
  });

  it('ring for payments that stand still: quarantined, undecided, and not prompted', async () => {
    const { db, merchant } = testEnv;
    const { id } = await makeCollection(db, merchant.id, 'reconciling');
    await tamper(db, `UPDATE payments SET updated_at = now() - interval '2 hours' WHERE id = $1`, [id]);
    await setWork(db, 'failures = 10', 'id = $1', [id]);
    for (const alert of ['MalipoWorkQuarantined', 'MalipoWorkflowsStuck', 'MalipoCollectionsReconciling'])
      await until(alert, true);
    await tamper(db, 'UPDATE payments SET updated_at = now() WHERE id = $1', [id]);
    await setWork(db, 'failures = 0', 'id = $1', [id]);
    for (const alert of ['MalipoWorkQuarantined', 'MalipoWorkflowsStuck', 'MalipoCollectionsReconciling'])
      await until(alert, false);
  });

  it('ring while a discrepancy is open, and when a check found faults', async () => {
    const { db, merchant } = testEnv;
    const { id } = await makeCollection(db, merchant.id, 'failed');
    await tamper(
      db,
      `INSERT INTO discrepancies (merchant_id, payment_id, kind, found_at) VALUES ($1, $2, 'paid_after_failed', now())`,
      [merchant.id, id],
    );
    await tamper(
      db,
      `INSERT INTO housekeeping (task, done_as_of, faults) VALUES ('ledger_check', now(), 1)
      ON CONFLICT (task) DO UPDATE SET faults = 1`,
    );
    await until('MalipoDiscrepancyOpen', true);
    await until('MalipoLedgerFaults', true);
    await tamper(db, `UPDATE discrepancies SET settled_at = now(), settled_how = 'test'`);
    await tamper(db, 'UPDATE housekeeping SET faults = 0');
    await until('MalipoDiscrepancyOpen', false);
    await until('MalipoLedgerFaults', false);
  });
});
