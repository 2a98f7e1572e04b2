// The open workflows at Temporal, with the payment or delivery of each and whether its tasks fail.
import { Client, Connection, type WorkflowClient } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

export type OpenWorkflow = {
  readonly workflowId: string;
  readonly type: string;
  /** The id of the payment or delivery; null for the service's own workflows. */
  readonly resourceId: string | null;
  /** The tries of its present task; above 1 after a failure or a timeout. */
  readonly taskAttempts: number;
};

const RESOURCE_ID = defineSearchAttributeKey('MalipoResourceId', SearchAttributeType.KEYWORD);

/** Calls at once: a campaign may leave hundreds of waiting payments. */
const CALLS_AT_ONCE = 20;

export async function readOpenWorkflows(address: string, namespace: string): Promise<OpenWorkflow[]> {
  const connection = await Connection.connect({ address, connectTimeout: '10s' });
  try {
    const { workflow } = new Client({ connection, namespace });
    const listed: Listed[] = [];
    for await (const { workflowId, type, runId, typedSearchAttributes } of workflow.list({
      query: `ExecutionStatus = 'Running'`,
    })) {
      listed.push({ workflowId, runId, type, resourceId: typedSearchAttributes.get(RESOURCE_ID) ?? null });
    }
    const open: OpenWorkflow[] = [];
    for (let start = 0; start < listed.length; start += CALLS_AT_ONCE) {
      const described = listed.slice(start, start + CALLS_AT_ONCE).map((each) => describeOpen(workflow, each));
      open.push(...(await Promise.all(described)).filter((each) => each !== null));
    }
    return open;
  } finally {
    await connection.close();
  }
}

type Listed = Omit<OpenWorkflow, 'taskAttempts'> & { readonly runId: string };

/** Null if it has closed since it was listed. */
async function describeOpen(client: WorkflowClient, { runId, ...listed }: Listed): Promise<OpenWorkflow | null> {
  const { raw, status } = await client.getHandle(listed.workflowId, runId).describe();
  return status.name === 'RUNNING' ? { ...listed, taskAttempts: raw.pendingWorkflowTask?.attempt ?? 1 } : null;
}
