// People of a benchmark's merchants: they log in over HTTP as a browser does.
import { request } from 'undici';
import type { MerchantId } from '../src/domain/ids.ts';
import { totpCode, totpStepAt } from '../src/security/totp.ts';

export const PASSWORD = 'correct horse battery staple';

export type BenchPerson = {
  readonly email: string;
  readonly totpSecret: string;
  readonly merchantId: MerchantId;
};

/** Returns the cookie of a new session. */
export async function logIn(baseUrl: string, { email, totpSecret, merchantId }: BenchPerson): Promise<string> {
  const response = await request(`${baseUrl}/v1/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ownPage(baseUrl) },
    body: JSON.stringify({
      email,
      password: PASSWORD,
      merchant_id: merchantId,
      totp: totpCode(totpSecret, totpStepAt(new Date())),
    }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(`log-in: ${response.statusCode} ${text}`);
  return String([response.headers['set-cookie']].flat()[0]).split(';', 1)[0] ?? '';
}

/** The headers by which a request comes from our own pages. */
export function ownPage(baseUrl: string): Record<string, string> {
  return { origin: baseUrl, 'malipo-console': '1' };
}
