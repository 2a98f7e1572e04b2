// Keeps Temporal informed that a long activity still runs: when its process dies or stops, another worker takes over soon.
import { Context } from '@temporalio/activity';

/** A quarter of the time-out, so that a late one is no reason to start the activity again (`HEARTBEAT_TIMEOUT`). */
const HEARTBEAT_EVERY_MS = 5000;

/** Runs `work`, with a heartbeat at intervals while it waits for anything; `progress` is what a later try begins with. */
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

/** What the last heartbeat of an earlier try left, or undefined at the first try. */
export function progressOfEarlierTry(): unknown {
  return Context.current().info.heartbeatDetails;
}
