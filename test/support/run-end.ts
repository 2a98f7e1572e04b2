// The stops at the end of the test run: code that starts a resource registers its stop here.

type Stop = (isEarly: boolean) => Promise<void>;

const stops: Stop[] = [];

/**
 * `stop` is called once when the run ends, before the stops that were registered earlier; `isEarly`: in the middle of the tests, by a
 * signal.
 */
export function atRunEnd(stop: Stop): void {
  stops.unshift(stop);
}

/** Stops everything; what cannot be stopped keeps nothing else running. */
export async function endRun(isEarly = false): Promise<void> {
  const problems: unknown[] = [];
  for (const stop of stops.splice(0)) await stop(isEarly).catch((error: unknown) => problems.push(error));
  if (problems.length > 0) throw new AggregateError(problems, 'not everything could be stopped');
}
