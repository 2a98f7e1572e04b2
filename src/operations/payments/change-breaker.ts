// Opens and closes the breaker of an operator's product by hand.
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { closeBreakerByStaff, openBreakerByStaff } from '../../db/work/breakers.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { Product } from '../../domain/payments/breaker.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';

export type ChangeBreaker = {
  readonly operator: OperatorId;
  readonly product: Product;
  /** Null: the breaker is closed. */
  readonly opening: { readonly reason: string } | null;
  readonly by: StaffMember;
  readonly at: Date;
};

/**
 * One transaction, with an entry in the service's own audit log; returns the previous state of the breaker. A breaker that a person opened
 * is closed only by a person. A breaker that a person closed opens again by itself if the operator still takes no calls. To close a closed
 * breaker changes nothing.
 */
export async function changeBreaker(
  db: Database,
  { operator, product, opening, by, at }: ChangeBreaker,
): Promise<string> {
  return db.withTransaction(async (tx) => {
    const record = (act: 'opened' | 'closed', after: object) =>
      recordStaffAct(tx, null, by, { action: `breaker.${act}`, subjectId: `${operator}.${product}`, after, at });
    if (opening !== null) {
      const before = await openBreakerByStaff(tx, operator, product, opening.reason);
      await record('opened', opening);
      return before;
    }
    const isChanged = await closeBreakerByStaff(tx, operator, product);
    if (isChanged) await record('closed', {});
    return isChanged ? 'open' : 'closed';
  });
}
