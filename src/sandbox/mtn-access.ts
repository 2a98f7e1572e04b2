// Access to the sandbox operator's MTN API: subscription keys, API users and bearer tokens.
import { createBearerTokens } from './bearer-tokens.ts';
import { isSameSecret } from './same-secret.ts';
import type { SandboxCredentials, SandboxSettings } from './sandbox-config.ts';

export type MtnAccess = {
  hasSubscription(subscriptionKey: string): boolean;
  isApiUser(authorization: string): boolean;
  isBearer(authorization: string): boolean;
  revokeToken(authorization: string): void;
  issueToken(): { token: string; lifeSeconds: number };
};

/** The access to one product. */
export function createMtnAccess(credentials: SandboxCredentials, { limits, times }: SandboxSettings): MtnAccess {
  const basic = `Basic ${Buffer.from(`${credentials.apiUser}:${credentials.apiKey}`).toString('base64')}`;
  const tokens = createBearerTokens(times.tokenLifeMs, limits.tokens);

  return {
    hasSubscription: (subscriptionKey) => isSameSecret(subscriptionKey, credentials.subscriptionKey),
    isApiUser: (authorization) => isSameSecret(authorization, basic),
    isBearer: (authorization) => tokens.isBearer(authorization),
    revokeToken: (authorization) => {
      tokens.revoke(authorization);
    },
    issueToken: () => tokens.issue(),
  };
}
