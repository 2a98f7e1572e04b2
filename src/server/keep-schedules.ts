// Keeps the schedules of the sweep and of the checks of the ledger there and running, for as long as a worker runs.
import type { Clocks } from '../domain/clocks.ts';
import type { Log } from '../log.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { keepTrying, type KeptTrying } from './keep-trying.ts';

/** Brings them up to date once, and from then on restores what somebody removed or paused. */
export function keepSchedules(
  temporal: Pick<TemporalClient, 'ensureSchedules' | 'restoreSchedules'>,
  clocks: Clocks,
  log: Log,
): KeptTrying {
  let areUpToDate = false;
  return keepTrying({
    failure: 'the schedules of the sweep and of the ledger checks could not be checked or restored',
    async work() {
      if (areUpToDate) await temporal.restoreSchedules(clocks);
      else await temporal.ensureSchedules(clocks);
      areUpToDate = true;
    },
    log,
    repeatEveryMs: clocks.scheduleCheckEveryMs,
  });
}
