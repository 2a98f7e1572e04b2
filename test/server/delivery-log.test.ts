// The log of a delivery that its endpoint never accepts: each attempt has its line, and the service is not alarmed by what is the endpoint's.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilDelivery } from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { linesOf } from '../support/log-lines.ts';
import { pay } from '../support/payments.ts';
import { startServerChild } from '../support/server-child.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { columnsOf } from '../support/values-of.ts';

const CALM = new Set(['info', 'debug']);

describe('the log of a delivery that is dead-lettered', () => {
  // A machine that stands still for a second is a fault, which this is not about.
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: { MALIPO_DELIVERY_SCHEDULE_MS: '0,50,50', MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '60000' },
  });
  const folder = mkdtempSync(join(tmpdir(), 'malipo-log-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('has a line for each attempt, and none at warn or above', async () => {
    const { merchant, receiver } = testEnv;
    receiver.answerWith(merchant.id, (_, response) => response.writeHead(500).end());
    const logFile = join(folder, 'server.log');
    const server = await startServerChild(testEnv, { logFile, overrides: { MALIPO_LOG_LEVEL: 'debug' } });
    await pay(testEnv, '010');
    const { id } = await untilDelivery(testEnv, merchant, 'dead_lettered');
    const run = (await temporalClient()).workflow.getHandle(deliveryWorkflowId(id));
    await assert.rejects(run.result());
    assert.equal((await server.stop()).code, 0);
    const lines = linesOf(logFile);
    const attempts = lines.filter((line) => line.msg === 'webhook attempt' && line['deliveryId'] === id);
    assert.deepEqual(columnsOf(attempts, 'attemptNumber', 'state'), [
      [1, 'retrying'],
      [2, 'retrying'],
      [3, 'dead_lettered'],
    ]);
    assert.deepEqual(
      lines.filter(({ level }) => !CALM.has(level)),
      [],
    );
    const failed = lines.filter(({ msg }) => msg === 'Workflow failed').map(({ level }) => level);
    assert.deepEqual(failed, ['debug']);
  });
});
