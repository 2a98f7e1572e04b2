// What the sweep and the check of the ledger do.
import { cancellationSignal } from '@temporalio/activity';
import type { Database } from '../src/db/database.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import type { Log } from '../src/log.ts';
import { checkLedger } from '../src/queries/payments/check-ledger.ts';
import { checkRecentPayments } from '../src/queries/payments/check-recent-payments.ts';
import { purgeExpiredRecords } from '../src/operations/purge-expired-records.ts';
import { requeueStaleWork, type RequeuedWork } from '../src/operations/requeue-stale-work.ts';
import { resealSecrets, type ResealedSecrets } from '../src/operations/reseal-secrets.ts';

export type ReconciliationActivityDeps = {
  readonly db: Database;
  readonly overdueAfterMs: number;
  readonly lateCheckEveryMs: number;
  readonly lateCheckForMs: number;
  readonly idempotencyKeptForMs: number;
  readonly callbacksKeptForMs: number;
  readonly keyRing: KeyRing;
  readonly log: Log;
};

export type { RequeuedWork };

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

type Faults = readonly { readonly subject: string; readonly fault: string }[];

const RECENT_MS = 2 * 3_600_000;
const BATCH = 500;
// What is left over waits for the next sweep.
const MOST_BATCHES = 20;

export function createReconciliationActivities(deps: ReconciliationActivityDeps) {
  const { db, log } = deps;

  function alarm(faults: Faults): Faults {
    for (const fault of faults) log.fatal(fault, 'the ledger does not add up');
    return faults;
  }

  return {
    async requeueStaleWork(): Promise<RequeuedWork> {
      const { overdueAfterMs, lateCheckEveryMs, lateCheckForMs } = deps;
      // One time for all batches: what one of them gave back is not due again for the next.
      const at = new Date();
      const released = { collections: 0, payouts: 0, reversals: 0, deliveries: 0 };
      for (let batch = 0; batch < MOST_BATCHES; batch++) {
        const due = { at, overdueAfterMs, lateCheckEveryMs, lateCheckForMs, limit: BATCH };
        const found = await requeueStaleWork(db, due);
        for (const noun of Object.keys(found) as (keyof RequeuedWork)[]) released[noun] += found[noun];
        if (Object.values(found).every((count) => count === 0)) break;
      }
      if (Object.values(released).some((count) => count > 0)) log.info(released, 'overdue work is started again');
      return released;
    },

    /** Payments of the last hours: most faults are seen within minutes of their making. */
    async checkRecentPayments(): Promise<Faults> {
      const madeSince = new Date(Date.now() - RECENT_MS);
      return alarm(await checkRecentPayments(db, madeSince, cancellationSignal()));
    },

    /** All of it. */
    async checkLedger(): Promise<Faults> {
      return alarm(await checkLedger(db, cancellationSignal()));
    },

    /**
     * Removes what is over, and seals anew what an older key sealed. The latter is no step of its own in the workflow, so
     * that a sweep under way while a new version starts goes on.
     */
    async purgeExpiredRecords(): Promise<number> {
      const now = Date.now();
      let purged = 0;
      for (let batch = 0; batch < MOST_BATCHES; batch++) {
        const removed = await purgeExpiredRecords(db, {
          idempotencyKeysBefore: new Date(now - deps.idempotencyKeptForMs),
          callbacksBefore: new Date(now - deps.callbacksKeptForMs),
          endedBefore: new Date(now),
          limit: BATCH,
        });
        purged += removed;
        if (removed === 0) break;
      }
      await resealAll(deps);
      return purged;
    },
  };
}

async function resealAll({ db, keyRing, log }: ReconciliationActivityDeps): Promise<void> {
  let resealed = 0;
  let last: ResealedSecrets | null = null;
  for (let batch = 0; batch < MOST_BATCHES && last?.resealed !== 0; batch++) {
    last = await resealSecrets(db, { keyRing, limit: BATCH });
    resealed += last.resealed;
  }
  const { left = 0, unopenable = 0 } = last ?? {};
  if (unopenable > 0) {
    log.error({ unopenable }, 'stored secrets cannot be opened: a key is not in MALIPO_SECRET_KEYS, or is another one');
  }
  // Said at every sweep while there are older keys: whoever is to take them away wants to know.
  if (keyRing.length > 1) {
    const message = left === 0 ? 'no stored secret needs an older key' : 'stored secrets still need an older key';
    log.info({ resealed, left }, message);
  }
}
