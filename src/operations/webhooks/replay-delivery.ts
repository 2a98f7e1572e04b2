// Replays one delivery: same event, same bytes, the endpoint's current secret, the schedule from its beginning.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { lockDelivery, resetForReplay } from '../../db/webhooks/replay.ts';
import { DomainError, notFound } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

/**
 * A delivery that waits for its first attempt stays as it is; one that waits for a later attempt is sent now. Throws
 * `delivery_not_found`, and `state_conflict` when its endpoint is disabled or deleted.
 */
export async function replayDelivery(
  db: Database,
  { id, by, at }: { readonly id: string; readonly by: ActedBy; readonly at: Date },
): Promise<void> {
  const { merchantId } = by.person;
  await db.withTransaction(async (tx) => {
    const delivery = isId('dlv', id) ? await lockDelivery(tx, merchantId, id) : null;
    if (!delivery || !isId('dlv', id)) throw notFound('delivery');
    if (!delivery.isEndpointEnabled) {
      throw new DomainError('state_conflict', 'The endpoint of this delivery is disabled or deleted. Enable it first.');
    }
    if (delivery.isPending) return;
    await resetForReplay(tx, id, at);
    await recordAct(tx, by, { action: 'delivery.replayed', subjectId: id, at });
  });
}
