// The statements that proposals of both kinds share: changes of members and changes of the policy.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Proposal } from '../../domain/accounts/proposal.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

export type ProposalRow<Id, State> = {
  id: Id;
  merchant_id: MerchantId;
  state: State;
  proposed_by: UserId;
  proposer_name: string;
  created_at: Date;
  expires_at: Date;
  decided_by: UserId | null;
  decider_name: string | null;
  decided_at: Date | null;
};

type Source<Row, Change> = {
  readonly noun: 'member_change' | 'policy_change';
  /** The columns that only this kind has, of the table `c` or of what `join` adds. */
  readonly columns: string;
  readonly join?: string;
  readonly toChange: (row: Row) => Change;
};

/** How a pending proposal ends. `by` is null for the service's staff, and for a withdrawal. */
export type Decision<State> = {
  readonly state: Exclude<State, 'pending' | 'replaced'>;
  readonly by: UserId | null;
  readonly at: Date;
};

/** The functions that read and decide the proposals of one kind. */
export function proposalStatements<Row extends ProposalRow<string, string>, Change extends Proposal<string, string>>({
  noun,
  columns,
  join = '',
  toChange,
}: Source<Row, Change>) {
  const select = `SELECT c.id, c.merchant_id, c.state, c.proposed_by, p.name AS proposer_name, c.created_at, c.expires_at,
      c.decided_by, d.name AS decider_name, c.decided_at, ${columns}
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
    listPending: async (db: Queryable, merchantId: MerchantId, at: Date): Promise<Change[]> =>
      (await db.run<Row>(LIST_PENDING, [merchantId, at])).map(toChange),
    find: async (db: Queryable, merchantId: MerchantId, id: Change['id']): Promise<Change | null> => {
      const [row] = await db.run<Row>(FIND, [merchantId, id]);
      return row ? toChange(row) : null;
    },
    decide: async (tx: Tx, id: Change['id'], { state, by, at }: Decision<Change['state']>): Promise<boolean> =>
      (await tx.run(DECIDE, [id, state, by, at])).length === 1,
  };
}

/** The fields that every proposal has. */
export function toProposal<Id, State>(row: ProposalRow<Id, State>): Proposal<Id, State> {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    state: row.state,
    proposedBy: { id: row.proposed_by, name: row.proposer_name },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by === null ? null : { id: row.decided_by, name: row.decider_name ?? '' },
    decidedAt: row.decided_at,
  };
}
