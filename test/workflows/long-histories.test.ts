// A payment that its operator leaves undecided, with many callbacks: its history stays short, so that a restart can replay all of them.
import assert from 'node:assert/strict';
import { OPERATOR_CALLED_BACK } from '../../workflows/contract.ts';
import { temporalClient } from '../support/engines.ts';
import { callBack, pay, untilState } from '../support/payments.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

type Metadata = { readonly currentDetails?: string };

describe('the workflow of a payment about which the operator calls back again and again', () => {
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: {
      MALIPO_POLL_SCHEDULE_MS: '600000',
      MALIPO_MINIMUM_QUERY_GAP_MS: '50',
      MALIPO_PROMPT_WINDOW_MS: '600000',
    },
  }));
  before(() => {
    operator.setStatus({ status: 'PENDING' });
  });
  after(() => operator.stop());

  it('begins a new history within some hundred events, hears callbacks after it, and ends as the operator says', async function () {
    this.timeout(240_000);
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'prompted');
    const { workflow } = await temporalClient();
    const { runId: firstRunId } = await workflow.getHandle(payment.workflowId).describe();
    const first = workflow.getHandle(payment.workflowId, firstRunId);
    const isContinued = async () => {
      // More than the API passes on of one payment.
      await first.signal(OPERATOR_CALLED_BACK).catch(() => undefined);
      return (await first.describe()).status.name === 'CONTINUED_AS_NEW';
    };
    await eventually('another run', isContinued, 120_000);
    const { historyLength } = await first.describe();
    assert.ok(historyLength < 600, `its history has ${historyLength} events`);
    // Temporal shows the summary and the details of a start on the first run alone.
    const details = await eventually('the details of the other run', async () => {
      const query = workflow.getHandle(payment.workflowId).query<Metadata>('__temporal_workflow_metadata');
      const { currentDetails = '' } = await query;
      return currentDetails.startsWith('Waiting for the **payer**') && currentDetails;
    });
    assert.ok(details.includes(`\n\ncollection ${payment.id} at mtn-momo\n\n`), details);
    assert.match(details, /started again from it, and a signal moves no money/);
    operator.setStatus({ status: 'SUCCESSFUL' });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await untilState(testEnv, payment, 'succeeded');
  });
});
