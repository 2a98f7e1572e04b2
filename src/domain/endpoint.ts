// Webhook endpoints: limits and secrets.
import { randomBytes } from 'node:crypto';
import { newId, type DeliveryId } from './ids.ts';

/** Each event is written once per endpoint, in the transaction of the payment: so their number is bounded. */
export const MAX_ENDPOINTS_PER_MERCHANT = 16;

/** Ids for the deliveries of one event; those that no endpoint takes up are dropped. */
export function newDeliveryIds(at: Date): DeliveryId[] {
  return Array.from({ length: MAX_ENDPOINTS_PER_MERCHANT }, () => newId('dlv', at.getTime()));
}

/** A new signing secret: `whsec_` and 43 base64url characters, 256 random bits. Shown once, then kept sealed. */
export function generateEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}
