// A Temporal worker that runs workflow code in this thread, never breaks into it, and keeps no record of its promises.
import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/**
 * What the SDK does beyond running workflow code, and what it costs: docs/performance.md has the figures.
 *
 * It breaks into workflow code after five seconds. Where the process was frozen for so long, Node.js may then abort ("async hook stack has
 * become corrupted", nodejs/node#38503). And for any time-out Node.js starts and ends a thread at each step into workflow code. Our
 * workflows have no loops without a wait, so nothing needs to be broken into.
 *
 * It runs workflow code in a thread of its own, to which it sends every task and from which it gets every command as a copy. A step of ours
 * costs little more than these copies, so it runs here; while it does, for half a millisecond by estimate, nothing else does.
 *
 * It takes a stack trace of each promise, to show where a run waits when somebody asks for that ("Call Stack" in the Temporal UI, which
 * now says that stack traces are not enabled). The details of a run say in words what it waits for.
 */
export class UnwatchedWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    Object.assign(globalHandlers, { setPromiseHook: () => undefined });
    // The SDK passes it on to Node.js, for which no number means no time-out.
    const isolateExecutionTimeoutMs = undefined as unknown as number;
    // What it calls its debug mode is this thread.
    return super.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs, debugMode: true }, logger);
  }
}
