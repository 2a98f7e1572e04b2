// The activities of the sweep and of the checks of the ledger.
import { cancellationSignal } from '@temporalio/activity';
import { progressOfEarlierTry, whileHeartbeating } from './heartbeats.ts';
import { attestCheck, continuedFrom, type StartedCheck } from './ledger-check-progress.ts';
import type { Database } from '../src/db/platform/database.ts';
import { markDone } from '../src/db/platform/housekeeping.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import type { HousekeepingTask } from '../src/domain/housekeeping.ts';
import { retainedSince } from '../src/domain/retention.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import type { Log } from '../src/log.ts';
import {
  continueLedgerCheck,
  findUnsettled,
  LEDGER_CHECK_START,
  checkRecentPayments,
} from '../src/operations/payments/check-ledger.ts';
import { checkLedgerChanges } from '../src/operations/payments/check-ledger-changes.ts';
import { recordLeftOutRefusals } from '../src/operations/accounts/audit-log.ts';
import { purgeExpiredRecords } from '../src/operations/purge-expired-records.ts';
import { resealSecrets, type ResealedSecrets } from '../src/operations/reseal-secrets.ts';

export type ReconciliationActivityDeps = {
  readonly db: Database;
  readonly clocks: Clocks;
  readonly keyRing: KeyRing;
  readonly attestationKeys: KeyRing;
  readonly log: Log;
};

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

type Faults = readonly { readonly subject: string; readonly fault: string }[];

const RECENT_MS = 2 * 3_600_000;
const BATCH = 500;
// Further batches wait for the next sweep.
const MOST_BATCHES = 20;

export function createReconciliationActivities(deps: ReconciliationActivityDeps) {
  const { db, attestationKeys, log } = deps;

  // The report is in the log and in the database, because a person who completes the activity by hand decides what Temporal shows.
  async function report(task: HousekeepingTask, beganAt: Date, faults: Faults): Promise<Faults> {
    for (const fault of faults) log.fatal(fault, 'the ledger does not add up');
    await markDone(db, { task, doneAsOf: beganAt, faults: faults.length });
    log.debug({ task, beganAt, faults: faults.length }, 'housekeeping is done');
    return faults;
  }

  return {
    /** Checks the payments of the last hours, so that most faults are found within minutes. */
    async checkRecentPayments(): Promise<Faults> {
      const beganAt = new Date();
      const createdSince = new Date(beganAt.getTime() - RECENT_MS);
      const faults = await whileHeartbeating(() => checkRecentPayments(db, createdSince, cancellationSignal()));
      return report('recent_payments', beganAt, faults);
    },

    /** Checks the changes of the ledger since the previous check, and that nothing is unsettled for days. */
    async checkLedger(): Promise<Faults> {
      const beganAt = new Date();
      const faults = await whileHeartbeating(async () => [
        ...(await checkLedgerChanges(db, beganAt, cancellationSignal())),
        ...(await findUnsettled(db)),
      ]);
      return report('ledger_check', beganAt, faults);
    },

    /** Checks the whole ledger, and continues where an earlier try of the same check stopped. */
    async checkWholeLedger(): Promise<Faults> {
      const start: StartedCheck = { beganAtMs: Date.now(), progress: LEDGER_CHECK_START };
      let check = continuedFrom(progressOfEarlierTry(), attestationKeys, log) ?? start;
      await whileHeartbeating(
        async () => {
          while (check.progress.part !== 'done') {
            check = { ...check, progress: await continueLedgerCheck(db, check.progress, cancellationSignal()) };
          }
        },
        () => attestCheck(check, attestationKeys),
      );
      log.info(
        { beganAt: new Date(check.beganAtMs), faults: check.progress.faults.length },
        'the whole ledger is checked',
      );
      return report('whole_ledger_check', new Date(check.beganAtMs), check.progress.faults);
    },

    /**
     * Removes expired records, records in the audit logs how many refusals they leave out, and reseals secrets that an older key sealed.
     */
    async purgeExpiredRecords(): Promise<number> {
      const beganAt = new Date();
      const purged = await whileHeartbeating(() => purgeAll(deps));
      await report('purge', beganAt, []);
      return purged;
    },
  };
}

async function purgeAll(deps: ReconciliationActivityDeps): Promise<number> {
  const at = new Date();
  let purged = 0;
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const removed = await purgeExpiredRecords(deps.db, {
      retainedSince: retainedSince(deps.clocks, at),
      endedBefore: at,
      limit: BATCH,
    });
    purged += removed;
    if (removed === 0) break;
  }
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    if ((await recordLeftOutRefusals(deps.db, at, BATCH)) === 0) break;
  }
  await resealAll(deps);
  return purged;
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
    log.error(
      { unopenable },
      'stored secrets cannot be opened: MALIPO_SECRET_KEYS lacks their key, or has another key of that name',
    );
  }
  // Logged at every sweep while there are older keys, for the person who wants to remove these keys.
  if (keyRing.length > 1) {
    const message = left === 0 ? 'no stored secret needs an older key' : 'stored secrets still need an older key';
    log.info({ resealed, left }, message);
  }
}
