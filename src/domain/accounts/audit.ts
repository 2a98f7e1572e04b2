// Entries of the audit log, as the merchant's members read them.
import type { ErrorCode } from '../errors.ts';
import type { ApiKeyId } from '../ids.ts';
import type { KnownPerson } from './member.ts';
import type { StaffMember } from './staff.ts';

/** The errors that the audit log records as a refusal of a person. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['permission_denied', 'approval_self']);

/** An entry as it is read, with the name of the person or key that acted. */
export type ListedAuditEntry = {
  /** Increases with time. */
  readonly id: string;
  readonly user: KnownPerson | null;
  readonly apiKey: { readonly id: ApiKeyId; readonly name: string } | null;
  /** The member of the service's staff who acted; null with neither user nor API key: the service acted. */
  readonly staff: StaffMember | null;
  readonly action: string;
  readonly outcome: 'done' | 'refused';
  readonly subjectId: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly at: Date;
};

/**
 * The part of an entry that a merchant sees. Old entries about recoveries contain the reason of the staff, which only
 * the staff and the person may know; the row itself never changes.
 */
export function shownToMerchant({ action, after }: Pick<ListedAuditEntry, 'action' | 'after'>): object | null {
  if (action !== 'recovery.requested' || after === null) return after;
  return Object.fromEntries(Object.entries(after).filter(([name]) => name !== 'reason'));
}
