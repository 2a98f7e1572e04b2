// Entries of the audit log, as the merchant's people read them.
import type { ErrorCode } from '../errors.ts';
import type { ApiKeyId, UserId } from '../ids.ts';

/** What is put on record as a refusal of a person. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['permission_denied', 'approval_self']);

/** An entry as it is read: with the name of who acted. */
export type ListedAuditEntry = {
  /** Rising with time. */
  readonly id: string;
  readonly user: { readonly id: UserId; readonly name: string } | null;
  readonly apiKey: { readonly id: ApiKeyId; readonly name: string } | null;
  readonly action: string;
  readonly outcome: 'done' | 'refused';
  readonly subjectId: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly at: Date;
};
