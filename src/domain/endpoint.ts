// Webhook endpoints: limits and secrets.
import { randomBytes } from 'node:crypto';
import { DomainError } from './errors.ts';
import { newId, type DeliveryId } from './ids.ts';

/** Each event is written once per endpoint, in the transaction of the payment: so their number is bounded. */
export const MAX_ENDPOINTS_PER_MERCHANT = 16;

/** Why nothing is sent to an endpoint: somebody said so, it answered 410, all failed for days, or it is no more. */
export type DisabledReason = 'by_person' | 'answered_gone' | 'failing' | 'deleted';

/** Ids for the deliveries of one event; those that no endpoint takes up are dropped. */
export function newDeliveryIds(at: Date): DeliveryId[] {
  return Array.from({ length: MAX_ENDPOINTS_PER_MERCHANT }, () => newId('dlv', at.getTime()));
}

/** A new signing secret: `whsec_` and 43 base64url characters, 256 random bits. Shown once, then kept sealed. */
export function generateEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** The same for an unknown id, for one that was deleted, and for another merchant's. */
export function endpointNotFound(): DomainError {
  return new DomainError(
    'endpoint_not_found',
    'There is no endpoint with this id. Look it up in the list of endpoints.',
  );
}
