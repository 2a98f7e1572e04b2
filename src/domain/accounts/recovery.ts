// Recovery: a new password for a person who lost theirs or their second factor, when two of the service's staff agree.
import { stateConflict, type DomainError } from '../errors.ts';
import type { RecoveryId } from '../ids.ts';
import type { NamedPerson } from './member.ts';
import type { Staff } from './staff.ts';

/** How long a request waits for its approval, and then how long its token is valid. */
export const RECOVERY_LIFE_MS = 24 * 60 * 60_000;

/** For how long people are told of a recovery when they log in, and of how many at the most. */
export const RECOVERY_NOTICE_MS = 7 * 24 * 60 * 60_000;
export const MAX_RECOVERY_NOTICES = 20;

/** A recovery that one of the staff requested and another one has not approved yet. */
export type RecoveryRequest = {
  readonly id: RecoveryId;
  readonly person: NamedPerson;
  readonly reason: string;
  readonly requestedBy: Staff;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export const RECOVERY_STEPS = ['requested', 'approved', 'used'] as const;

/** What people of a merchant are told about the recovery of one of them. */
export type RecoveryNotice = {
  readonly step: (typeof RECOVERY_STEPS)[number];
  readonly person: NamedPerson;
  /** Who of the service's staff; null for the use, which is the person's own. */
  readonly staff: Staff | null;
  readonly at: Date;
};

/** One error for an unknown id and for a recovery that is approved, replaced, used or expired. */
export function recoveryNotFound(): DomainError {
  return stateConflict('No recovery with this id is waiting for approval. Create a new request.');
}
