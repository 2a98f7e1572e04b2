// Holds the page on what the holder of Temporal can do against Temporal's API: every call that changes anything is in one of its
// entries, and every entry names tests that exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { findProjectRoot } from '../../src/project-root.ts';

const root = findProjectRoot();
const PAGE = 'docs/temporal-holder.md';
/** The files whose tests are meant where the page names none. */
const USUAL_FILES = [
  'test/workflows/temporal-holder.test.ts',
  'test/workflows/temporal-holder-delays.test.ts',
  'test/db/payments/statuses-by-hand.test.ts',
];

/** They read, and people may read: histories and search attributes hold ids and codes. */
const READING = /^(Describe|List|Get|Count|Scan|Validate)/;

/** The calls that change anything, or answer for our workers, by the beginning of the entry that they are in. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  read: [
    'QueryWorkflow',
    'PollWorkflowExecutionUpdate',
    'PollActivityExecution',
    'PollNexusOperationExecution',
    'PollWorkflowExecutionTimeSkipping',
    'FetchWorkerConfig',
  ],
  signal: ['SignalWorkflowExecution'],
  'end a run': [
    'RequestCancelWorkflowExecution',
    'TerminateWorkflowExecution',
    'DeleteWorkflowExecution',
    // A batch does to many what another call does to one.
    'StartBatchOperation',
    'StopBatchOperation',
  ],
  'set a run back': ['ResetWorkflowExecution'],
  'start a workflow of ours': [
    'StartWorkflowExecution',
    'SignalWithStartWorkflowExecution',
    'ExecuteMultiOperation',
    'CreateSchedule',
  ],
  'take tasks with a worker': [
    'PollWorkflowTaskQueue',
    'PollActivityTaskQueue',
    'RespondWorkflowTaskCompleted',
    'RespondWorkflowTaskFailed',
    'RespondQueryTaskCompleted',
    'ResetStickyTaskQueue',
  ],
  'fail an activity': [
    'RespondActivityTaskFailed',
    'RespondActivityTaskFailedById',
    'RespondActivityTaskCanceled',
    'RespondActivityTaskCanceledById',
  ],
  'pause an activity': [
    'PauseActivity',
    'UnpauseActivity',
    'PauseWorkflowExecution',
    'UnpauseWorkflowExecution',
    // All that a rule does is to pause.
    'CreateWorkflowRule',
    'DeleteWorkflowRule',
    'TriggerWorkflowRule',
  ],
  'have the tries of an activity': ['ResetActivity'],
  'change the timeouts': ['UpdateActivityOptions'],
  'change who gets tasks': [
    'UpdateWorkflowExecutionOptions',
    'UpdateTaskQueueConfig',
    'UpdateWorkerConfig',
    'RecordWorkerHeartbeat',
    'ShutdownWorker',
    'UpdateWorkerBuildIdCompatibility',
    'UpdateWorkerVersioningRules',
    'SetCurrentDeployment',
    'CreateWorkerDeployment',
    'DeleteWorkerDeployment',
    'SetWorkerDeploymentManager',
    'SetWorkerDeploymentCurrentVersion',
    'SetWorkerDeploymentRampingVersion',
    'CreateWorkerDeploymentVersion',
    'DeleteWorkerDeploymentVersion',
    'UpdateWorkerDeploymentVersionComputeConfig',
    'UpdateWorkerDeploymentVersionMetadata',
  ],
  'complete a send': ['RespondActivityTaskCompleted', 'RespondActivityTaskCompletedById'],
  'run our activities': [
    'StartActivityExecution',
    // What runs alone is theirs alone.
    'RequestCancelActivityExecution',
    'TerminateActivityExecution',
    'DeleteActivityExecution',
    'PauseActivityExecution',
    'UnpauseActivityExecution',
    'ResetActivityExecution',
    'UpdateActivityExecutionOptions',
  ],
  'complete a check of the ledger': ['RecordActivityTaskHeartbeat', 'RecordActivityTaskHeartbeatById'],
  'remove, pause, limit or misuse': ['UpdateSchedule', 'PatchSchedule', 'DeleteSchedule'],
  'change what the namespace knows': ['AddSearchAttributes', 'RemoveSearchAttributes'],
  'change, deprecate or remove the namespace': [
    'RegisterNamespace',
    'UpdateNamespace',
    'DeprecateNamespace',
    'DeleteNamespace',
    // To copy it to a cluster of theirs is to read; to move it there is to remove it here.
    'AddOrUpdateRemoteCluster',
    'RemoveRemoteCluster',
  ],
  'call what nothing of ours listens to': [
    'UpdateWorkflowExecution',
    'PollNexusTaskQueue',
    'RespondNexusTaskCompleted',
    'RespondNexusTaskFailed',
    'StartNexusOperationExecution',
    'RequestCancelNexusOperationExecution',
    'TerminateNexusOperationExecution',
    'DeleteNexusOperationExecution',
    'CreateNexusEndpoint',
    'UpdateNexusEndpoint',
    'DeleteNexusEndpoint',
  ],
};

type Entry = { readonly act: string; readonly outcome: string; readonly tests: string };

function entries(): Entry[] {
  const page = readFileSync(join(root, PAGE), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((line) => {
    const [, act = '', outcome = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    return { act, outcome, tests };
  });
}

function callsOf(service: unknown): string[] {
  return Object.keys((service as { readonly methods: object }).methods);
}

describe('the list of acts that the holder of Temporal can do', () => {
  it('has an entry for every call of Temporal’s API that changes anything', () => {
    const { workflowservice, operatorservice } = proto.temporal.api;
    const all = [workflowservice.v1.WorkflowService, operatorservice.v1.OperatorService].flatMap(callsOf);
    assert.ok(all.length > 100);
    const changing = all.filter((call) => !READING.test(call));
    assert.deepEqual(Object.values(CALLS).flat().sort(), changing.sort());
    const acts = entries().map(({ act }) => act);
    for (const beginning of Object.keys(CALLS)) {
      assert.equal(acts.filter((act) => act.startsWith(beginning)).length, 1, beginning);
    }
  });

  it('names files of tests that exist, and tests that they have', () => {
    for (const { act, outcome, tests } of entries()) {
      const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => textOf(file));
      const texts = [...files, ...USUAL_FILES.map(textOf)];
      const titles = tests.replaceAll(/`[^`]+`[:,]?/g, '').split(';');
      const named = titles.map((title) => title.trim()).filter((title) => title !== '');
      assert.ok(outcome !== '' && files.length + named.length > 0, act);
      for (const title of named) {
        // An ellipsis stands for what a table of cases inserts.
        const pieces = title.split('…').map((piece) => piece.trim());
        assert.ok(
          texts.some((text) => pieces.every((piece) => text.includes(piece))),
          `${act}: ${title}`,
        );
      }
    }
  });
});

/** A file is named by its path, or by its name where that is enough. */
function textOf(file: string): string {
  const path = ['', 'test/db/payments', 'test/workflows'].map((folder) => join(root, folder, file)).find(existsSync);
  assert.ok(path !== undefined, `${file} is no file`);
  return readFileSync(path, 'utf8');
}
