// Notes in the audit log that a person was refused.
import { insertAuditEntry } from '../db/audit.ts';
import type { Database } from '../db/database.ts';
import type { ActedBy } from '../domain/member.ts';

export type RecordRefusal = {
  readonly by: ActedBy;
  /** Method and route, as nothing was done that would have a name. */
  readonly action: string;
  readonly subjectId: string | null;
  readonly reason: string;
  readonly at: Date;
};

/** One entry; each call adds one. */
export async function recordRefusal(db: Database, { by, reason, ...refusal }: RecordRefusal): Promise<void> {
  await insertAuditEntry(db, {
    ...refusal,
    merchantId: by.person.merchantId,
    userId: by.person.userId,
    apiKeyId: null,
    outcome: 'refused',
    before: null,
    after: { reason },
    address: by.address,
    requestId: by.requestId,
  });
}
