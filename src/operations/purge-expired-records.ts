// Deletes expired records: what src/domain/retention.ts names, each when its time is over.
import type { Database } from '../db/platform/database.ts';
import type { RetainedSince } from '../domain/retention.ts';
import { UPDATES_KEPT_FOR_MS } from '../domain/live-update.ts';
import { eraseEndedSecrets } from '../db/webhooks/endpoint.ts';
import { deleteIdempotencyKeys } from '../db/payments/idempotency-key.ts';
import { deleteApiRequests } from '../db/accounts/api-request.ts';
import { deleteStateChanges } from '../db/state-changes.ts';
import { deleteOperatorCallbacks } from '../db/payments/operator-callback.ts';
import { deleteExchanges } from '../db/payments/operator-exchange.ts';
import { deleteOperatorQueries } from '../db/payments/operator-message.ts';
import { deletePayeeNames } from '../db/payments/payee-name.ts';
import { deleteEndedCounters } from '../db/accounts/attempt-counter.ts';
import { deleteEndedChallenges } from '../db/accounts/passkey.ts';
import { deleteEndedRecoveries } from '../db/accounts/recovery.ts';
import { deleteEndedSessions } from '../db/accounts/session.ts';

/** Of what every payment and every request leaves, so many more: each has several. */
const MANY = 20;

export type PurgeExpiredRecords = {
  readonly retainedSince: RetainedSince;
  /** For the challenges of passkeys and the previous secrets of endpoints: those that ended before. */
  readonly endedBefore: Date;
  readonly limit: number;
};

/** Deletes at most `limit` records of each kind, of state changes and requests twenty times as many; returns how many. Call it again until it returns 0. */
export async function purgeExpiredRecords(db: Database, input: PurgeExpiredRecords): Promise<number> {
  const { retainedSince: since, endedBefore, limit } = input;
  return db.withTransaction(async (tx) => {
    const keys = await deleteIdempotencyKeys(tx, since.idempotency_keys, limit);
    const callbacks = await deleteOperatorCallbacks(tx, since.operator_callbacks, limit);
    const exchanges = await deleteExchanges(tx, since.operator_exchanges, limit);
    const queries = await deleteOperatorQueries(tx, since.operator_queries, limit);
    const names = await deletePayeeNames(tx, since.payee_names, limit);
    const sessions = await deleteEndedSessions(tx, since.sessions, limit);
    const counters = await deleteEndedCounters(tx, since.attempt_counters, limit);
    const recoveries = await deleteEndedRecoveries(tx, since.recoveries, limit);
    const challenges = await deleteEndedChallenges(tx, endedBefore, limit);
    const requests = await deleteApiRequests(tx, since.api_requests, limit * MANY);
    const changes = await deleteStateChanges(tx, new Date(endedBefore.getTime() - UPDATES_KEPT_FOR_MS), limit * MANY);
    const secrets = await eraseEndedSecrets(tx, endedBefore, limit);
    return (
      keys +
      callbacks +
      exchanges +
      queries +
      names +
      sessions +
      counters +
      recoveries +
      challenges +
      requests +
      changes +
      secrets
    );
  });
}
