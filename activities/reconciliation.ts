// The activities of the sweep and of the ledger check.
import { cancellationSignal } from '@temporalio/activity';
import { progressOfEarlierTry, whileHeartbeating } from './heartbeats.ts';
import type { Database } from '../src/db/database.ts';
import type { Clocks } from '../src/domain/clocks.ts';
import { IDEMPOTENCY_KEPT_FOR_MS } from '../src/domain/payments/payment-request.ts';
import type { KeyRing } from '../src/security/sealing.ts';
import type { Log } from '../src/log.ts';
import {
  continueLedgerCheck,
  LEDGER_CHECK_START,
  type LedgerCheckProgress,
} from '../src/queries/payments/check-ledger.ts';
import { checkRecentPayments } from '../src/queries/payments/check-recent-payments.ts';
import { purgeExpiredRecords } from '../src/operations/purge-expired-records.ts';
import { resealSecrets, type ResealedSecrets } from '../src/operations/reseal-secrets.ts';

export type ReconciliationActivityDeps = {
  readonly db: Database;
  readonly clocks: Clocks;
  readonly keyRing: KeyRing;
  readonly log: Log;
};

export type ReconciliationActivities = ReturnType<typeof createReconciliationActivities>;

type Faults = readonly { readonly subject: string; readonly fault: string }[];

const RECENT_MS = 2 * 3_600_000;
const BATCH = 500;
// The rest waits for the next sweep.
const MOST_BATCHES = 20;

export function createReconciliationActivities(deps: ReconciliationActivityDeps) {
  const { db, log } = deps;

  function reportFaults(faults: Faults): Faults {
    for (const fault of faults) log.fatal(fault, 'the ledger does not add up');
    return faults;
  }

  return {
    /** Checks the payments of the last hours, so that most faults are found within minutes. */
    async checkRecentPayments(): Promise<Faults> {
      const createdSince = new Date(Date.now() - RECENT_MS);
      return reportFaults(await whileHeartbeating(() => checkRecentPayments(db, createdSince, cancellationSignal())));
    },

    /** Checks the whole ledger, from where an earlier try of this check came to. */
    async checkLedger(): Promise<Faults> {
      let progress = (progressOfEarlierTry() as LedgerCheckProgress | undefined) ?? LEDGER_CHECK_START;
      await whileHeartbeating(
        async () => {
          while (progress.part !== 'done') progress = await continueLedgerCheck(db, progress, cancellationSignal());
        },
        () => progress,
      );
      return reportFaults(progress.faults);
    },

    /** Removes expired records, and reseals secrets that an older key sealed. */
    async purgeExpiredRecords(): Promise<number> {
      return whileHeartbeating(() => purgeAll(deps));
    },
  };
}

async function purgeAll(deps: ReconciliationActivityDeps): Promise<number> {
  const now = Date.now();
  let purged = 0;
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const removed = await purgeExpiredRecords(deps.db, {
      idempotencyKeysBefore: new Date(now - IDEMPOTENCY_KEPT_FOR_MS),
      callbacksBefore: new Date(now - deps.clocks.callbacksKeptForMs),
      endedBefore: new Date(now),
      limit: BATCH,
    });
    purged += removed;
    if (removed === 0) break;
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
    log.error({ unopenable }, 'stored secrets cannot be opened: a key is not in MALIPO_SECRET_KEYS, or is another one');
  }
  // Logged at every sweep while there are older keys, for the person who wants to remove them.
  if (keyRing.length > 1) {
    const message = left === 0 ? 'no stored secret needs an older key' : 'stored secrets still need an older key';
    log.info({ resealed, left }, message);
  }
}
