// Registers where a merchant's events go.
import type { Database } from '../db/database.ts';
import { countEndpoints, insertEndpoint, lockMerchant } from '../db/endpoint.ts';
import { generateEndpointSecret, MAX_ENDPOINTS_PER_MERCHANT } from '../domain/endpoint.ts';
import { DomainError } from '../domain/errors.ts';
import type { EventType } from '../domain/event.ts';
import { newId, type EndpointId, type MerchantId } from '../domain/ids.ts';
import { seal, type KeyRing } from '../domain/secret-box.ts';

export type RegisterEndpoint = {
  readonly merchantId: MerchantId;
  /** Checked by the caller against the outbound guard; every attempt checks it again. */
  readonly url: string;
  readonly description: string | null;
  /** Null: every type. */
  readonly eventTypes: readonly EventType[] | null;
  readonly keyRing: KeyRing;
  readonly at: Date;
};

/** The endpoint with its signing secret, which is shown this once. Throws `parameter_invalid` when there are too many. */
export async function registerEndpoint(
  db: Database,
  input: RegisterEndpoint,
): Promise<{ id: EndpointId; secret: string }> {
  const id = newId('whe', input.at.getTime());
  const secret = generateEndpointSecret();
  await db.withTransaction(async (tx) => {
    await lockMerchant(tx, input.merchantId);
    if ((await countEndpoints(tx, input.merchantId)) >= MAX_ENDPOINTS_PER_MERCHANT) {
      throw new DomainError(
        'parameter_invalid',
        `A merchant can have ${MAX_ENDPOINTS_PER_MERCHANT} endpoints. Delete one before you register another.`,
      );
    }
    await insertEndpoint(tx, {
      id,
      merchantId: input.merchantId,
      url: input.url,
      description: input.description,
      eventTypes: input.eventTypes,
      secretSealed: seal(secret, id, input.keyRing),
      createdAt: input.at,
    });
  });
  return { id, secret };
}
