// Looks at an open run: whether its workflow task fails, and since when it has waited without any event.
import type { Client } from '@temporalio/client';
import type { OpenRun } from '../domain/work.ts';

/** Throws `WorkflowNotFoundError` when Temporal does not know the workflow. */
export async function inspectRun(client: Client, workflowId: string): Promise<OpenRun | 'closed'> {
  const { raw, runId, status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING') return 'closed';
  const taskAttempt = raw.pendingWorkflowTask?.attempt ?? 0;
  const isWaitingForOthers = taskAttempt > 0 || (raw.pendingActivities ?? []).length > 0;
  const quietSince = isWaitingForOthers ? null : await lastEventAt(client, workflowId, runId);
  return { runId, taskAttempt, quietSince };
}

async function lastEventAt(client: Client, workflowId: string, runId: string): Promise<Date | null> {
  const { history } = await client.connection.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const seconds = history?.events?.[0]?.eventTime?.seconds;
  return seconds ? new Date(Number(seconds) * 1000) : null;
}
