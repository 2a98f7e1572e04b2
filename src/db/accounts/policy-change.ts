// Rows of proposals to change a merchant's policy.
import type { MerchantId, PolicyChangeId, UserId } from '../../domain/ids.ts';
import type { PolicyChange, PolicyChangeState, PolicyObject } from '../../domain/accounts/policy.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

type PolicyChangeRow = {
  id: PolicyChangeId;
  merchant_id: MerchantId;
  state: PolicyChangeState;
  changes: Partial<PolicyObject>;
  proposed_by: UserId;
  proposer_name: string;
  created_at: Date;
  expires_at: Date;
  decided_by: UserId | null;
  decider_name: string | null;
  decided_at: Date | null;
};

const INSERT = statement(
  'policy_change_insert',
  `INSERT INTO policy_changes (id, merchant_id, state, changes, proposed_by, created_at, expires_at)
   VALUES ($1, $2, 'pending', $3, $4, $5, $6)`,
);

export type NewPolicyChange = {
  readonly id: PolicyChangeId;
  readonly merchantId: MerchantId;
  readonly changes: Partial<PolicyObject>;
  readonly proposedBy: UserId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export async function insertPolicyChange(tx: Tx, change: NewPolicyChange): Promise<void> {
  const { id, merchantId, changes, proposedBy, createdAt, expiresAt } = change;
  await tx.run(INSERT, [id, merchantId, JSON.stringify(changes), proposedBy, createdAt, expiresAt]);
}

const REPLACE_PENDING = statement(
  'policy_change_replace_pending',
  `UPDATE policy_changes SET state = 'replaced', decided_at = $3
   WHERE merchant_id = $1 AND proposed_by = $2 AND state = 'pending' RETURNING id`,
);

/** The person's pending proposal makes way for another of theirs: its id, or null when there is none. */
export async function replacePendingPolicyChange(
  tx: Tx,
  merchantId: MerchantId,
  proposedBy: UserId,
  at: Date,
): Promise<PolicyChangeId | null> {
  const [row] = await tx.run<{ id: PolicyChangeId }>(REPLACE_PENDING, [merchantId, proposedBy, at]);
  return row?.id ?? null;
}

const SELECT = `SELECT c.id, c.merchant_id, c.state, c.changes, c.proposed_by, p.name AS proposer_name, c.created_at,
    c.expires_at, c.decided_by, d.name AS decider_name, c.decided_at
  FROM policy_changes c JOIN users p ON p.id = c.proposed_by LEFT JOIN users d ON d.id = c.decided_by
  WHERE c.merchant_id = $1`;

const LIST_PENDING = statement(
  'policy_change_list_pending',
  `${SELECT} AND c.state = 'pending' AND c.expires_at > $2 ORDER BY c.id`,
);

export async function listPendingPolicyChanges(
  db: Queryable,
  merchantId: MerchantId,
  at: Date,
): Promise<PolicyChange[]> {
  return (await db.run<PolicyChangeRow>(LIST_PENDING, [merchantId, at])).map(toPolicyChange);
}

const FIND = statement('policy_change_find', `${SELECT} AND c.id = $2`);

export async function findPolicyChange(
  db: Queryable,
  merchantId: MerchantId,
  id: PolicyChangeId,
): Promise<PolicyChange | null> {
  const [row] = await db.run<PolicyChangeRow>(FIND, [merchantId, id]);
  return row ? toPolicyChange(row) : null;
}

const DECIDE = statement(
  'policy_change_decide',
  `UPDATE policy_changes SET state = $2, decided_by = $3, decided_at = $4
   WHERE id = $1 AND state = 'pending' AND expires_at > $4 RETURNING 1`,
);

/** Whether it was still pending; now it is decided. Of two who decide at once, one does. */
export async function decidePolicyChange(
  tx: Tx,
  id: PolicyChangeId,
  decision: { readonly state: 'approved' | 'rejected'; readonly by: UserId; readonly at: Date },
): Promise<boolean> {
  const rows = await tx.run(DECIDE, [id, decision.state, decision.by, decision.at]);
  return rows.length === 1;
}

function toPolicyChange(row: PolicyChangeRow): PolicyChange {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    state: row.state,
    changes: row.changes,
    proposedBy: { id: row.proposed_by, name: row.proposer_name },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by === null ? null : { id: row.decided_by, name: row.decider_name ?? '' },
    decidedAt: row.decided_at,
  };
}
