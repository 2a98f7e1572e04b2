// Links new entries of audit logs into their hash chains, signs the chains once an hour, and logs each signed head.
import type { Database } from '../db/platform/database.ts';
import type { Log } from '../log.ts';
import {
  findForeignHeads,
  linkAuditEntries,
  signAuditHeads,
  type SignAuditHeads,
} from '../operations/accounts/link-audit-entries.ts';
import type { Pass } from './dispatcher.ts';

export type AuditChainsOptions = {
  readonly db: Database;
  /** Its first key signs. */
  readonly ring: SignAuditHeads['ring'];
  readonly log: Log;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
};

const BATCH_SIZE = 500;
// The rest waits for the next tick, so that a stop need not wait for all of it.
const MAX_BATCHES_PER_TICK = 20;
const HEADS_PER_TICK = 100;
// This reads the last head of each log.
const CHECK_HEADS_EVERY_MS = 60_000;

export function createAuditChains({ db, ring, log, nowMs = () => performance.now() }: AuditChainsOptions): Pass {
  let checkedAtMs = -Infinity;

  async function reportForeignHeads(): Promise<void> {
    if (nowMs() - checkedAtMs < CHECK_HEADS_EVERY_MS) return;
    checkedAtMs = nowMs();
    for (const { chain, position, hash } of await findForeignHeads(db, ring)) {
      const head = `${position}:${hash.toString('hex')}`;
      log.fatal({ chain, head }, 'a head of an audit log has no signature of this service');
    }
  }

  return {
    async run() {
      for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
        if ((await linkAuditEntries(db, BATCH_SIZE)) < BATCH_SIZE) break;
      }
      const heads = await signAuditHeads(db, { ring, at: new Date(), limit: HEADS_PER_TICK });
      for (const { chain, position, hash, keyName } of heads) {
        // A person who changes the database cannot change the logged heads: `audit verify --head` compares them.
        const head = `${position}:${hash.toString('hex')}`;
        log.info({ chain, head, keyName }, 'the audit log is signed up to here');
      }
      await reportForeignHeads();
    },
  };
}
