// The API keys that this process has verified, for statements that confirm a key while they act for it.
import { LRUCache } from 'lru-cache';
import { hashApiKey } from '../security/api-key.ts';
import {
  isTouchDue,
  refusalOf,
  type authenticateApiKey,
  type KeyRequest,
} from '../operations/accounts/authenticate-api-key.ts';

const MAX_KEYS = 10_000;

export type VerifiedKey = Awaited<ReturnType<typeof authenticateApiKey>>;

export type VerifiedKeys = {
  remember(text: string, key: VerifiedKey): void;
  /**
   * The key as it was last verified. Null if it never was, was not valid for such a request, or its use must be
   * recorded. It may be revoked by now: only a statement that finds its row in the same version may act for it.
   */
  find(text: string, request: KeyRequest): VerifiedKey | null;
};

export function createVerifiedKeys(): VerifiedKeys {
  const keys = new LRUCache<string, VerifiedKey>({ max: MAX_KEYS });
  // The text of a key is stored nowhere.
  const nameOf = (text: string) => hashApiKey(text).toString('base64');
  return {
    remember: (text, key) => void keys.set(nameOf(text), key),
    find(text, request) {
      const name = nameOf(text);
      const key = keys.get(name);
      if (key === undefined || refusalOf(key, request) !== null) return null;
      if (!isTouchDue(key, request.at)) return key;
      // Only this request records the use; concurrent requests continue.
      keys.set(name, { ...key, lastUsedAt: request.at });
      return null;
    },
  };
}
