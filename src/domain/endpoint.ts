// Webhook endpoints: limits and secrets.
import { randomBytes } from 'node:crypto';

/** Each event is written once per endpoint, in the transaction of the payment: so their number is bounded. */
export const MAX_ENDPOINTS_PER_MERCHANT = 16;

/** A new signing secret: `whsec_` and 43 base64url characters, 256 random bits. Shown once, then kept sealed. */
export function generateEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}
