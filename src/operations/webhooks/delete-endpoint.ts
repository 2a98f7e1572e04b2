// Deletes an endpoint.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { deleteEndpoint as deleteRow, findEndpointLocked } from '../../db/webhooks/endpoint.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';

export type DeleteEndpoint = {
  readonly merchantId: MerchantId;
  readonly id: string;
  /** Null: the service staff. */
  readonly by: ActedBy | null;
  readonly at: Date;
};

/**
 * The endpoint is gone from now on: no delivery is created for it or sent to it, deliveries owed to it are withheld, and its
 * secrets are erased. Its deliveries stay visible. Throws `endpoint_not_found`, also when it was already deleted.
 */
export async function deleteEndpoint(db: Database, { merchantId, id, by, at }: DeleteEndpoint): Promise<void> {
  await db.withTransaction(async (tx) => {
    const endpoint = isId('whe', id) ? await findEndpointLocked(tx, merchantId, id) : null;
    if (!endpoint) throw notFound('endpoint');
    await deleteRow(tx, endpoint.id, at);
    if (by === null) return;
    const { url, description, eventTypes, state } = endpoint;
    const before = { url, description, event_types: eventTypes, state };
    await recordAct(tx, by, { action: 'endpoint.deleted', subjectId: endpoint.id, before, at });
  });
}
