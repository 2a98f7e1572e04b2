// Seals stored secrets again that an older key sealed, so that the older key can be removed from the configuration.
import type { Database } from '../db/platform/database.ts';
import { SEALED_COLUMNS, type ResealedSecret, type SealedSecret } from '../db/platform/sealed-secret.ts';
import { open, seal, type KeyRing } from '../security/sealing.ts';

export type ResealSecrets = {
  readonly keyRing: KeyRing;
  /** The most secrets to seal again in each column. */
  readonly limit: number;
};

export type ResealedSecrets = {
  readonly resealed: number;
  /** How many secrets the first key still has not sealed. */
  readonly left: number;
  /** How many of those cannot be opened: their key is not in the ring, or they were altered. */
  readonly unopenable: number;
};

/**
 * Seals at most `limit` secrets of each column again. Call it again until nothing is resealed. A secret that is
 * replaced at the same moment keeps its new value. A secret that cannot be opened is left as it is: its key may be
 * configured again.
 */
export async function resealSecrets(db: Database, { keyRing, limit }: ResealSecrets): Promise<ResealedSecrets> {
  const [first, ...older] = keyRing.map(({ name }) => name);
  return db.withTransaction(async (tx) => {
    const result = { resealed: 0, left: 0, unopenable: 0 };
    for (const column of SEALED_COLUMNS) {
      const found = older.length === 0 ? [] : await column.list(tx, older, limit);
      const opened = found.flatMap((secret) => reseal(secret, keyRing) ?? []);
      if (opened.length > 0) result.resealed += await column.replace(tx, opened);
      result.left += await column.countOthers(tx, [first ?? '']);
      result.unopenable += found.length - opened.length + (await column.countOthers(tx, [first ?? '', ...older]));
    }
    return result;
  });
}

function reseal(secret: SealedSecret, keyRing: KeyRing): ResealedSecret | null {
  const { context, sealed } = secret;
  try {
    return { ...secret, resealed: seal(open(sealed, context, keyRing), context, keyRing) };
  } catch {
    // The secret was altered, or another key of the same name sealed it. The caller counts it as unopenable.
    return null;
  }
}
