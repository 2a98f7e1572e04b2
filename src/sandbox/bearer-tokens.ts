// The bearer tokens that the sandbox operator has given out.
import { randomBytes } from 'node:crypto';

export type BearerTokens = {
  /** Whether the value of the header `Authorization` has a token that has not expired. */
  isBearer(authorization: string): boolean;
  /** Makes the token invalid. */
  revoke(authorization: string): void;
  issue(): { readonly token: string; readonly lifeSeconds: number };
};

/** Kept in memory: after a restart every client gets one 401 and must handle it. Beyond `most` tokens the oldest is forgotten. */
export function createBearerTokens(lifeMs: number, most: number): BearerTokens {
  // In order of issue, the oldest first.
  const endsAtMsByToken = new Map<string, number>();

  const tokenIn = (authorization: string): string => /^bearer (\S+)$/i.exec(authorization)?.[1] ?? '';

  return {
    isBearer: (authorization) => (endsAtMsByToken.get(tokenIn(authorization)) ?? 0) > Date.now(),
    revoke(authorization) {
      endsAtMsByToken.delete(tokenIn(authorization));
    },
    issue() {
      const token = randomBytes(48).toString('base64url');
      endsAtMsByToken.set(token, Date.now() + lifeMs);
      for (const oldest of endsAtMsByToken.keys()) {
        if (endsAtMsByToken.size <= most) break;
        endsAtMsByToken.delete(oldest);
      }
      return { token, lifeSeconds: Math.max(1, Math.round(lifeMs / 1000)) };
    },
  };
}
