// Proposals of the service's staff, which another one of the staff confirms.
import { stateConflict, type DomainError } from '../errors.ts';
import type { OperatorAccountId, StaffId, StaffProposalId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import { accountName, accountText } from '../payments/operator-account.ts';
import type { OperatorId } from '../payments/operator-catalogue.ts';
import type { StaffMember, StaffName } from './staff.ts';

/** The payload of each kind, as stored in the row. Names stand for what people read when they decide. */
export type StaffProposalPayloads = {
  readonly staff_addition: { readonly name: StaffName };
  /** A new password and second factor for one of the staff. The confirmation makes the old ones invalid. */
  readonly staff_reset: { readonly member: StaffId; readonly name: StaffName };
  readonly staff_end: { readonly member: StaffId; readonly name: StaffName };
  /** A new password for a merchant's person who lost theirs or the second factor. No merchant reads the reason. */
  readonly recovery: {
    readonly user_id: UserId;
    readonly email: string;
    readonly name: string;
    readonly reason: string;
  };
  /** The end of the recovery of the service after this restore, and why the staff accept what nobody compared. */
  readonly recovery_opening: { readonly restore: string; readonly reason: string };
  readonly operator_account_addition: ProposedAccount;
  /** Other credentials or terms of the same account. A closed one is open again. */
  readonly operator_account_rotation: ProposedAccount;
  readonly operator_account_closing: AccountNamed;
};

type AccountNamed = {
  readonly account: OperatorAccountId;
  readonly operator: OperatorId;
  readonly country: string | null;
};

/** As an account is to be, which the database compares with its row. */
export type ProposedAccount = AccountNamed & {
  readonly currency: Currency | null;
  readonly base_url: string;
  readonly calls_per_second: number;
  /** The credentials that are no secret: those who decide see them. */
  readonly identifiers: Readonly<Record<string, string>>;
  readonly credentials_sealed: string;
};
export type StaffProposalKind = keyof StaffProposalPayloads;

/** The kind with its payload. */
export type Proposed<Kind extends StaffProposalKind = StaffProposalKind> = Kind extends StaffProposalKind
  ? { readonly kind: Kind; readonly payload: StaffProposalPayloads[Kind] }
  : never;

export type StaffProposal = Proposed & {
  readonly id: StaffProposalId;
  readonly state: 'pending' | 'confirmed' | 'rejected';
  readonly proposedBy: StaffMember;
  readonly createdAt: Date;
  /** From then on nobody can confirm it. */
  readonly expiresAt: Date;
  /** Who confirmed or rejected it; null: pending. */
  readonly decidedBy: StaffMember | null;
  readonly decidedAt: Date | null;
};

/** How long a proposal waits for its confirmation, and afterwards how long its tokens are valid. */
export const STAFF_PROPOSAL_LIFE_MS = 24 * 60 * 60_000;

/**
 * Who gets a token to pass on to the person concerned: nobody, the person who confirms, or both, so that neither can
 * enrol in place of that person.
 */
export const TOKENS_OF: Readonly<Record<StaffProposalKind, 'none' | 'confirmer' | 'both'>> = {
  staff_addition: 'both',
  staff_reset: 'both',
  staff_end: 'none',
  recovery: 'confirmer',
  operator_account_addition: 'none',
  operator_account_rotation: 'none',
  operator_account_closing: 'none',
  recovery_opening: 'none',
};

/** The proposal in one line, for the people who decide. */
export function staffProposalText({ kind, payload }: Proposed): string {
  switch (kind) {
    case 'staff_addition':
      return `${payload.name} joins the staff`;
    case 'staff_reset':
      return `${payload.name} of the staff enrols with another password and second factor`;
    case 'staff_end':
      return `${payload.name} is no longer one of the staff`;
    case 'recovery':
      return `${payload.name} (${payload.email}) sets a new password, without their second factor: ${payload.reason}`;
    case 'operator_account_addition':
      return `payments go to ${textOf(payload)}`;
    case 'operator_account_rotation':
      return `the account ${payload.account} has other credentials, and is open: ${textOf(payload)}`;
    case 'operator_account_closing':
      return `the account ${payload.account} with ${accountName(payload)} takes no more payments`;
    case 'recovery_opening':
      return `the service sends and decides again after restore ${payload.restore}: ${payload.reason}`;
  }
}

function textOf({ base_url: baseUrl, calls_per_second: callsPerSecond, ...named }: ProposedAccount): string {
  return accountText({ ...named, baseUrl, callsPerSecond }, named.identifiers);
}

/**
 * The proposal in the service's own audit log, which is kept for ever: a merchant's person only by their id, and no credential, not even a
 * sealed one.
 */
export function auditedProposal({ kind, payload }: Proposed): object {
  if (kind === 'recovery') return { kind, user_id: payload.user_id, reason: payload.reason };
  const shown = Object.entries(payload).filter(([name]) => name !== 'credentials_sealed');
  return { kind, ...Object.fromEntries(shown) };
}

/** One error for an unknown id and for a proposal that was decided or has expired. */
export function staffProposalEnded(): DomainError {
  return stateConflict(
    'No pending proposal has this id: it was decided, it has expired, or it never existed. Create a new one.',
  );
}
