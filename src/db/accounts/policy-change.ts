// Rows of proposals to change a merchant's policy.
import type { MerchantId, PolicyChangeId, UserId } from '../../domain/ids.ts';
import type { PolicyChange } from '../../domain/accounts/policy.ts';
import { attestRow } from './attested-rows.ts';
import { statement, type Tx } from '../platform/database.ts';
import { proposalStatements } from './proposal.ts';

const INSERT = statement('policy_change_insert')`
  INSERT INTO policy_changes (id, merchant_id, state, changes, proposed_by, created_at, expires_at)
  VALUES ($1, $2, 'pending', $3, $4, $5, $6)`;

export type NewPolicyChange = Pick<PolicyChange, 'id' | 'merchantId' | 'changes' | 'createdAt' | 'expiresAt'> & {
  readonly proposedBy: UserId;
};

export async function insertPolicyChange(tx: Tx, change: NewPolicyChange): Promise<void> {
  const { id, merchantId, changes, proposedBy, createdAt, expiresAt } = change;
  await tx.run(INSERT, [id, merchantId, JSON.stringify(changes), proposedBy, createdAt, expiresAt]);
  await attestRow(tx, 'policy_changes', [id]);
}

const REPLACE_PENDING = statement('policy_change_replace_pending')`
  UPDATE policy_changes SET state = 'replaced', decided_at = $3
  WHERE merchant_id = $1 AND proposed_by = $2 AND state = 'pending' RETURNING id`;

/** Marks the person's pending proposal as replaced; returns its id, or null when there is none. */
export async function replacePendingPolicyChange(
  tx: Tx,
  merchantId: MerchantId,
  proposedBy: UserId,
  at: Date,
): Promise<PolicyChangeId | null> {
  const [row] = await tx.run<{ id: PolicyChangeId }>(REPLACE_PENDING, [merchantId, proposedBy, at]);
  return row?.id ?? null;
}

const statements = proposalStatements<PolicyChange, Pick<PolicyChange, 'changes'>>({
  noun: 'policy_change',
  toOwn: ({ changes }) => ({ changes }),
});

export const listPendingPolicyChanges = statements.listPending;
export const findPolicyChange = statements.find;
export const withdrawPolicyChangesBy = statements.withdrawBy;

/** Ends the proposal if it is still pending; returns whether it was. Of two simultaneous decisions, one applies. */
export const endPolicyChange = statements.decide;
