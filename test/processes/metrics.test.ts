// The metrics of a running server: what waits, what is stuck, and what was replaced.
import assert from 'node:assert/strict';
import { freePort } from '../../src/dev/ports.ts';
import { makeCollection } from '../db/rows.ts';
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
    await testEnv.db.pool.query('UPDATE collections SET workflow_failures = 10 WHERE id = $1', [id]);
    await testEnv.startServer({
      MALIPO_ROLES: 'api',
      MALIPO_METRICS_PORT: String(port),
      MALIPO_BACKLOG_MAX_PER_MERCHANT: '3',
    });
  });

  it('show the backlog, the merchants over their share, and failing and quarantined work by kind', async () => {
    const expected = [
      'malipo_backlog 3',
      'malipo_backlog_late 0',
      'malipo_backlog_full_merchants 1',
      'malipo_workflows_replaced_total 0',
      'malipo_workflows_stuck{kind="collection"} 1',
      'malipo_workflows_stuck{kind="payout"} 0',
      'malipo_workflows_quarantined{kind="collection"} 1',
    ];
    const lines = await eventually('the first measurement', async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return text.includes('malipo_backlog 3') && text.split('\n');
    });
    for (const line of expected) assert.ok(lines.includes(line), line);
  });
});
