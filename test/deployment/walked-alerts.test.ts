// Alerts as a real Prometheus sees them beside a real server: each rings at a fault that is made, and ends when it is mended.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/dev/ports.ts';
import { findPrometheus } from '../../tools/prometheus.ts';
import { makeCollection, tamper } from '../db/rows.ts';
import { PROMETHEUS_FOLDER } from '../support/alert-files.ts';
import { runFolder } from '../support/engines.ts';
import { pay } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

const CONFIG = (port: number) => `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [malipo-rules.yml]
scrape_configs: [{job_name: malipo, static_configs: [{targets: ['127.0.0.1:${port}']}]}]
`;

/** The same expressions and thresholds; only how long they must hold, and over how long rates are taken, is shorter. */
function hastened(rules: string): string {
  return rules.replace(/for: \w+/g, 'for: 0s').replace(/\[\d+[mh]\]/g, '[15s]');
}

describe('alerts beside a real Prometheus', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let prometheus: ChildProcess | null = null;
  let address: string;

  before(async function () {
    const programs = findPrometheus();
    if (programs === null) {
      console.log('NOT RUN alerts beside a real Prometheus: it is not to be had');
      this.skip();
      return;
    }
    const [metricsPort, port] = [await freePort(), await freePort()];
    await testEnv.startServer({ MALIPO_METRICS_PORT: String(metricsPort) });
    const folder = mkdtempSync(join(runFolder(), 'prometheus-'));
    const rules = readFileSync(join(PROMETHEUS_FOLDER, 'malipo-rules.yml'), 'utf8');
    writeFileSync(join(folder, 'malipo-rules.yml'), hastened(rules));
    writeFileSync(join(folder, 'prometheus.yml'), CONFIG(metricsPort));
    address = `127.0.0.1:${port}`;
    const options = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`];
    prometheus = spawn(programs.prometheus, options, { cwd: folder, stdio: 'ignore' });
    await eventually('the first scrape', async () => {
      const response = await fetch(`http://${address}/api/v1/query?query=malipo_database_readable`).catch(() => null);
      return response?.ok === true && (await response.text()).includes('"1"');
    });
  });
  after(async () => {
    if (prometheus === null) return;
    prometheus.kill('SIGKILL');
    if (prometheus.exitCode === null && prometheus.signalCode === null) await once(prometheus, 'exit');
  });

  async function ringing(): Promise<string[]> {
    const response = await fetch(`http://${address}/api/v1/alerts`).catch(() => null);
    if (response?.ok !== true) return [];
    const { data } = (await response.json()) as {
      data: { alerts: { labels: { alertname: string }; state: string }[] };
    };
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  }

  async function setOperatorDown(down: boolean): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const url = `${testEnv.sandbox.url}/sandbox/faults`;
    const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ down }) });
    assert.equal(response.status, 200);
  }

  const until = (alert: string, rings: boolean) =>
    eventually(`${alert} to ${rings ? 'ring' : 'end'}`, async () => (await ringing()).includes(alert) === rings);

  it('ring while the operator is away', async () => {
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
    await tamper(
      db,
      `UPDATE collections SET workflow_failures = 10, updated_at = now() - interval '2 hours' WHERE id = $1`,
      [id],
    );
    for (const alert of ['MalipoWorkQuarantined', 'MalipoWorkflowsStuck', 'MalipoCollectionsReconciling'])
      await until(alert, true);
    await tamper(db, 'UPDATE collections SET workflow_failures = 0, updated_at = now() WHERE id = $1', [id]);
    for (const alert of ['MalipoWorkQuarantined', 'MalipoWorkflowsStuck', 'MalipoCollectionsReconciling'])
      await until(alert, false);
  });

  it('ring while a discrepancy is open, and when a check found faults', async () => {
    const { db, merchant } = testEnv;
    const { id } = await makeCollection(db, merchant.id, 'failed');
    await tamper(
      db,
      `INSERT INTO discrepancies (merchant_id, collection_id, kind, found_at) VALUES ($1, $2, 'paid_after_failed', now())`,
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
