// Rows of proposals to change or remove a member, and the change of the member itself.
import type { MemberChangeId, MerchantId, UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import type { Decider, MemberChange } from '../../domain/accounts/member-change.ts';
import { attestRow } from './attested-rows.ts';
import { statement, type Tx } from '../platform/database.ts';
import { recordDecision } from './audit.ts';
import { markMemberRemoved, setRoles } from './member.ts';
import { personColumn } from './names.ts';
import { proposalStatements } from './proposal.ts';
import { deleteMemberSessions } from './session.ts';

const INSERT = statement('member_change_insert')`
  INSERT INTO member_changes (id, merchant_id, user_id, state, roles_before, roles_after, proposed_by, created_at,
                              expires_at)
  VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8)`;

export async function insertMemberChange(tx: Tx, change: MemberChange): Promise<void> {
  const { id, merchantId, member, before, after, proposedBy, createdAt, expiresAt } = change;
  await tx.run(INSERT, [id, merchantId, member.id, before, after, proposedBy.id, createdAt, expiresAt]);
  await attestRow(tx, 'member_changes', [id]);
}

const REPLACE_PENDING = statement('member_change_replace_pending')`
  UPDATE member_changes SET state = 'replaced', decided_at = $4
  WHERE merchant_id = $1 AND user_id = $2 AND proposed_by = coalesce($3, proposed_by) AND state = 'pending'
    AND (roles_after IS NOT NULL OR $5)
  RETURNING id`;

/** Who makes proposals outdated, and by which other proposal; null: by a change that needed no proposal. */
export type Replacement = { readonly by: Decider; readonly replacedBy: MemberChangeId | null; readonly at: Date };

type MemberKey = { readonly merchantId: MerchantId; readonly userId: UserId };

/** Marks a person's pending proposal about a member as replaced by their next one, with an entry in the audit log. */
export async function replaceOwnProposal(
  tx: Tx,
  member: MemberKey & { readonly proposer: UserId },
  replacement: Replacement,
): Promise<void> {
  await replacePending(tx, { ...member, withRemovals: true }, replacement);
}

/**
 * Gives the member these roles from their next request on. With null they are removed from the merchant, and their
 * sessions there end. Pending proposals to change the member's roles are outdated then, and those to remove them too if
 * they are removed: they are marked as replaced, each with an entry in the audit log.
 */
export async function applyRoles(
  tx: Tx,
  { merchantId, userId }: MemberKey,
  roles: readonly Role[] | null,
  replacement: Replacement,
): Promise<void> {
  if (roles === null) {
    await markMemberRemoved(tx, merchantId, userId, replacement.at);
    await deleteMemberSessions(tx, { merchantId, userId }, null);
  } else {
    await setRoles(tx, merchantId, userId, roles);
  }
  await replacePending(tx, { merchantId, userId, proposer: null, withRemovals: roles === null }, replacement);
}

async function replacePending(
  tx: Tx,
  outdated: MemberKey & { readonly proposer: UserId | null; readonly withRemovals: boolean },
  { by, replacedBy, at }: Replacement,
): Promise<void> {
  const { merchantId, userId, proposer, withRemovals } = outdated;
  const rows = await tx.run<{ id: MemberChangeId }>(REPLACE_PENDING, [merchantId, userId, proposer, at, withRemovals]);
  const after = { replaced_by: replacedBy };
  for (const { id } of rows) {
    await recordDecision(tx, by, { action: 'member_change.replaced', subjectId: id, after, at });
  }
}

type OwnRow = Pick<MemberChange, 'member'> & {
  readonly rolesBefore: MemberChange['before'];
  readonly rolesAfter: MemberChange['after'];
};

const statements = proposalStatements<MemberChange, OwnRow>({
  noun: 'member_change',
  columns: `${personColumn('m')} AS member`,
  join: 'JOIN users m ON m.id = t.user_id',
  about: ({ member }) => member,
  toOwn: ({ member, rolesBefore, rolesAfter }) => ({ member, before: rolesBefore, after: rolesAfter }),
});

export const listPendingMemberChanges = statements.listPending;
export const findMemberChange = statements.find;
export const withdrawMemberChangesBy = statements.withdrawBy;

/** Ends the proposal if it is still pending; returns whether it was. Of two simultaneous decisions, one applies. */
export const endMemberChange = statements.decide;
