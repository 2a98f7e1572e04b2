// Rows of accounts with operators. An unattested row counts for nothing.
import type { OperatorAccountId, StaffId, StaffProposalId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { OperatorAccount } from '../../domain/payments/operator-account.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const attestedAccounts = attestedTable('operator_accounts');

type AccountRow = OperatorAccount & AttestedRow<'operator_accounts'>;

const SELECT = `SELECT ${attestedAccounts.columns} FROM operator_accounts t`;

const LIST = statement('operator_account_list')`${SELECT} ORDER BY t.id`;

/** All accounts, closed ones too, without unattested ones, which are reported. There are as many as operators, at most. */
export async function listOperatorAccounts(db: Queryable): Promise<OperatorAccount[]> {
  return attestedAccounts.only(db, await db.run<AccountRow>(LIST, []));
}

const FIND = statement('operator_account_find')`${SELECT} WHERE t.id = $1`;

/** Null also for an unattested row. */
export async function findOperatorAccount(db: Queryable, id: OperatorAccountId): Promise<OperatorAccount | null> {
  const row = await findOne<AccountRow>(db, FIND, [id]);
  return row !== null && attestedAccounts.isAttested(db, row) ? row : null;
}

const FIND_ANY = statement('operator_account_find_any')`SELECT 1 FROM operator_accounts WHERE operator = $1`;

/** Whether there is or was an account with the operator, attested or not. */
export async function hasOperatorAccount(db: Queryable, operator: OperatorId): Promise<boolean> {
  return (await db.run(FIND_ANY, [operator])).length > 0;
}

const insert = insertion(
  'operator_account_insert',
  'operator_accounts',
  'id, operator, country, currency, base_url, calls_per_second, identifiers, credentials_sealed, state, proposed_by, ' +
    'confirmed_by, proposal_id, created_at',
);

/** The two of the staff who agreed, and on what. */
export type AgreedBy = {
  readonly proposedBy: StaffId;
  readonly confirmedBy: StaffId;
  readonly proposalId: StaffProposalId;
};

type NewAccount = Omit<OperatorAccount, 'state' | 'proposalId'> & AgreedBy & { readonly createdAt: Date };

export async function insertOperatorAccount(tx: Tx, { identifiers, ...account }: NewAccount): Promise<void> {
  await insert(tx, { ...account, identifiers: JSON.stringify(identifiers), state: 'active' });
  await attestedAccounts.attest(tx, [account.id]);
}

const ROTATE = statement('operator_account_rotate')`
  UPDATE operator_accounts SET state = 'active', base_url = $2, calls_per_second = $3, identifiers = $4, credentials_sealed = $5,
    proposed_by = $6, confirmed_by = $7, proposal_id = $8
  WHERE id = $1`;

type Rotated = Pick<OperatorAccount, 'id' | 'baseUrl' | 'callsPerSecond' | 'identifiers' | 'credentialsSealed'>;

/** Opens a closed account again. Throws `permission_denied` for an unattested row. */
export async function rotateOperatorAccount(tx: Tx, account: Rotated & AgreedBy): Promise<void> {
  const { id, baseUrl, callsPerSecond, identifiers, credentialsSealed, proposedBy, confirmedBy, proposalId } = account;
  const terms = [baseUrl, callsPerSecond, JSON.stringify(identifiers), credentialsSealed];
  const rotate = () => tx.run(ROTATE, [id, ...terms, proposedBy, confirmedBy, proposalId]);
  await attestedAccounts.change(tx, [id], rotate);
}

const CLOSE = statement('operator_account_close')`
  UPDATE operator_accounts SET state = 'closed', proposed_by = $2, confirmed_by = $3, proposal_id = $4 WHERE id = $1`;

/** Throws `permission_denied` for an unattested row. */
export async function closeOperatorAccount(tx: Tx, id: OperatorAccountId, by: AgreedBy): Promise<void> {
  const close = () => tx.run(CLOSE, [id, by.proposedBy, by.confirmedBy, by.proposalId]);
  await attestedAccounts.change(tx, [id], close);
}
