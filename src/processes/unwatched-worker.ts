// A Temporal worker that never breaks into workflow code, however long that runs.
import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/**
 * The SDK breaks into workflow code after five seconds. Where the process was frozen for so long, Node.js may then abort ("async hook
 * stack has become corrupted", nodejs/node#38503). And for any time-out Node.js starts and ends a thread at each step into workflow
 * code, 54 µs of CPU each, some 36 times for a collection by estimate. Our workflows have no loops without a wait, so nothing needs to be
 * broken into.
 */
export class UnwatchedWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    // The SDK passes it on to Node.js, for which no number means no time-out.
    const isolateExecutionTimeoutMs = undefined as unknown as number;
    return super.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs }, logger);
  }
}
