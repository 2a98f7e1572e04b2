// Access to the sandbox operator's MTN API: subscription keys, API users and bearer tokens.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { SandboxCredentials, SandboxSettings } from './sandbox-config.ts';

export type MtnAccess = {
  hasSubscription(subscriptionKey: string): boolean;
  isApiUser(authorization: string): boolean;
  isBearer(authorization: string): boolean;
  issueToken(): { token: string; lifeSeconds: number };
};

/** For one product. Tokens are kept in memory: after a restart every client gets one 401 and must handle it. */
export function createMtnAccess(credentials: SandboxCredentials, { limits, times }: SandboxSettings): MtnAccess {
  const basic = `Basic ${Buffer.from(`${credentials.apiUser}:${credentials.apiKey}`).toString('base64')}`;
  // In order of issue, the oldest first.
  const endsAtMsByToken = new Map<string, number>();

  return {
    hasSubscription: (subscriptionKey) => isSameSecret(subscriptionKey, credentials.subscriptionKey),
    isApiUser: (authorization) => isSameSecret(authorization, basic),
    isBearer(authorization) {
      const [scheme, token = ''] = authorization.split(' ');
      return scheme?.toLowerCase() === 'bearer' && (endsAtMsByToken.get(token) ?? 0) > Date.now();
    },
    issueToken() {
      const token = randomBytes(48).toString('base64url');
      endsAtMsByToken.set(token, Date.now() + times.tokenLifeMs);
      for (const oldest of endsAtMsByToken.keys()) {
        if (endsAtMsByToken.size <= limits.tokens) break;
        endsAtMsByToken.delete(oldest);
      }
      return { token, lifeSeconds: Math.max(1, Math.round(times.tokenLifeMs / 1000)) };
    },
  };
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
