// Rules about progress: nothing is stuck, every decision takes effect, a workflow is open exactly for waiting payments,
// and no process ends by itself.
import { approvalsNeeded, truthOf } from './operator-rules.ts';
import { isExplained, sendsOf } from './send-rules.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';
import { isLeftUnknown, isSentOnce, isToldOnce, UNTOLD_ROW } from './wires.ts';

/** A task may time out once after its worker died; a failing one is tried again and again. */
const TASK_ATTEMPTS_LIMIT = 3;

export const progressRules: Rules = (evidence) => [
  ...checkPending(evidence),
  ...checkApproved(evidence),
  ...checkWorkflows(evidence),
  ...checkProcesses(evidence),
];

const PENDING_COLLECTION = ['initiated', 'prompted', 'reconciling'];
const PENDING_MONEY_OUT = ['queued', 'released', 'reconciling'];

type Pending = { readonly id: string; readonly state: string; readonly updatedAt: Date };

function checkPending(evidence: Case): Violation[] {
  const { records, operator, workflows } = evidence;
  const lost = lostMoneyOut(evidence);
  const open = new Set(workflows.map(({ resourceId }) => resourceId));
  const stuck = ({ id, state, updatedAt }: Pending, why: string): Violation => ({
    rule: 'payment_stuck',
    id,
    text: `it is ${state} since ${updatedAt.toISOString()}, ${why}`,
  });
  // An undecided payment may wait if a workflow waits for it; any other pending payment after the end is stuck.
  const check = (row: Pending & { readonly operatorReference: string }, mayWait: readonly string[]): Violation[] => {
    const truth = truthOf(operator.get(row.operatorReference));
    const isUndecided = row.state === 'queued' ? truth === 'unknown' : truth === 'pending' || lost.has(row.id);
    if (!mayWait.includes(row.state) || !isUndecided) return [stuck(row, `and for the operator it is ${truth}`)];
    return open.has(row.id) ? [] : [stuck(row, 'and no workflow is open for it')];
  };
  return [
    ...records.collections.filter(({ state }) => PENDING_COLLECTION.includes(state)).flatMap((row) => check(row, [])),
    ...[...records.payouts, ...records.reversals]
      .filter(({ state }) => PENDING_MONEY_OUT.includes(state))
      .flatMap((row) => check(row, ['queued', 'reconciling'])),
  ];
}

/** Payouts and refunds that the operator may have or not, for all that anybody can find out: sent once, with an answer that decides nothing or none. */
function lostMoneyOut(evidence: Case): Set<string> {
  const { records, operator, interference } = evidence;
  const sends = new Map(sendsOf(evidence).map((send) => [send.id, send]));
  const lost = [...records.payouts, ...records.reversals].filter((row) => {
    const [sent, send] = [operator.get(row.operatorReference), sends.get(row.id)];
    if (isToldOnce(row) && sent?.row === UNTOLD_ROW) return true;
    if (!isSentOnce(row) || (truthOf(sent) !== 'unknown' && !isToldOnce(row))) return false;
    return isLeftUnknown(sent) || (send !== undefined && isExplained(send, interference.faults));
  });
  return new Set(lost.map(({ id }) => id));
}

/** The states of a payout or refund that was never released. */
const NOT_RELEASED = ['queued', 'rejected', 'cancelled', 'expired'];

// The last required approval releases the payment, and its maker may still cancel it. An approval after the payout's
// end was refused, and is not recorded.
function checkApproved({ records }: Case): Violation[] {
  const approvals = groupBy(records.approvals, ({ paymentId }) => paymentId);
  return [...records.payouts, ...records.reversals].flatMap((row): Violation[] => {
    const others = (approvals.get(row.id) ?? []).filter(({ userId }) => userId !== row.createdBy);
    if (
      !NOT_RELEASED.includes(row.state) ||
      row.sendDeadlineAt !== null ||
      others.length < approvalsNeeded(row, records)
    )
      return [];
    const approvers = others.map(({ userId }) => userId).join(' and ');
    return [{ rule: 'decision_ignored', id: row.id, text: `it was approved by ${approvers}, and it is ${row.state}` }];
  });
}

function checkWorkflows({ records, workflows }: Case): Violation[] {
  const waiting = new Set<string>();
  const add = (rows: readonly { id: string; state: string }[], states: readonly string[]) => {
    for (const { id, state } of rows) if (states.includes(state)) waiting.add(id);
  };
  add(records.collections, PENDING_COLLECTION);
  add([...records.payouts, ...records.reversals], PENDING_MONEY_OUT);
  add(records.deliveries, ['pending', 'retrying']);
  return workflows.flatMap(({ workflowId: id, resourceId, taskAttempts }) => {
    const violations: Violation[] = [];
    if (resourceId !== null && !waiting.has(resourceId)) {
      violations.push({ rule: 'workflow_without_payment', id, text: `it is open, and ${resourceId} does not wait` });
    }
    if (taskAttempts >= TASK_ATTEMPTS_LIMIT) {
      violations.push({ rule: 'workflow_failing', id, text: `its task is tried for the ${taskAttempts}th time` });
    }
    return violations;
  });
}

/** The description of an end: the exit code of the process itself, or the signal that ended it. */
const END = /\b(?:ended with code (?<code>\w+)|was ended by (?<signal>SIG\w+))/;

// Kills by the campaign do not count. A start that fails without an engine ends with a code, and is repeated.
function checkProcesses({ processEnds, interference }: Case): Violation[] {
  const sent = new Set(interference.signals.map(({ pid, signal }) => `${pid} ${signal}`));
  return processEnds
    .filter(({ pid, reason, wasReady }) => {
      const { code, signal } = END.exec(firstLine(reason))?.groups ?? {};
      return (code !== undefined && wasReady) || (signal !== undefined && !sent.has(`${pid ?? 0} ${signal}`));
    })
    .map(({ name, atMs, reason }) => ({
      rule: 'process_ended',
      id: name,
      text: `it ${firstLine(reason).replace(/^it /, '')} at ${new Date(atMs).toISOString()}`,
    }));
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
