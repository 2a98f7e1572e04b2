// Registers a webhook endpoint of a merchant.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { countEndpoints, insertEndpoint, lockMerchant } from '../../db/webhooks/endpoint.ts';
import { MAX_ENDPOINTS_PER_MERCHANT, type Endpoint, type EndpointWithSecret } from '../../domain/webhooks/endpoint.ts';
import { stateConflict } from '../../domain/errors.ts';
import type { PaymentEventType } from '../../domain/event.ts';
import { newId, type MerchantId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateEndpointSecret } from '../../security/webhook-signature.ts';

export type RegisterEndpoint = {
  readonly merchantId: MerchantId;
  /** The caller checks it against the address guard; every attempt checks it again. */
  readonly url: string;
  readonly description: string | null;
  /** Null: every type. */
  readonly eventTypes: readonly PaymentEventType[] | null;
  readonly keyRing: KeyRing;
  /** Absent: the service staff. */
  readonly by?: ActedBy;
  readonly at: Date;
};

/**
 * The new endpoint, which receives events from now on. Not idempotent: each call registers another one. Throws
 * `state_conflict` if the merchant has too many.
 */
export async function registerEndpoint(db: Database, input: RegisterEndpoint): Promise<EndpointWithSecret> {
  const { merchantId, url, description, eventTypes, by, at } = input;
  const secret = generateEndpointSecret();
  const endpoint: Endpoint = {
    id: newId('whe', at.getTime()),
    merchantId,
    url,
    description,
    eventTypes,
    state: 'enabled',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    previousSecretUntil: null,
    createdAt: at,
    updatedAt: at,
  };
  await db.withTransaction(async (tx) => {
    await lockMerchant(tx, merchantId);
    if ((await countEndpoints(tx, merchantId)) >= MAX_ENDPOINTS_PER_MERCHANT) {
      throw stateConflict(
        `A merchant can have ${MAX_ENDPOINTS_PER_MERCHANT} endpoints. Delete one before you register another.`,
      );
    }
    await insertEndpoint(tx, endpoint, seal(secret, endpoint.id, input.keyRing));
    if (by) {
      const after = { url, description, event_types: eventTypes };
      await recordAct(tx, by, { action: 'endpoint.registered', subjectId: endpoint.id, after, at });
    }
  });
  return { ...endpoint, secret };
}
