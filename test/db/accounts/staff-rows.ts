// Rows of the staff for the cases of the database's rules: two people, one who has not enrolled, and what they agreed on.
import type { Database } from '../../../src/db/platform/database.ts';
import {
  newId,
  type OperatorAccountId,
  type StaffId,
  type StaffProposalId,
  type UserId,
} from '../../../src/domain/ids.ts';
import { parseStaffName } from '../../../src/domain/accounts/staff.ts';
import { addFirstStaff, agree, AMINA, BRIAN } from '../../support/staff.ts';
import { oneRow } from '../rows.ts';

export type StaffFixture = {
  readonly staff: {
    /** Added, and not enrolled. */
    readonly newcomerId: StaffId;
    /** Confirmed proposals of which nothing follows yet. */
    readonly addition: StaffProposalId;
    readonly recovery: StaffProposalId;
    readonly account: StaffProposalId;
    /** That of the agreed account. */
    readonly accountId: OperatorAccountId;
  };
};

export const ADDED_NAME = 'dora';

export async function makeStaffFixture(db: Database, ownerId: UserId): Promise<StaffFixture> {
  await addFirstStaff(db);
  const name = parseStaffName('newcomer')!;
  await agree(db, { kind: 'staff_addition', payload: { name } });
  const { id } = await oneRow<{ id: StaffId }>(db, 'SELECT id FROM staff_members WHERE name = $1', [name]);
  const addition = await confirmed(db, 'staff_addition', { name: ADDED_NAME });
  const recovery = await confirmed(db, 'recovery', { user_id: ownerId });
  const accountId = newId('opa');
  const account = await confirmed(db, 'operator_account_addition', { ...ACCOUNT, account: accountId });
  return { staff: { newcomerId: id, addition, recovery, account, accountId } };
}

/** What two of the staff agree on for an account. */
export const ACCOUNT = {
  operator: 'mtn-momo',
  country: 'UG',
  currency: 'UGX',
  base_url: 'https://operator.example',
  calls_per_second: 20,
  identifiers: { user: 'u' },
  credentials_sealed: 'k.sealed',
};

async function confirmed(db: Database, kind: string, payload: object): Promise<StaffProposalId> {
  const id = newId('spr');
  for (const { text, values } of confirmedProposal(id, kind, payload)) await db.pool.query(text, [...values]);
  return id;
}

/** The statements by which two of the staff agree. */
export function confirmedProposal(id: StaffProposalId, kind: string, payload: object) {
  return [
    {
      text: `INSERT INTO staff_proposals (id, kind, payload, state, proposed_by, created_at, expires_at)
        VALUES ($1, $2, $3, 'pending', $4, now(), now() + interval '1 day')`,
      values: [id, kind, JSON.stringify(payload), AMINA.id],
    },
    {
      // Of several in one transaction, each is later than the one before.
      text: "UPDATE staff_proposals SET state = 'confirmed', decided_by = $2, decided_at = clock_timestamp() WHERE id = $1",
      values: [id, BRIAN.id],
    },
  ];
}

export const STAFF_ROWS = {
  staff_members: ({ staff }: StaffFixture) => ({
    id: newId('stf'),
    name: ADDED_NAME,
    state: 'active',
    added_by: AMINA.id,
    confirmed_by: BRIAN.id,
    proposal_id: staff.addition,
    created_at: new Date(),
  }),
  operator_accounts: ({ staff }: StaffFixture) => ({
    id: staff.accountId,
    ...ACCOUNT,
    identifiers: JSON.stringify(ACCOUNT.identifiers),
    state: 'active',
    proposed_by: AMINA.id,
    confirmed_by: BRIAN.id,
    proposal_id: staff.account,
    created_at: new Date(),
  }),
  staff_proposals: () => ({
    id: newId('spr'),
    kind: 'staff_addition',
    payload: JSON.stringify({ name: 'esther' }),
    state: 'pending',
    proposed_by: AMINA.id,
    created_at: new Date(),
    expires_at: new Date(Date.now() + 60_000),
  }),
};
