// The exported metrics of the Temporal SDK, and the allowed values of their labels. All others are left out.
import { OPERATOR_IDS } from '../../domain/payments/operator-catalogue.ts';
import { OTHER, type MetricDescription } from './metric-description.ts';
import type { DeliveryActivities } from '../../../activities/delivery.ts';
import type { PaymentActivities } from '../../../activities/payment.ts';
import type { ReconciliationActivities } from '../../../activities/reconciliation.ts';
import {
  COLLECTION_WORKFLOW,
  DELIVERY_WORKFLOW,
  LEDGER_CHECK_WORKFLOW,
  PAYOUT_WORKFLOW,
  RECONCILIATION_WORKFLOW,
  REVERSAL_WORKFLOW,
  WHOLE_LEDGER_CHECK_WORKFLOW,
} from '../../../workflows/contract.ts';

type ActivityName = keyof PaymentActivities | keyof DeliveryActivities | keyof ReconciliationActivities;

// Total, so that the compiler requires each new activity.
const IS_ACTIVITY: Readonly<Record<ActivityName, true>> = {
  loadDelivery: true,
  sendDelivery: true,
  checkRecentPayments: true,
  checkLedger: true,
  checkWholeLedger: true,
  purgeExpiredRecords: true,
  sendWithOperator: true,
  queryStatusWithOperator: true,
  queryPayeeNameWithOperator: true,
  loadPayment: true,
  recordTransition: true,
};

/** A queue is named without its prefix. A worker's own sticky queue has a random name and is `other`. */
export const QUEUE_NAMES: readonly string[] = [...OPERATOR_IDS, 'deliveries', 'reconciliation'];

const WORKFLOW_TYPES = [
  COLLECTION_WORKFLOW,
  DELIVERY_WORKFLOW,
  LEDGER_CHECK_WORKFLOW,
  PAYOUT_WORKFLOW,
  RECONCILIATION_WORKFLOW,
  REVERSAL_WORKFLOW,
  WHOLE_LEDGER_CHECK_WORKFLOW,
];

const CALLS =
  'CountWorkflowExecutions CreateSchedule DeleteSchedule DescribeNamespace DescribeSchedule DescribeWorkflowExecution ' +
  'GetSystemInfo GetWorkflowExecutionHistory ListWorkflowExecutions PatchSchedule PollActivityTaskQueue PollWorkflowTaskQueue ' +
  'QueryWorkflow RecordActivityTaskHeartbeat RecordWorkerHeartbeat RespondActivityTaskCanceled RespondActivityTaskCompleted ' +
  'RespondActivityTaskFailed RespondQueryTaskCompleted RespondWorkflowTaskCompleted RespondWorkflowTaskFailed ShutdownWorker ' +
  'SignalWithStartWorkflowExecution SignalWorkflowExecution StartWorkflowExecution TerminateWorkflowExecution UpdateSchedule';

const STATUS_CODES =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED ' +
  'FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED TRANSPORT_ERROR';

/** Unlisted values become `other`, and unlisted labels are dropped. */
export const SDK_LABELS: Readonly<Record<string, readonly string[]>> = {
  task_queue: [...QUEUE_NAMES, OTHER],
  workflow_type: [...WORKFLOW_TYPES, OTHER],
  activity_type: [...Object.keys(IS_ACTIVITY), OTHER],
  poller_type: ['workflow_task', 'sticky_workflow_task', 'activity_task', OTHER],
  worker_type: ['WorkflowWorker', 'ActivityWorker', 'LocalActivityWorker', OTHER],
  operation: [...CALLS.split(' '), OTHER],
  status_code: [...STATUS_CODES.split(' '), OTHER],
  failure_reason: ['NonDeterminismError', 'WorkflowError', 'ActivityError', 'timeout', OTHER],
};

type Type = MetricDescription['type'];

const one = (type: Type, name: string, help: string, labels = ''): MetricDescription => ({
  name,
  type,
  help,
  labels: Object.fromEntries(
    labels.split(' ').flatMap((label) => (label === '' ? [] : [[label, SDK_LABELS[label] ?? []]])),
  ),
});
const counter = (name: string, help: string, labels?: string) => one('counter', `temporal_${name}_total`, help, labels);
const gauge = (name: string, help: string, labels?: string) => one('gauge', `temporal_${name}`, help, labels);
const latency = (name: string, help: string, labels?: string) =>
  one('histogram', `temporal_${name}_seconds`, help, labels);

const QUEUE = 'task_queue';
const WORKFLOW = 'task_queue workflow_type';
const ACTIVITY = 'task_queue activity_type workflow_type';

export const SDK_METRICS: readonly MetricDescription[] = [
  counter('request', 'Calls to Temporal', 'operation task_queue'),
  counter('request_failure', 'Calls to Temporal that failed', 'operation task_queue status_code'),
  latency('request_latency', 'Time of a call to Temporal', 'operation task_queue'),
  counter('long_request', 'Polls of Temporal', 'operation task_queue'),
  counter('long_request_failure', 'Polls of Temporal that failed', 'operation task_queue status_code'),
  latency('long_request_latency', 'Time of a poll of Temporal', 'operation task_queue'),
  counter('worker_start', 'Workers that were started', `${QUEUE} worker_type`),
  gauge('num_pollers', 'Polls of Temporal that wait now', `${QUEUE} poller_type`),
  gauge('worker_task_slots_available', 'Further tasks that the worker could take', `${QUEUE} worker_type`),
  gauge('worker_task_slots_used', 'Tasks that the worker works on', `${QUEUE} worker_type`),
  gauge('sticky_cache_size', 'Workflows that are cached', QUEUE),
  counter('sticky_cache_hit', 'Workflow tasks whose workflow was cached', WORKFLOW),
  counter('sticky_cache_miss', 'Workflow tasks whose workflow was not cached any more', WORKFLOW),
  counter('sticky_cache_total_forced_eviction', 'Workflows that were evicted from the cache for others', WORKFLOW),
  counter('workflow_completed', 'Workflow runs that completed', WORKFLOW),
  counter('workflow_canceled', 'Workflow runs that were cancelled', WORKFLOW),
  counter('workflow_failed', 'Workflow runs that failed', WORKFLOW),
  counter('workflow_continue_as_new', 'Workflow runs that continued as new', WORKFLOW),
  latency('workflow_endtoend_latency', 'Time of a workflow run', WORKFLOW),
  counter('workflow_task_queue_poll_empty', 'Polls that returned no workflow task', `${QUEUE} poller_type`),
  counter('workflow_task_queue_poll_succeed', 'Polls that returned a workflow task', `${QUEUE} poller_type`),
  counter('workflow_task_execution_failed', 'Workflow tasks that failed', `${WORKFLOW} failure_reason`),
  latency(
    'workflow_task_schedule_to_start_latency',
    'Time that a workflow task waited for a worker',
    `${QUEUE} poller_type`,
  ),
  latency('workflow_task_replay_latency', 'Time of a replay', WORKFLOW),
  latency('workflow_task_execution_latency', 'Time of a workflow task', WORKFLOW),
  counter('activity_poll_no_task', 'Polls that returned no activity', `${QUEUE} poller_type`),
  counter('activity_task_received', 'Activities that a worker received', ACTIVITY),
  counter('activity_execution_failed', 'Tries of activities that failed', `${ACTIVITY} failure_reason`),
  latency('activity_schedule_to_start_latency', 'Time that an activity waited for a worker', QUEUE),
  latency('activity_execution_latency', 'Time of a try of an activity', ACTIVITY),
  latency('activity_succeed_endtoend_latency', 'Time of an activity that succeeded, from its schedule on', ACTIVITY),
  counter('local_activity', 'Local activities', ACTIVITY),
  counter('local_activity_execution_cancelled', 'Local activities that were cancelled', ACTIVITY),
  counter('local_activity_execution_failed', 'Tries of local activities that failed', `${ACTIVITY} failure_reason`),
  latency('local_activity_execution_latency', 'Time of a try of a local activity', ACTIVITY),
  latency('local_activity_succeed_endtoend_latency', 'Time of a local activity that succeeded', ACTIVITY),
];
