// Records what an operator said in recovery about one reference of a payment.
import type { Queryable } from '../../db/platform/database.ts';
import { insertFinding, type NewFinding } from '../../db/payments/restore-finding.ts';

/** One statement. Of several answers about one reference the first stays, so a repeat changes nothing. */
export function recordFinding(db: Queryable, finding: NewFinding): Promise<void> {
  return insertFinding(db, finding);
}
