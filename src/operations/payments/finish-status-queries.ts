// Ends status queries that decided nothing or failed: sets the next query of each payment, or ends the queries for lack of a status.
import { recordServiceAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { finishQueries, type ClaimedQuery, type FinishedQuery } from '../../db/work/status-queries.ts';

export type QueryResult = FinishedQuery & {
  /** The operator gave no status of a final payment for so long that its queries end. */
  readonly isGivenUp: boolean;
};

/**
 * One statement, or one transaction if the queries of final payments end; returns these payments. Such a payment keeps its recorded state;
 * an entry in the merchant's audit log says that nobody knows whether the operator contradicts it. A later callback causes another query.
 * Repeating this changes nothing.
 */
export async function finishStatusQueries(
  db: Database,
  results: readonly QueryResult[],
  at: Date,
): Promise<ClaimedQuery[]> {
  const givenUp = results.filter(({ isGivenUp }) => isGivenUp).map(({ query }) => query);
  if (givenUp.length === 0) {
    await finishQueries(db, results);
    return [];
  }
  return db.withTransaction(async (tx) => {
    const over = new Set(await finishQueries(tx, results));
    const ended = givenUp.filter(({ id }) => over.has(id));
    for (const { kind, id, merchantId } of ended) {
      const act = { action: `${kind}.rechecks_ended`, subjectId: id, after: { reason: 'no_status' }, at } as const;
      await recordServiceAct(tx, merchantId, act);
    }
    return ended;
  });
}
