// The Temporal UI shows a person who must act, and nothing secret or personal.
import assert from 'node:assert/strict';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { deliveryWorkflowId } from '../../src/temporal/workflow-ids.ts';
import { untilDelivery } from '../support/deliveries.ts';
import { temporalClient } from '../support/engines.ts';
import { COLLECTION_CREDENTIALS, DISBURSEMENT_CREDENTIALS, eventually } from '../support/test-environment.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

// An amount whose digits appear nowhere else.
const KEY = 'rent-of-Akello-0772-000-100';
const FIELDS = { amount: 4_319_867, reference: 'ORDER-of-Akello', description: 'School fees of Akello' };

describe('a payment in the Temporal UI', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_WINDOW_MS: '10000', MALIPO_RECONCILE_FOR_MS: '60000' },
    sandboxTimes: { undecidedMs: 16_000 },
  });
  let payment: Payment;
  before(async () => {
    // Paid after the prompt window: it waits for the payer, then for the operator, and then it is final.
    payment = await pay(testEnv, '009', { fields: FIELDS, idempotencyKey: KEY });
  });

  async function handleOf({ workflowId }: Payment): Promise<WorkflowHandle> {
    return (await temporalClient()).workflow.getHandle(workflowId);
  }

  async function currentDetails(): Promise<string> {
    const metadata = await (await handleOf(payment)).query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    return metadata.currentDetails ?? '';
  }

  async function foundBy(query: string): Promise<string[]> {
    const found: string[] = [];
    for await (const { workflowId } of (await temporalClient()).workflow.list({ query })) found.push(workflowId);
    return found;
  }

  async function untilFoundBy(query: string): Promise<void> {
    await eventually(`${query} to find the payment`, async () => (await foundBy(query)).includes(payment.workflowId));
  }

  it('is found by its id, its merchant, its operator, its state and whom it waits for while it is pending', async () => {
    await untilState(testEnv, payment, 'prompted');
    await untilFoundBy(
      `MalipoResourceId = '${payment.id}' AND MalipoMerchantId = '${payment.merchant.id}' ` +
        `AND MalipoOperator = 'mtn-momo' AND MalipoState = 'prompted' AND MalipoWaitsFor = 'payer'`,
    );
  });

  it('has a summary that names the payment and the operator, and details on what may be done by hand', async () => {
    const description = await (await handleOf(payment)).describe();
    assert.equal(await description.staticSummary(), `collection ${payment.id} at mtn-momo`);
    assert.match((await description.staticDetails()) ?? '', /started again from it, and a signal moves no money/);
  });

  it('has details that say that the payer must act, and until when', async () => {
    const details = await eventually('the details', async () => (await currentDetails()) || null);
    assert.match(details, /Waiting for the \*\*payer\*\* to answer the prompt\. The prompt expires at \d{4}-/);
    assert.match(
      details,
      /The operator is asked by schedule, at this time, and at its callback\. The console shows when\./,
    );
  });

  it('is found as waiting for the operator when its outcome is overdue, and its details say so', async () => {
    await untilState(testEnv, payment, 'reconciling');
    await untilFoundBy(
      `MalipoResourceId = '${payment.id}' AND MalipoState = 'reconciling' AND MalipoWaitsFor = 'operator'`,
    );
    assert.match(await currentDetails(), /Waiting for the \*\*operator\*\*: the outcome is overdue/);
  });

  it('shows its final state, and that nobody has to act', async () => {
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await (await handleOf(payment)).result(), 'succeeded');
    assert.equal(await currentDetails(), 'Final: succeeded. Nobody has to act.');
    await untilFoundBy(`MalipoResourceId = '${payment.id}' AND MalipoState = 'succeeded' AND MalipoWaitsFor IS NULL`);
  });

  it('has no phone, amount, text of the merchant or secret in its history, its id, its search attributes, memo and summary', async () => {
    const handle = await handleOf(payment);
    await handle.result();
    const { raw, workflowId, memo, typedSearchAttributes } = await handle.describe();
    const shown = JSON.stringify([workflowId, memo, typedSearchAttributes.getAll(), raw.executionConfig?.userMetadata]);
    const text = readable(historyToJSON(await handle.fetchHistory())) + shown + readable(shown);
    // The scan does read the payloads: it finds what they are meant to hold.
    assert.ok(text.includes(payment.id) && text.includes('reconciling') && text.includes('promptDeadlineMs'));
    const { merchant, phone } = payment;
    const { settings } = testEnv.config;
    const forbidden = {
      phone,
      'phone without country code': phone.slice(3),
      amount: String(FIELDS.amount),
      reference: FIELDS.reference,
      'idempotency key': KEY,
      description: FIELDS.description,
      'API key': merchant.key,
      'webhook secret': merchant.webhookSecret,
      'operator key': COLLECTION_CREDENTIALS.apiKey,
      'subscription key': COLLECTION_CREDENTIALS.subscriptionKey,
      'payout key': DISBURSEMENT_CREDENTIALS.apiKey,
      'database address': settings.MALIPO_DATABASE_URL.reveal(),
    };
    for (const [name, value] of Object.entries(forbidden))
      assert.ok(!text.includes(value), `the history holds: ${name}`);
  });
});

describe('a delivery in the Temporal UI', () => {
  const testEnv = useTestEnvironment({ environment: { MALIPO_DELIVERY_SCHEDULE_MS: '0,50,50' } });

  it('has failed when it is dead-lettered, and says who can replay it', async () => {
    const { merchant, receiver } = testEnv;
    receiver.answerWith(merchant.id, (_, response) => response.writeHead(500).end());
    await pay(testEnv, '010');
    const { id } = await untilDelivery(testEnv, merchant, 'dead_lettered');
    const handle = (await temporalClient()).workflow.getHandle(deliveryWorkflowId(id));
    await assert.rejects(handle.result(), (error: WorkflowFailedError) => {
      assert.match(String(error.cause?.message), /^dead-lettered: the endpoint accepted no attempt/);
      return true;
    });
    assert.equal((await handle.describe()).status.name, 'FAILED');
  });

  it('has completed when a later attempt is accepted', async () => {
    const merchant = await testEnv.addMerchant();
    testEnv.receiver.answerWith(merchant.id, ({ headers }, response) => {
      response.writeHead(headers['malipo-attempt'] === '1' ? 500 : 200).end();
    });
    await pay(testEnv, '010', { merchant });
    const { id } = await untilDelivery(testEnv, merchant, 'delivered');
    assert.equal(await (await temporalClient()).workflow.getHandle(deliveryWorkflowId(id)).result(), 'delivered');
  });
});

/** The history, followed by its decoded payloads. */
function readable(historyJson: string): string {
  const decoded: string[] = [];
  JSON.parse(historyJson, (key, value: unknown) => {
    if (key === 'data' && typeof value === 'string') decoded.push(Buffer.from(value, 'base64').toString('utf8'));
    return value;
  });
  return `${historyJson}\n${decoded.join('\n')}`;
}
