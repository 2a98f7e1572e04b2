// Replaces the signing secret of an endpoint.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { findEndpointLocked, rotateEndpointSecret as rotateRow } from '../../db/webhooks/endpoint.ts';
import type { EndpointWithSecret } from '../../domain/webhooks/endpoint.ts';
import { isId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateEndpointSecret } from '../../security/webhook-signature.ts';

export type RotateEndpointSecret = {
  readonly id: string;
  /** How long the current secret still signs beside the new one; 0: it ends now. */
  readonly keepPreviousForMs: number;
  readonly keyRing: KeyRing;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * Returns the endpoint with its new secret, which is not shown again. The secret signs every attempt that begins from now on.
 * At most two secrets sign at a time: an older one that still overlapped ends now. Not idempotent: each call creates another
 * secret. Throws `endpoint_not_found`.
 */
export async function rotateEndpointSecret(db: Database, input: RotateEndpointSecret): Promise<EndpointWithSecret> {
  const { id, keepPreviousForMs, by, at } = input;
  return db.withTransaction(async (tx) => {
    const endpoint = isId('whe', id) ? await findEndpointLocked(tx, by.person.merchantId, id) : null;
    if (!endpoint) throw notFound('endpoint');
    const secret = generateEndpointSecret();
    const previousUntil = keepPreviousForMs === 0 ? null : new Date(at.getTime() + keepPreviousForMs);
    await rotateRow(tx, endpoint.id, { secretSealed: seal(secret, endpoint.id, input.keyRing), previousUntil, at });
    const change = {
      before: { previous_secret_until: endpoint.previousSecretUntil },
      after: { previous_secret_until: previousUntil },
    };
    await recordAct(tx, by, { action: 'endpoint.secret_rotated', subjectId: endpoint.id, ...change, at });
    return { ...endpoint, previousSecretUntil: previousUntil, updatedAt: at, secret };
  });
}
