// Checks of late work whose Temporal says what the test wants.
import type { Database } from '../../../src/db/platform/database.ts';
import { createLateWorkChecks } from '../../../src/dispatcher/late-work.ts';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import type { OpenRun, Work } from '../../../src/domain/work.ts';
import { testLog } from '../../support/engines.ts';

/** Checks whose Temporal describes the run of each piece of work as `runOf` says. */
export function checksOf(db: Database, runOf: (work: Work) => OpenRun | 'closed', terminated: string[] = []) {
  return createLateWorkChecks({
    db,
    temporal: {
      isConnected: () => true,
      inspect: (work) => Promise.resolve(runOf(work)),
      terminate: (work) => {
        terminated.push(work.id);
        return Promise.resolve('closed');
      },
    },
    startGraceMs: 0,
    clocks: REAL_CLOCKS,
    log: testLog,
    onLost: () => undefined,
  });
}
