// The workflows that are open at Temporal, with the payment or delivery of each and whether its tasks fail.
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

export type OpenWorkflow = {
  readonly workflowId: string;
  readonly type: string;
  /** The id of the payment or delivery; null for the service's own workflows. */
  readonly resourceId: string | null;
  /** How often its present task was tried; above 1 after a failure or a time-out. */
  readonly taskAttempts: number;
};

const RESOURCE_ID = defineSearchAttributeKey('MalipoResourceId', SearchAttributeType.KEYWORD);

export async function readOpenWorkflows(address: string, namespace: string): Promise<OpenWorkflow[]> {
  const connection = await Connection.connect({ address, connectTimeout: '10s' });
  try {
    const client = new Client({ connection, namespace });
    const open: OpenWorkflow[] = [];
    for await (const { workflowId, type, runId, typedSearchAttributes } of client.workflow.list({
      query: `ExecutionStatus = 'Running'`,
    })) {
      const attempts = await taskAttempts(client, workflowId, runId);
      if (attempts === null) continue;
      open.push({
        workflowId,
        type,
        resourceId: typedSearchAttributes.get(RESOURCE_ID) ?? null,
        taskAttempts: attempts,
      });
    }
    return open;
  } finally {
    await connection.close();
  }
}

/** Null when it has closed since it was listed. */
async function taskAttempts(client: Client, workflowId: string, runId: string): Promise<number | null> {
  const { raw, status } = await client.workflow.getHandle(workflowId, runId).describe();
  return status.name === 'RUNNING' ? (raw.pendingWorkflowTask?.attempt ?? 1) : null;
}
