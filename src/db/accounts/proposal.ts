// The statements that proposals of both kinds share: changes of members and changes of the policy.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { NamedPerson } from '../../domain/accounts/member.ts';
import type { Proposal } from '../../domain/accounts/proposal.ts';
import { attestedColumns, attestedOnly, requireAttested, type AttestedRow } from './attested-rows.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';
import { personColumn } from './names.ts';
import { requireAttestedPeople, withAttestedPeople } from './user.ts';

type Source<Change, Own> = {
  readonly noun: 'member_change' | 'policy_change';
  /** The columns that only this kind has and that are not attested, of what `join` adds. */
  readonly columns?: string;
  /** Joins the table, which is `t`. */
  readonly join?: string;
  /** What only this kind has. */
  readonly toOwn: (row: Own) => Omit<Change, keyof Proposal<string, string>>;
  /** Whom it is about. */
  readonly about?: (row: Own) => NamedPerson;
};

type ProposalRow<Change> = Omit<Change, 'proposedBy' | 'decidedBy'> & {
  readonly proposer: NamedPerson;
  readonly decider: NamedPerson | null;
};

/** How a pending proposal ends. `by` is null for the service's staff, and for a withdrawal. */
export type Decision<State> = {
  readonly state: Exclude<State, 'pending' | 'replaced'>;
  readonly by: UserId | null;
  readonly at: Date;
};

/** The functions that read and decide the proposals of one kind. */
export function proposalStatements<Change extends Proposal<string, string>, Own>({
  noun,
  columns,
  join = '',
  toOwn,
  about,
}: Source<Change, Own>) {
  const table = `${noun}s` as const;
  const own = columns === undefined ? '' : `, ${columns}`;
  const select = `SELECT ${attestedColumns(table)}, t.state, ${personColumn('p')} AS proposer, ${personColumn('d')} AS decider,
      t.decided_at${own}
    FROM ${table} t JOIN users p ON p.id = t.proposed_by LEFT JOIN users d ON d.id = t.decided_by ${join}
    WHERE t.merchant_id = $1`;
  const LIST_PENDING = statement(`${noun}_list_pending`)`
    ${select} AND t.state = 'pending' AND t.expires_at > $2 ORDER BY t.id`;
  const FIND = statement(`${noun}_find`)`${select} AND t.id = $2`;
  const DECIDE = statement(`${noun}_decide`)`
    UPDATE ${noun}s SET state = $2, decided_by = $3, decided_at = $4
    WHERE id = $1 AND state = 'pending' AND expires_at > $4 RETURNING 1`;
  const WITHDRAW_OF = statement(`${noun}_withdraw_of`)`
    UPDATE ${noun}s SET state = 'withdrawn', decided_at = $3
    WHERE merchant_id = $1 AND proposed_by = $2 AND state = 'pending' AND expires_at > $3 RETURNING id`;
  type Row = ProposalRow<Proposal<string, string>> & Own & AttestedRow<typeof table>;
  const toChange = (row: Row): Change => {
    const { id, merchantId, state, proposer, createdAt, expiresAt, decider, decidedAt } = row;
    const common = { id, merchantId, state, createdAt, expiresAt, decidedAt };
    return { ...common, proposedBy: proposer, decidedBy: decider, ...toOwn(row) } as Change;
  };
  const peopleOf = (row: Row) => [row.proposer, row.decider, about?.(row) ?? null];
  return {
    /** Without those that no process of ours wrote, or whose people it did not: nobody can decide them. */
    listPending: async (db: Queryable, merchantId: MerchantId, at: Date): Promise<Change[]> => {
      const rows = attestedOnly(db, table, await db.run<Row>(LIST_PENDING, [merchantId, at]));
      return (await withAttestedPeople(db, rows, peopleOf)).map(toChange);
    },
    /** Throws `permission_denied` for a row that no process of ours wrote, or whose people it did not. */
    find: async (db: Queryable, merchantId: MerchantId, id: Change['id']): Promise<Change | null> => {
      const row = await findOne<Row>(db, FIND, [merchantId, id]);
      if (row === null) return null;
      requireAttested(db, table, row);
      await requireAttestedPeople(db, [row], peopleOf);
      return toChange(row);
    },
    /** Withdraws what the person proposed and nobody decided yet; returns the ids. */
    withdrawBy: async (
      tx: Tx,
      { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
      at: Date,
    ): Promise<Change['id'][]> =>
      (await tx.run<{ id: Change['id'] }>(WITHDRAW_OF, [merchantId, userId, at])).map(({ id }) => id),
    decide: async (tx: Tx, id: Change['id'], { state, by, at }: Decision<Change['state']>): Promise<boolean> =>
      (await tx.run(DECIDE, [id, state, by, at])).length === 1,
  };
}
