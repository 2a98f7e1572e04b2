// Seals stored secrets anew that an older key sealed, so that the older key can be taken away.
import type { Database } from '../db/database.ts';
import { SEALED_COLUMNS, type SealedSecret } from '../db/sealed-secret.ts';
import { open, seal, type KeyRing } from '../security/sealing.ts';

export type ResealSecrets = {
  readonly keyRing: KeyRing;
  /** Of each kind of secret. */
  readonly limit: number;
};

export type ResealedSecrets = {
  readonly resealed: number;
  /** How many are not sealed by the first key, after that. */
  readonly left: number;
  /** How many of those can never be: their key is not in the ring, or they were altered. */
  readonly unopenable: number;
};

/**
 * At most `limit` of each kind; call again while something was resealed. A secret that is replaced at the same moment stays
 * as it was replaced. What cannot be opened is left as it is: the key may come back.
 */
export async function resealSecrets(db: Database, { keyRing, limit }: ResealSecrets): Promise<ResealedSecrets> {
  const [first, ...older] = keyRing.map(({ name }) => name);
  return db.withTransaction(async (tx) => {
    const result = { resealed: 0, left: 0, unopenable: 0 };
    for (const place of SEALED_COLUMNS) {
      const found = older.length === 0 ? [] : await place.list(tx, older, limit);
      const opened = found.flatMap((secret) => sealAnew(secret, keyRing) ?? []);
      if (opened.length > 0) result.resealed += await place.replace(tx, opened);
      result.left += await place.countOthers(tx, [first ?? '']);
      result.unopenable += found.length - opened.length + (await place.countOthers(tx, [first ?? '', ...older]));
    }
    return result;
  });
}

function sealAnew({ id, sealed }: SealedSecret, keyRing: KeyRing): (SealedSecret & { anew: string }) | null {
  try {
    return { id, sealed, anew: seal(open(sealed, id, keyRing), id, keyRing) };
  } catch {
    // Altered, or of a key of the same name that is another one: counted by the caller, and told.
    return null;
  }
}
