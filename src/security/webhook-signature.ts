// The webhook signature of the interface document, section 6: HMAC-SHA256 over "<t>.<raw body>", as lowercase hex.
import { createHmac } from 'node:crypto';

/**
 * The value of `Malipo-Signature` for these exact body bytes at `atUnixSeconds`: one `v1` pair per secret, in order.
 * More than one secret is in force only while a rotation overlaps.
 */
export function signatureHeader(body: Buffer, secrets: readonly string[], atUnixSeconds: number): string {
  const pairs = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${atUnixSeconds}.`).update(body).digest('hex');
    return `v1=${hmac}`;
  });
  return [`t=${atUnixSeconds}`, ...pairs].join(',');
}
