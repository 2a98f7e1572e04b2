// The bearer tokens that the sandbox operator has given out.
import { randomBytes } from 'node:crypto';

type BearerTokens = {
  /** Whether the value of the header `Authorization` has a token that has not expired. */
  isBearer(authorization: string): boolean;
  issue(): { readonly token: string; readonly lifeSeconds: number };
};

/** Kept in memory: after a restart every client gets one 401 and must handle it. The oldest is forgotten beyond `most`. */
export function createBearerTokens(lifeMs: number, most: number): BearerTokens {
  // In order of issue, the oldest first.
  const endsAtMsByToken = new Map<string, number>();

  return {
    isBearer(authorization) {
      const [scheme, token = ''] = authorization.split(' ');
      return scheme?.toLowerCase() === 'bearer' && (endsAtMsByToken.get(token) ?? 0) > Date.now();
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
