// Webhook signatures as in docs/guides/webhooks.md: HMAC-SHA256 over "<t>.<raw body>", in lowercase hex; and their secrets.
import { createHmac, randomBytes } from 'node:crypto';

/** A new signing secret: `whsec_` and 43 base64url characters (256 random bits). Shown once, then stored sealed. */
export function generateEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** The value of `Malipo-Signature` for these bytes: a `v1` pair per secret, two while a rotated secret overlaps. */
export function signatureHeader(body: Buffer, secrets: readonly string[], atUnixSeconds: number): string {
  const pairs = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${atUnixSeconds}.`).update(body).digest('hex');
    return `v1=${hmac}`;
  });
  return [`t=${atUnixSeconds}`, ...pairs].join(',');
}
