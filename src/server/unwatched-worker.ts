// A Temporal worker that runs workflow code in this thread, never interrupts it, and keeps no record of its promises.
import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/**
 * Omits three features of the SDK. docs/performance.md has their cost.
 *
 * The SDK interrupts workflow code after five seconds. If the process was frozen for that long, Node.js may then abort
 * ("async hook stack has become corrupted", nodejs/node#38503). For any timeout Node.js also starts and ends a thread
 * at each step into workflow code. Our workflows have no loops without a wait, so no interruption is needed.
 *
 * The SDK runs workflow code in a separate thread and copies every task and command. Our steps cost little more than
 * these copies, so they run here; each blocks this thread for an estimated half millisecond.
 *
 * The SDK takes a stack trace of each promise, for "Call Stack" in the Temporal UI, which now says that stack traces
 * are not enabled. The details of a run say in words what it waits for.
 */
export class UnwatchedWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    Object.assign(globalHandlers, { setPromiseHook: () => undefined });
    // The SDK passes the value to Node.js, for which no number means no timeout.
    const isolateExecutionTimeoutMs = undefined as unknown as number;
    // The debug mode of the SDK runs in this thread.
    return super.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs, debugMode: true }, logger);
  }
}
