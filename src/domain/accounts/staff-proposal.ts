// What one of the service's staff proposes and another one confirms.
import { stateConflict, type DomainError } from '../errors.ts';
import type { StaffId, StaffProposalId, UserId } from '../ids.ts';
import type { StaffMember, StaffName } from './staff.ts';

/** What each kind proposes, as the row stores it: names stand for what people read when they decide. */
export type StaffProposalPayloads = {
  readonly staff_addition: { readonly name: StaffName };
  /** A new password and second factor for one of the staff; from the confirmation on, the old ones open nothing. */
  readonly staff_reset: { readonly member: StaffId; readonly name: StaffName };
  readonly staff_end: { readonly member: StaffId; readonly name: StaffName };
  /** A new password for a person of a merchant, who lost theirs or the second factor. No merchant reads the reason. */
  readonly recovery: {
    readonly user_id: UserId;
    readonly email: string;
    readonly name: string;
    readonly reason: string;
  };
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
  /** Nobody can confirm it from then on. */
  readonly expiresAt: Date;
  /** Who confirmed or rejected it; null: nobody yet. */
  readonly decidedBy: StaffMember | null;
  readonly decidedAt: Date | null;
};

/** How long a proposal waits for its confirmation, and then how long a token that it gave is valid. */
export const STAFF_PROPOSAL_LIFE_MS = 24 * 60 * 60_000;

/**
 * Who gets a token, to pass it on to the person whom it is about: nobody, the one who confirms it, or each of the two, so that neither
 * can enrol in place of that person.
 */
export const TOKENS_OF: Readonly<Record<StaffProposalKind, 'none' | 'confirmer' | 'both'>> = {
  staff_addition: 'both',
  staff_reset: 'both',
  staff_end: 'none',
  recovery: 'confirmer',
};

/** What people decide about, in one line. */
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
  }
}

/** What the service's own audit log, which nobody removes, says of it: of a person of a merchant the id, and neither name nor address. */
export function auditedProposal({ kind, payload }: Proposed): object {
  return kind === 'recovery' ? { kind, user_id: payload.user_id, reason: payload.reason } : { kind, ...payload };
}

/** One error for an unknown id and for a proposal that was decided or has expired. */
export function staffProposalEnded(): DomainError {
  return stateConflict(
    'No proposal with this id waits: it was decided, it has expired, or it never was. Propose it again.',
  );
}
