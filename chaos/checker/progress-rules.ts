// Rules about progress: nothing is stuck, a workflow is open exactly for what still waits, and no process ends by itself.
import { truthOf } from './operator-rules.ts';
import type { Case, Rules, Violation } from './violation.ts';

/** A task may time out once when its worker died; one that fails is tried again and again. */
const TASK_ATTEMPTS_LIMIT = 3;
const RECHECK_PREFIX = 'recheck/';

export const progressRules: Rules = (evidence) => [
  ...checkPending(evidence),
  ...checkWorkflows(evidence),
  ...checkProcesses(evidence),
];

type Pending = { readonly id: string; readonly state: string; readonly updatedAt: Date };

function checkPending({ records, operator, workflows }: Case): Violation[] {
  const open = new Set(workflows.map(({ resourceId }) => resourceId));
  const stuck = ({ id, state, updatedAt }: Pending, why: string): Violation => ({
    rule: 'payment_stuck',
    id,
    text: `it is ${state} since ${updatedAt.toISOString()}, ${why}`,
  });
  // What is not decided may wait, if a workflow waits for it; anything else that is pending after the end is stuck.
  const check = (row: Pending & { readonly operatorReference: string }, mayWait: readonly string[]): Violation[] => {
    const truth = truthOf(operator.get(row.operatorReference));
    const isUndecided = row.state === 'queued' ? truth === 'unknown' : truth === 'pending';
    if (!mayWait.includes(row.state) || !isUndecided) return [stuck(row, `and for the operator it is ${truth}`)];
    return open.has(row.id) ? [] : [stuck(row, 'and no workflow is open for it')];
  };
  return [
    ...records.collections
      .filter(({ state }) => ['initiated', 'prompted', 'reconciling'].includes(state))
      .flatMap((row) => check(row, [])),
    ...records.payouts
      .filter(({ state }) => ['queued', 'released', 'reconciling'].includes(state))
      .flatMap((row) => check(row, ['queued', 'reconciling'])),
    ...records.reversals
      .filter(({ state }) => ['requested', 'reconciling'].includes(state))
      .flatMap((row) => check(row, ['reconciling'])),
  ];
}

function checkWorkflows({ records, workflows }: Case): Violation[] {
  const waiting = new Set<string>();
  const final = new Set<string>();
  const sort = (rows: readonly { id: string; state: string }[], states: readonly string[]) => {
    for (const { id, state } of rows) (states.includes(state) ? waiting : final).add(id);
  };
  sort(records.collections, ['initiated', 'prompted', 'reconciling']);
  sort(records.payouts, ['queued', 'released', 'reconciling']);
  sort(records.reversals, ['requested', 'reconciling']);
  sort(records.deliveries, ['pending', 'retrying']);
  return workflows.flatMap(({ workflowId, resourceId, taskAttempts }): Violation[] => {
    const isRecheck = workflowId.startsWith(RECHECK_PREFIX) && final.has(resourceId ?? '');
    const isWanted = resourceId === null || waiting.has(resourceId) || isRecheck;
    return [
      ...(isWanted
        ? []
        : [
            {
              rule: 'workflow_without_payment',
              id: workflowId,
              text: `it is open, and ${resourceId} does not wait`,
            } as const,
          ]),
      ...(taskAttempts < TASK_ATTEMPTS_LIMIT
        ? []
        : [
            {
              rule: 'workflow_failing',
              id: workflowId,
              text: `its task is tried for the ${taskAttempts}th time`,
            } as const,
          ]),
    ];
  });
}

// A signal is the campaign's own doing; an exit code is the process's.
function checkProcesses({ processEnds }: Case): Violation[] {
  return processEnds
    .filter(({ wasReady, reason }) => wasReady && reason.startsWith('ended with code'))
    .map(({ name, atMs, reason }) => ({
      rule: 'process_ended',
      id: name,
      text: `it ${reason} at ${new Date(atMs).toISOString()}`,
    }));
}
