// Tells Temporal that a long activity still runs: if its process dies or stops, another worker soon takes over.
import { Context } from '@temporalio/activity';

/** A quarter of the timeout (`HEARTBEAT_TIMEOUT`), so that a late heartbeat does not start the activity again. */
const HEARTBEAT_EVERY_MS = 5000;

/** Runs `work`, with a heartbeat at intervals while `work` waits; a later try begins with `progress`. */
export async function whileHeartbeating<Result>(
  work: () => Promise<Result>,
  progress: () => unknown = () => undefined,
): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => {
    context.heartbeat(progress());
  }, HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The progress in the last heartbeat of an earlier try; undefined at the first try. */
export function progressOfEarlierTry(): unknown {
  return Context.current().info.heartbeatDetails;
}
