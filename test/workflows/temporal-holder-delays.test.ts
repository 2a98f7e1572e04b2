// What the holder of Temporal can hold up, change or remove while payments are on their way: each costs time, and no money. They
// have a namespace of their own here, which they remove in the end. The list is in docs/temporal-holder.md.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  Client,
  Connection,
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { operatorTaskQueue, SEARCH_ATTRIBUTES } from '../../workflows/contract.ts';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { json } from '../operators/stub-operator.ts';
import { temporal } from '../support/engines.ts';
import { storedEvents } from '../support/payment-events.ts';
import type { Payment } from '../support/payments.ts';
import { balanceOf, fetchPayout, fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { ACCEPTED, CUT, startScriptedOperator } from '../support/scripted-operator.ts';
import { temporalHolder, type TemporalHolder } from '../support/temporal-holder.ts';
import { eventually, LOST_CALLBACKS, ON_DEMAND } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { setWork } from '../db/work-rows.ts';

/** For a machine that does much else. */
const PATIENCE_MS = 90_000;
const AMOUNT = 1000;
// temporal.api.enums.v1.TaskQueueType
const ACTIVITY_TASKS = 2 as never;
const SEND = 'sendWithOperator';
const NOT_FOUND = json(404, { code: 'RESOURCE_NOT_FOUND', message: 'Requested resource was not found.' });
const REFUSED = json(500, { code: 'PAYEE_NOT_ALLOWED_TO_RECEIVE', message: 'No.' });
const NOBODY = 'a-queue-that-nobody-polls';
const UNIMPLEMENTED = 12;

const PAID = ['queued', 'released', 'succeeded'];
const PAID_AFTER_DOUBT = ['queued', 'released', 'reconciling', 'succeeded'];

const yes = () => true;
const no = () => false;

function refusalOf(error: unknown): number {
  if (isGrpcServiceError(error)) return error.code;
  throw error;
}

describe('the holder of Temporal', function () {
  this.timeout(300_000);
  const namespace = `malipo-held-${randomUUID().slice(0, 8)}`;
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    startsServer: false,
    mtnMomoUrl: operator.url,
    environment: {
      MALIPO_TEMPORAL_NAMESPACE: namespace,
      ...LOST_CALLBACKS,
      MALIPO_STALE_AFTER_MS: '200',
      MALIPO_PROMPT_DEADLINE_MS: '200000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '200000',
      ...ON_DEMAND,
    },
  }));
  let target: { readonly address: string; readonly namespace: string };
  let connection: Connection;
  let client: Client;
  let holder: TemporalHolder;
  let approver: Browser;
  let queue: string;
  let available: number;

  before(async () => {
    target = { address: (await temporal()).address, namespace };
    await prepareTemporal(target);
    connection = await Connection.connect(target);
    client = new Client({ connection, namespace });
    holder = temporalHolder(client, connection);
    queue = operatorTaskQueue(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX, 'mtn-momo');
    await testEnv.startServer();
    await fund(testEnv, testEnv.merchant, 100_000);
    approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
  });
  beforeEach(async () => {
    operator.answerPrompts(ACCEPTED);
    operator.setStatus({ status: 'SUCCESSFUL' });
    available = Number((await balanceOf(testEnv, testEnv.merchant))[0]);
  });
  after(async () => {
    await connection.close();
    await operator.stop();
  });

  const queuedPayout = () => requestPayout(testEnv, '000', { amount: AMOUNT });

  async function releaseIt(payout: Payment): Promise<void> {
    const response = await release(approver, payout);
    assert.equal(response.json['state'], 'released', response.text);
  }

  /** A released payout, the first try of whose send is in doubt: its connection was cut, and the operator knows nothing of it. */
  async function payoutInDoubt(): Promise<Payment> {
    operator.answerPrompts(CUT);
    operator.answerStatusQueries(NOT_FOUND);
    const payout = await queuedPayout();
    await releaseIt(payout);
    await eventually('the first try', () => operator.prompts(payout.operatorReference) > 0, PATIENCE_MS);
    return payout;
  }

  const runOf = async ({ workflowId }: Payment) => client.workflow.getHandle(workflowId).describe();

  /** Has the dispatcher check the payout’s workflow, and waits until it did. */
  async function checkNow({ id }: Payment): Promise<void> {
    await setWork(testEnv.db, 'due_at = now()', 'id = $1', [id]);
    const isChecked = async () => {
      const sql = `SELECT FROM work WHERE id = $1 AND due_at > now() + interval '31 seconds'`;
      return (await testEnv.db.pool.query(sql, [id])).rowCount === 1;
    };
    await eventually('the check of its workflow', isChecked, PATIENCE_MS);
  }

  /** The payout's money is held, nothing was sent since, and the dispatcher leaves its run alone. */
  async function assertHeld(payout: Payment, sends: number, payouts = 1): Promise<void> {
    const { runId } = await runOf(payout);
    await checkNow(payout);
    const { runId: later, status } = await runOf(payout);
    assert.deepEqual([later, status.name], [runId, 'RUNNING']);
    assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), [available - payouts * AMOUNT, payouts * AMOUNT]);
    assert.equal(operator.prompts(payout.operatorReference), sends);
  }

  async function untilPaidOnce(payout: Payment, payouts = 1): Promise<string[]> {
    operator.answerStatusQueries(null);
    await untilPayoutState(testEnv, payout, 'succeeded', PATIENCE_MS);
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), [available - payouts * AMOUNT, 0]);
    return (await storedEvents(testEnv.db, payout.id)).map(({ type }) => type.replace('payout.', ''));
  }
  /** Waits until Temporal refuses to start a workflow with these options. */
  async function untilRefused(options: Partial<WorkflowStartOptions>): Promise<void> {
    const theirs = { workflowId: 'holder', taskQueue: NOBODY, workflowIdConflictPolicy: 'USE_EXISTING' as const };
    const isRefused = () => client.workflow.start('holderWorkflow', { ...theirs, ...options }).then(no, yes);
    await eventually('a start to be refused', isRefused, PATIENCE_MS);
  }

  async function untilStartFails({ id }: Payment): Promise<void> {
    const sql = 'SELECT FROM work WHERE id = $1 AND failures > 0';
    const isRefused = async () => (await testEnv.db.pool.query(sql, [id])).rowCount === 1;
    await eventually('its start to be refused', isRefused, PATIENCE_MS);
  }

  it('pauses a send between two tries, which sends nothing until it goes on, and the payout is paid once', async () => {
    const payout = await payoutInDoubt();
    await holder.pause(payout.workflowId, SEND);
    operator.answerPrompts(ACCEPTED);
    await assertHeld(payout, operator.prompts(payout.operatorReference));
    await holder.unpause(payout.workflowId, SEND);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('has the tries of a send begin again, so that a repeated one looks like the first, and its refusal frees no money', async () => {
    const payout = await payoutInDoubt();
    await holder.pause(payout.workflowId, SEND);
    operator.answerPrompts(REFUSED);
    const sends = operator.prompts(payout.operatorReference);
    await holder.resetTries(payout.workflowId, SEND);
    await eventually('the refusal', () => operator.prompts(payout.operatorReference) > sends, PATIENCE_MS);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  const MOVED = {
    options: { taskQueue: { name: NOBODY }, scheduleToCloseTimeout: msToTs('30 days') },
    paths: ['task_queue.name', 'schedule_to_close_timeout'],
  };

  async function movedPayout(): Promise<Payment> {
    const payout = await payoutInDoubt();
    await holder.changeOptions(payout.workflowId, SEND, MOVED);
    await holder.untilNoneRuns(payout.workflowId, SEND);
    operator.answerPrompts(ACCEPTED);
    await assertHeld(payout, operator.prompts(payout.operatorReference));
    return payout;
  }

  it('moves a send to a queue that nobody polls, for longer than it may take, and moves it back, and the payout is paid once', async () => {
    const payout = await movedPayout();
    await holder.restoreOptions(payout.workflowId, SEND);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('moves a send and leaves it there, until somebody ends its run, and the payout is paid once', async () => {
    const payout = await movedPayout();
    await client.workflow.getHandle(payout.workflowId).terminate('for a test');
    await checkNow(payout);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('leaves a send no further try, and the operator’s status decides', async () => {
    const payout = await payoutInDoubt();
    const options = { retryPolicy: { maximumAttempts: 1 } };
    await holder.changeOptions(payout.workflowId, SEND, { options, paths: ['retry_policy.maximum_attempts'] });
    await untilPayoutState(testEnv, payout, 'reconciling', PATIENCE_MS);
    assert.deepEqual(await untilPaidOnce(payout), PAID_AFTER_DOUBT);
  });

  it('has a version of their own get the tasks of a workflow, or all tasks, and the payout is paid once that is over', async () => {
    const { workflowService: service } = connection;
    // Our service may have sent the second one by then, and asks about it without Temporal.
    operator.answerStatusQueries(NOT_FOUND);
    const [first, second] = [await queuedPayout(), await queuedPayout()];
    await eventually('its workflow', () => runOf(first).catch(() => null), PATIENCE_MS);
    const pin = async (versioningOverride: object | null) =>
      service.updateWorkflowExecutionOptions({
        namespace,
        workflowExecution: { workflowId: first.workflowId },
        workflowExecutionOptions: { versioningOverride },
        updateMask: { paths: ['versioning_override'] },
      });
    const version = { deploymentName: 'holder', buildId: 'theirs' };
    const isPinned = () => pin({ pinned: { behavior: 1, version } }).then(yes, no);
    const polled = holder.pollAs(queue, version);
    await eventually('their version to be there', isPinned, PATIENCE_MS);
    await polled;
    const makeCurrent = (buildId: string) =>
      service.setWorkerDeploymentCurrentVersion({ namespace, ...version, buildId, ignoreMissingTaskQueues: true });
    await makeCurrent(version.buildId);
    await releaseIt(first);
    await releaseIt(second);
    await assertHeld(first, 0, 2);
    await pin(null);
    await makeCurrent('');
    operator.answerStatusQueries(null);
    await untilPayoutState(testEnv, first, 'succeeded', PATIENCE_MS);
    assert.deepEqual(await untilPaidOnce(second, 2), PAID);
  });

  it('limits a task queue to nothing while a send is tried again, and the payout is paid once', async () => {
    const limit = async (rateLimit: object | null) =>
      connection.workflowService.updateTaskQueueConfig({
        namespace,
        taskQueue: queue,
        taskQueueType: ACTIVITY_TASKS,
        updateQueueRateLimit: { rateLimit, reason: 'for a test' },
      });
    const payout = await payoutInDoubt();
    await limit({ requestsPerSecond: 0 });
    operator.answerPrompts(ACCEPTED);
    await checkNow(payout);
    await limit(null);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('ends many runs in one batch, and the payout is released and paid once nevertheless', async () => {
    const payout = await queuedPayout();
    await eventually('its workflow', () => runOf(payout).catch(() => null), PATIENCE_MS);
    await connection.workflowService.startBatchOperation({
      namespace,
      jobId: randomUUID(),
      reason: 'for a test',
      executions: [{ workflowId: payout.workflowId }],
      terminationOperation: { identity: 'holder of Temporal' },
    });
    const isEnded = async () => (await runOf(payout)).status.name === 'TERMINATED';
    await eventually('the end of its run', isEnded, PATIENCE_MS);
    await releaseIt(payout);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('runs our activities alone, where the server lets them, and they send nothing that is not released', async () => {
    const payout = await queuedPayout();
    const ref = { kind: 'payout', id: payout.id, merchantId: testEnv.merchant.id, operator: 'mtn-momo' };
    const result = await holder.runAlone(queue, SEND, ref).catch(refusalOf);
    if (result !== UNIMPLEMENTED) assert.deepEqual(result, { kind: 'no_outcome' });
    assert.equal(operator.prompts(payout.operatorReference), 0);
    await releaseIt(payout);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('has our workflows do nothing by an update, which none of them has', async () => {
    const payout = await queuedPayout();
    const handle = client.workflow.getHandle(payout.workflowId);
    await eventually('its workflow', () => handle.describe().catch(() => null), PATIENCE_MS);
    await assert.rejects(handle.executeUpdate('release'), WorkflowUpdateFailedError);
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
    await releaseIt(payout);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('has none of the calls that the server refuses', async () => {
    const execution = { workflowId: 'any' };
    const { workflowService: service } = connection;
    const calls = {
      pauseWorkflowExecution: () => service.pauseWorkflowExecution({ namespace, workflowId: 'any', requestId: 'any' }),
      createWorkflowRule: () => service.createWorkflowRule({ namespace, spec: { id: 'any' } }),
      triggerWorkflowRule: () => service.triggerWorkflowRule({ namespace, execution, id: 'any' }),
      updateWorkerConfig: () => service.updateWorkerConfig({ namespace }),
      pauseActivityExecution: () => service.pauseActivityExecution({ namespace, activityId: 'any' }),
      startNexusOperationExecution: () => service.startNexusOperationExecution({ namespace, requestId: 'any' }),
    };
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(call, (error) => refusalOf(error) === UNIMPLEMENTED, name);
    }
  });

  it('removes a search attribute of ours, so that no workflow starts, and the payout is paid once it is back', async () => {
    const { name } = SEARCH_ATTRIBUTES.merchantId;
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: [name] });
    // The production server goes on with it for a minute.
    await untilRefused({ typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.merchantId, value: 'any' }] });
    const payout = await queuedPayout();
    await releaseIt(payout);
    await untilStartFails(payout);
    await prepareTemporal(target);
    assert.deepEqual(await untilPaidOnce(payout), PAID);
  });

  it('calls the namespace deprecated, so that nothing new starts, and removes it, and each payout is paid once it is there again', async () => {
    const { operatorService, workflowService: service } = connection;
    const idOf = async () => (await service.describeNamespace({ namespace })).namespaceInfo?.id;
    const first = await queuedPayout();
    await eventually('its workflow', () => runOf(first).catch(() => null), PATIENCE_MS);
    const [{ runId }, id] = [await runOf(first), await idOf()];
    await service.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: msToTs('1 day') } });
    await service.deprecateNamespace({ namespace });
    await untilRefused({});
    const second = await queuedPayout();
    await releaseIt(second);
    await untilStartFails(second);
    await operatorService.deleteNamespace({ namespace });
    await releaseIt(first);
    await prepareTemporal(target);
    // The polls of the workers that run wait for up to a minute in the namespace that is gone.
    await testEnv.startServer({ MALIPO_ROLES: 'worker' });
    await untilPayoutState(testEnv, first, 'succeeded', PATIENCE_MS);
    assert.deepEqual(await untilPaidOnce(second, 2), PAID);
    assert.notEqual(await idOf(), id);
    assert.notEqual((await runOf(first)).runId, runId);
  });
});
