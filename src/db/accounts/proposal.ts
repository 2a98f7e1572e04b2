// The statements that proposals of both kinds share: changes of members and changes of the policy.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Proposal } from '../../domain/accounts/proposal.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';
import { named } from './named.ts';

type Source = {
  readonly noun: 'member_change' | 'policy_change';
  /** The columns that only this kind has, of the table `c` or of what `join` adds. */
  readonly columns: string;
  readonly join?: string;
};

/** How a pending proposal ends. `by` is null for the service's staff, and for a withdrawal. */
export type Decision<State> = {
  readonly state: Exclude<State, 'pending' | 'replaced'>;
  readonly by: UserId | null;
  readonly at: Date;
};

/** The functions that read and decide the proposals of one kind. */
export function proposalStatements<Change extends Proposal<string, string>>({ noun, columns, join = '' }: Source) {
  const select = `SELECT c.id, c.merchant_id, c.state, ${named('p')} AS proposed_by, c.created_at, c.expires_at,
      ${named('d')} AS decided_by, c.decided_at, ${columns}
    FROM ${noun}s c JOIN users p ON p.id = c.proposed_by LEFT JOIN users d ON d.id = c.decided_by ${join}
    WHERE c.merchant_id = $1`;
  const LIST_PENDING = statement(
    `${noun}_list_pending`,
    `${select} AND c.state = 'pending' AND c.expires_at > $2 ORDER BY c.id`,
  );
  const FIND = statement(`${noun}_find`, `${select} AND c.id = $2`);
  const DECIDE = statement(
    `${noun}_decide`,
    `UPDATE ${noun}s SET state = $2, decided_by = $3, decided_at = $4
     WHERE id = $1 AND state = 'pending' AND expires_at > $4 RETURNING 1`,
  );
  return {
    listPending: (db: Queryable, merchantId: MerchantId, at: Date) => db.run<Change>(LIST_PENDING, [merchantId, at]),
    find: (db: Queryable, merchantId: MerchantId, id: Change['id']) => findOne<Change>(db, FIND, [merchantId, id]),
    decide: async (tx: Tx, id: Change['id'], { state, by, at }: Decision<Change['state']>): Promise<boolean> =>
      (await tx.run(DECIDE, [id, state, by, at])).length === 1,
  };
}
