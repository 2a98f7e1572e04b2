// The kinds of staff proposals: the conditions of each, and the effect of its confirmation. A new kind is an entry
// here, a payload in `src/domain/accounts/staff-proposal.ts`, and a text about its token in `src/admin/staff-texts.ts`.
import { stateConflict } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { noOperatorAccount } from '../../domain/payments/operator-account.ts';
import { OPERATORS } from '../../domain/payments/operator-catalogue.ts';
import { RECOVERY_LIFE_MS } from '../../domain/accounts/recovery.ts';
import { staffMemberInactive, type StaffMember } from '../../domain/accounts/staff.ts';
import type {
  ProposedAccount,
  StaffProposal,
  StaffProposalKind,
  StaffProposalPayloads,
} from '../../domain/accounts/staff-proposal.ts';
import { recordStaffAct } from './audit.ts';
import { listMerchantsOf } from './member.ts';
import {
  closeOperatorAccount,
  findOperatorAccount,
  hasOperatorAccount,
  insertOperatorAccount,
  rotateOperatorAccount,
  type AgreedBy,
} from './operator-account.ts';
import { deleteRecoveryOf, replaceRecovery } from './recovery.ts';
import {
  dismissStaff,
  findStaffMember,
  isDispensable,
  isStaffNameTaken,
  insertStaffMember,
  type StaffAccount,
} from './staff-member.ts';
import { rejectProposalsOf } from './staff-proposal.ts';
import { findUserLocked } from './user.ts';
import type { Tx } from '../platform/database.ts';
import { assumeSent } from '../payments/missing-window.ts';
import { listOpenRestores, openAfterRestores } from '../platform/fence.ts';

type Act<Payload> = { readonly payload: Payload; readonly by: StaffMember; readonly at: Date };
type Confirmed<Payload> = Act<Payload> & {
  readonly proposal: Pick<StaffProposal, 'id' | 'proposedBy'>;
  /** The digest of the confirmer's token. */
  readonly tokenSha256: Buffer | null;
};

/** Both run with the staff locked, in the transaction of the proposal or the decision. They throw `state_conflict`. */
type Kind<Payload> = {
  propose(tx: Tx, act: Act<Payload> & { readonly expiresAt: Date }): Promise<void>;
  confirm(tx: Tx, act: Confirmed<Payload>): Promise<void>;
};

const addition: Kind<StaffProposalPayloads['staff_addition']> = {
  propose: (tx, { payload }) => requireFreeName(tx, payload),
  async confirm(tx, { payload: { name }, proposal, by, at }) {
    await requireFreeName(tx, { name });
    const people = { addedBy: proposal.proposedBy.id, confirmedBy: by.id, proposalId: proposal.id };
    await insertStaffMember(tx, { id: newId('stf', at.getTime()), name, ...people, createdAt: at });
  },
};

async function requireFreeName(tx: Tx, { name }: StaffProposalPayloads['staff_addition']): Promise<void> {
  if (await isStaffNameTaken(tx, name)) {
    throw stateConflict(
      `${name} is or was one of the staff, and a name is one person's for ever. Choose another name.`,
    );
  }
}

const reset: Kind<StaffProposalPayloads['staff_reset']> = {
  async propose(tx, { payload }) {
    await findDispensable(tx, payload);
  },
  confirm: (tx, { payload, proposal, by, at }) => dismiss(tx, { payload, proposal, by, at, endedAt: null }),
};

const end: Kind<StaffProposalPayloads['staff_end']> = {
  async propose(tx, { payload }) {
    await findDispensable(tx, payload);
  },
  confirm: (tx, { payload, proposal, by, at }) => dismiss(tx, { payload, proposal, by, at, endedAt: at }),
};

type Dismissal = Omit<Confirmed<StaffProposalPayloads['staff_end']>, 'tokenSha256'> & { readonly endedAt: Date | null };

// A stolen phone may have made these proposals: no proposal of the person stays pending.
async function dismiss(tx: Tx, { payload, proposal, by, at, endedAt }: Dismissal): Promise<void> {
  const { id } = await findDispensable(tx, payload);
  // First, because the confirmed proposal may be their own.
  await rejectProposalsOf(tx, id, { by, at });
  await dismissStaff(tx, id, { proposalId: proposal.id, endedAt });
}

async function findDispensable(tx: Tx, { member, name }: StaffProposalPayloads['staff_end']): Promise<StaffAccount> {
  const found = await findStaffMember(tx, member);
  if (found?.state !== 'active') throw staffMemberInactive({ name });
  if (!(await isDispensable(tx, member))) {
    throw stateConflict(
      `Without ${name}, fewer than two of the staff could log in, and nobody could add one. Add another one first.`,
    );
  }
  return found;
}

const recovery: Kind<StaffProposalPayloads['recovery']> = {
  async propose(tx, { payload, by, at, expiresAt }) {
    const user = await findSamePerson(tx, payload);
    await deleteRecoveryOf(tx, user.id);
    const act = { action: 'recovery.requested', subjectId: user.id, after: { expires_at: expiresAt }, at };
    for (const { id } of await listMerchantsOf(tx, user.id)) await recordStaffAct(tx, id, by, act);
  },
  async confirm(tx, { payload, proposal, by, at, tokenSha256 }) {
    if (tokenSha256 === null) throw new Error('a recovery is confirmed without a token');
    const user = await findSamePerson(tx, payload);
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    const agreed = { proposalId: proposal.id, tokenSha256, createdAt: at, expiresAt };
    await replaceRecovery(tx, { id: newId('rcv', at.getTime()), userId: user.id, ...agreed });
    const after = { requested_by: proposal.proposedBy, expires_at: expiresAt };
    const act = { action: 'recovery.approved', subjectId: user.id, after, at };
    for (const { id } of await listMerchantsOf(tx, user.id)) await recordStaffAct(tx, id, by, act);
  },
};

// From the verified row: the token goes to this address.
async function findSamePerson(tx: Tx, { user_id: id, email, name }: StaffProposalPayloads['recovery']) {
  const user = await findUserLocked(tx, id);
  if (user?.email !== email || user.name !== name) {
    throw stateConflict('The account of this person is not as it was. Propose the recovery again.');
  }
  return user;
}

const accountAddition: Kind<ProposedAccount> = {
  propose: (tx, { payload }) => requireNoAccount(tx, payload),
  async confirm(tx, { payload, proposal, by, at }) {
    await requireNoAccount(tx, payload);
    const { operator, country, currency } = payload;
    await insertOperatorAccount(tx, {
      ...{ operator, country, currency, ...termsIn(payload) },
      ...agreedBy(proposal, by),
      createdAt: at,
    });
  },
};

// A payment knows its operator, and not the account: it would be asked about at the wrong one.
async function requireNoAccount(tx: Tx, { operator }: ProposedAccount): Promise<void> {
  if (await hasOperatorAccount(tx, operator)) {
    throw stateConflict(
      `There is an account with ${OPERATORS[operator].name}: give it other credentials (account rotate), which opens a closed one again.`,
    );
  }
}

const accountRotation: Kind<ProposedAccount> = {
  async propose(tx, { payload }) {
    await requireAccount(tx, payload);
  },
  async confirm(tx, { payload, proposal, by }) {
    await requireAccount(tx, payload);
    await rotateOperatorAccount(tx, { ...termsIn(payload), ...agreedBy(proposal, by) });
  },
};

const accountClosing: Kind<StaffProposalPayloads['operator_account_closing']> = {
  async propose(tx, { payload }) {
    await requireOpenAccount(tx, payload);
  },
  async confirm(tx, { payload, proposal, by }) {
    await requireOpenAccount(tx, payload);
    await closeOperatorAccount(tx, payload.account, agreedBy(proposal, by));
  },
};

type AccountNamed = StaffProposalPayloads['operator_account_closing'];

async function requireAccount(tx: Tx, { account }: AccountNamed) {
  const found = await findOperatorAccount(tx, account);
  if (found === null) throw noOperatorAccount();
  return found;
}

async function requireOpenAccount(tx: Tx, named: AccountNamed): Promise<void> {
  if ((await requireAccount(tx, named)).state === 'closed') throw stateConflict('The account is closed already.');
}

function termsIn(payload: ProposedAccount) {
  const { account: id, base_url: baseUrl, calls_per_second: callsPerSecond, identifiers } = payload;
  return { id, baseUrl, callsPerSecond, identifiers, credentialsSealed: payload.credentials_sealed };
}

function agreedBy({ id, proposedBy }: Pick<StaffProposal, 'id' | 'proposedBy'>, by: StaffMember): AgreedBy {
  return { proposedBy: proposedBy.id, confirmedBy: by.id, proposalId: id };
}

const opening: Kind<StaffProposalPayloads['recovery_opening']> = {
  async propose(tx, { payload: { restore } }) {
    await requireLatestRestore(tx, restore);
  },
  async confirm(tx, { payload: { restore, reason }, proposal, by, at }) {
    await requireLatestRestore(tx, restore);
    const opened = await openAfterRestores(tx, proposal.id, at);
    const assumedSent = await assumeSent(tx);
    const after = { restores: opened, reason, proposed_by: proposal.proposedBy, assumed_sent: assumedSent };
    await recordStaffAct(tx, null, by, { action: 'restore.opened', subjectId: restore, after, at });
  },
};

async function requireLatestRestore(tx: Tx, restore: string): Promise<void> {
  const [latest] = await listOpenRestores(tx);
  if (latest === undefined) throw stateConflict('The service is not in recovery.');
  if (latest.id !== restore) throw stateConflict('Another restore was found since. Look at it, and propose again.');
}

const KINDS: { readonly [Name in StaffProposalKind]: Kind<StaffProposalPayloads[Name]> } = {
  staff_addition: addition,
  staff_reset: reset,
  staff_end: end,
  recovery,
  operator_account_addition: accountAddition,
  operator_account_rotation: accountRotation,
  operator_account_closing: accountClosing,
  recovery_opening: opening,
};

type Of<Name extends StaffProposalKind> = { readonly kind: Name; readonly payload: StaffProposalPayloads[Name] };

/** Checks a new proposal of any kind, and notifies people concerned. Throws `state_conflict`. Lock the staff first. */
export function checkStaffProposal<Name extends StaffProposalKind>(
  tx: Tx,
  { kind, payload }: Of<Name>,
  act: { readonly by: StaffMember; readonly at: Date; readonly expiresAt: Date },
): Promise<void> {
  return KINDS[kind].propose(tx, { ...act, payload });
}

/** Applies a confirmed proposal of any kind. Throws `state_conflict`. Lock the staff first. */
export function confirmStaffProposal<Name extends StaffProposalKind>(
  tx: Tx,
  proposal: Of<Name> & Pick<StaffProposal, 'id' | 'proposedBy'>,
  act: { readonly by: StaffMember; readonly at: Date; readonly tokenSha256: Buffer | null },
): Promise<void> {
  return KINDS[proposal.kind].confirm(tx, { ...act, proposal, payload: proposal.payload });
}
