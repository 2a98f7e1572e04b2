// Links new entries of audit logs into the hash chains of their merchants, and signs the ends of chains once an hour.
import {
  insertAuditHead,
  insertAuditLinks,
  listAuditChains,
  listChainsToSign,
  listLastHeads,
  listUnlinkedEntries,
  lockAuditChains,
  type AuditChain,
  type AuditLink,
} from '../../db/accounts/audit-chain.ts';
import type { Database } from '../../db/platform/database.ts';
import { eachItem } from '../../db/platform/page.ts';
import {
  auditChainOf,
  auditLine,
  CHAIN_START,
  type AuditChainName,
  type AuditHead,
  type RecordedAuditEntry,
} from '../../domain/accounts/audit-chain.ts';
import { auditPublicKeys, checkAuditHead, hashAuditLine, signAuditHead } from '../../security/audit-signature.ts';
import type { KeyRing } from '../../security/sealing.ts';

/**
 * Links at most `limit` entries, oldest first, in one transaction, and returns their number. Call it again until it
 * returns 0. It returns 0 while another process links entries.
 */
export async function linkAuditEntries(db: Database, limit: number): Promise<number> {
  // Usually there is no entry, and one statement finds that out.
  if ((await listUnlinkedEntries(db, 1)).length === 0) return 0;
  return db.withTransaction(async (tx) => {
    if (!(await lockAuditChains(tx))) return 0;
    const entries = await listUnlinkedEntries(tx, limit);
    if (entries.length === 0) return 0;
    const names = new Set(entries.map(({ merchantId }) => auditChainOf(merchantId)));
    const ends = new Map((await listAuditChains(tx, [...names])).map((end) => [end.chain, end]));
    const links = entries.map((entry) => append(entry, ends));
    await insertAuditLinks(tx, links);
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

const SIGN_EVERY_MS = 3_600_000;

/**
 * Signs at most `limit` chains that have new entries and no head of the last hour. Returns the heads, for the caller to
 * record outside the database. Signs none while another process links or signs.
 */
export async function signAuditHeads(db: Database, { ring, at, limit }: SignAuditHeads): Promise<AuditHead[]> {
  const signedAfter = new Date(at.getTime() - SIGN_EVERY_MS);
  const signedBefore = new Date(at.getTime() + SIGN_EVERY_MS);
  const wanted = { signedAfter, signedBefore, publicKeys: auditPublicKeys(ring) };
  if ((await listChainsToSign(db, { ...wanted, limit: 1 })).length === 0) return [];
  return db.withTransaction(async (tx) => {
    if (!(await lockAuditChains(tx))) return [];
    const heads: AuditHead[] = [];
    for (const end of await listChainsToSign(tx, { ...wanted, limit })) {
      const head = signAuditHead({ ...end, signedAt: at }, ring);
      await insertAuditHead(tx, head);
      heads.push(head);
    }
    return heads;
  });
}

const HEADS_PER_PAGE = 1000;

/**
 * The last heads of all chains that no key of the ring signed. The database accepts a head from any writer, and counts
 * the entries before it as signed.
 */
export async function findForeignHeads(db: Database, ring: KeyRing): Promise<AuditHead[]> {
  const heads = eachItem<AuditHead>(HEADS_PER_PAGE, (last) => listLastHeads(db, last?.chain ?? '', HEADS_PER_PAGE));
  const foreign: AuditHead[] = [];
  for await (const head of heads) {
    if (checkAuditHead(head, ring) !== 'valid') foreign.push(head);
  }
  return foreign;
}
