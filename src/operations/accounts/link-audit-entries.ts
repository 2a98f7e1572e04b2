// Links new entries of audit logs into the hash chains of their merchants, and signs the ends of chains once a day.
import {
  insertAuditHead,
  insertAuditLinks,
  listAuditChains,
  listChainsToSign,
  listUnlinkedEntries,
  lockAuditChains,
  type AuditChain,
  type AuditLink,
} from '../../db/accounts/audit-chain.ts';
import type { Database } from '../../db/database.ts';
import {
  auditChainOf,
  auditLine,
  CHAIN_START,
  type AuditChainName,
  type AuditHead,
  type RecordedAuditEntry,
} from '../../domain/accounts/audit-chain.ts';
import { hashAuditLine, signAuditHead } from '../../security/audit-signature.ts';
import type { KeyRing } from '../../security/sealing.ts';

/**
 * Links at most `limit` entries, oldest first, in one transaction; returns how many. Call it again until it returns 0. It
 * returns 0 while another process links.
 */
export async function linkAuditEntries(db: Database, limit: number): Promise<number> {
  // Most often there is none, and one statement says so.
  if ((await listUnlinkedEntries(db, 1)).length === 0) return 0;
  return db.withTransaction(async (tx) => {
    if (!(await lockAuditChains(tx))) return 0;
    const entries = await listUnlinkedEntries(tx, limit);
    if (entries.length === 0) return 0;
    const names = new Set(entries.map(({ merchantId }) => auditChainOf(merchantId)));
    const ends = new Map((await listAuditChains(tx, [...names])).map((end) => [end.chain, end]));
    const links = entries.map((entry) => append(entry, ends));
    await insertAuditLinks(tx, links, [...ends.values()]);
    return links.length;
  });
}

function append(entry: RecordedAuditEntry, ends: Map<AuditChainName, AuditChain>): AuditLink {
  const chain = auditChainOf(entry.merchantId);
  const end = ends.get(chain) ?? { position: 0n, hash: CHAIN_START };
  const position = end.position + 1n;
  const hash = hashAuditLine(auditLine(entry, { chain, position, previous: end.hash.toString('hex') }));
  ends.set(chain, { chain, position, hash });
  return { chain, position, entryId: entry.id, hash };
}

export type SignAuditHeads = {
  readonly ring: KeyRing;
  readonly at: Date;
  readonly limit: number;
};

const DAY_MS = 24 * 3_600_000;

/**
 * Signs at most `limit` chains that have new entries and whose last head is of an earlier day (UTC), or that have none.
 * Returns the heads, for the caller to record outside of the database. While another process links or signs it signs none.
 */
export async function signAuditHeads(db: Database, { ring, at, limit }: SignAuditHeads): Promise<AuditHead[]> {
  const dayStart = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
  if ((await listChainsToSign(db, dayStart, 1)).length === 0) return [];
  return db.withTransaction(async (tx) => {
    if (!(await lockAuditChains(tx))) return [];
    const heads: AuditHead[] = [];
    for (const end of await listChainsToSign(tx, dayStart, limit)) {
      const head = signAuditHead({ ...end, signedAt: at }, ring);
      await insertAuditHead(tx, head);
      heads.push(head);
    }
    return heads;
  });
}
