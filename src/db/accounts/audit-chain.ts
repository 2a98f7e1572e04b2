// Rows of the audit logs' hash chains: entries that wait for their link, links, the ends of chains, signed heads.
import type { AuditChainName, AuditHead, RecordedAuditEntry } from '../../domain/accounts/audit-chain.ts';
import { columnsOf, insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

export type AuditChain = {
  readonly chain: AuditChainName;
  readonly position: bigint;
  readonly hash: Buffer;
};

export type AuditLink = AuditChain & { readonly entryId: bigint };

// Two processes that link at once would give one place to two entries. Only the application's account can lock this
// row; any account could hold an advisory lock and so stop the linking.
const LOCK = statement('audit_chain_lock')`
  SELECT chain FROM audit_chains WHERE chain = 'service' FOR UPDATE SKIP LOCKED`;

/** Whether this transaction alone may now link or sign entries. */
export async function lockAuditChains(tx: Tx): Promise<boolean> {
  return (await findOne(tx, LOCK, [])) !== null;
}

const ENTRY = `e.id, e.merchant_id, e.user_id, e.api_key_id, e.staff_id, e.staff, e.action, e.outcome, e.subject_id, e.before,
  e.after, host(e.address) AS address, e.request_id, e.created_at AS at`;

const LIST_UNLINKED = statement('audit_entry_list_unlinked')`
  SELECT ${ENTRY} FROM audit_entries_to_link q JOIN audit_entries e ON e.id = q.entry_id ORDER BY q.entry_id LIMIT $1`;

export async function listUnlinkedEntries(db: Queryable, limit: number): Promise<RecordedAuditEntry[]> {
  return db.run<RecordedAuditEntry>(LIST_UNLINKED, [limit]);
}

const LIST_CHAINS = statement('audit_chain_list')`
  SELECT chain, position, hash FROM audit_chains WHERE chain = ANY ($1) ORDER BY chain`;

export async function listAuditChains(db: Queryable, chains: readonly AuditChainName[]): Promise<AuditChain[]> {
  return db.run<AuditChain>(LIST_CHAINS, [chains]);
}

const INSERT_LINKS = statement('audit_link_insert')`
  INSERT INTO audit_links (chain, position, entry_id, hash)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[])`;

/** Records the links, each the next of its chain. The database moves the ends of the chains with them. */
export async function insertAuditLinks(tx: Tx, links: readonly AuditLink[]): Promise<void> {
  await tx.run(INSERT_LINKS, columnsOf(links, 'chain', 'position', 'entryId', 'hash'));
}

// A head of a later time, by another clock or by somebody's hand, or by another key, must not keep a chain unsigned.
const LIST_TO_SIGN = statement('audit_chain_list_to_sign')`
  SELECT c.chain, c.position, c.hash FROM audit_chains c
  LEFT JOIN LATERAL (
    SELECT h.signed_at FROM audit_heads h WHERE h.chain = c.chain AND h.public_key = ANY ($4)
    ORDER BY h.position DESC LIMIT 1) last ON true
  WHERE c.unsigned_since IS NOT NULL AND (last.signed_at IS NULL OR last.signed_at NOT BETWEEN $1 AND $2)
  ORDER BY c.unsigned_since, c.chain LIMIT $3`;

export type ListChainsToSign = {
  readonly signedAfter: Date;
  readonly signedBefore: Date;
  readonly publicKeys: readonly Buffer[];
  readonly limit: number;
};

/** Chains with entries after their last head, unless one of these keys signed a head between the two times. */
export async function listChainsToSign(db: Queryable, options: ListChainsToSign): Promise<AuditChain[]> {
  const { signedAfter, signedBefore, publicKeys, limit } = options;
  return db.run<AuditChain>(LIST_TO_SIGN, [signedAfter, signedBefore, limit, publicKeys]);
}

const HEAD_COLUMNS = 'chain, position, hash, signed_at, key_name, public_key, signature';

const LIST_LAST_HEADS = statement('audit_head_list_last')`
  SELECT h.* FROM audit_chains c CROSS JOIN LATERAL (
    SELECT ${HEAD_COLUMNS} FROM audit_heads h
    WHERE h.chain = c.chain ORDER BY h.position DESC LIMIT 1) h
  WHERE c.chain > $1 ORDER BY c.chain LIMIT $2`;

/** The last head of each chain, by any writer: in the order of the chains' names, those after `after`. */
export async function listLastHeads(db: Queryable, after: string, limit: number): Promise<AuditHead[]> {
  return db.run<AuditHead>(LIST_LAST_HEADS, [after, limit]);
}

const insertHead = insertion('audit_head_insert', 'audit_heads', HEAD_COLUMNS);

export async function insertAuditHead(tx: Tx, head: AuditHead): Promise<void> {
  await insertHead(tx, head);
}

// A chain without its record has no end, and is verified nevertheless.
const LIST_RECORDED = statement('audit_chain_list_recorded')`
  SELECT chain, coalesce(position, 0) AS position, coalesce(hash, '') AS hash
  FROM audit_chains FULL JOIN (SELECT chain FROM audit_links UNION SELECT chain FROM audit_heads) linked USING (chain)
  WHERE $1::text IS NULL OR chain = $1 ORDER BY chain`;

/** The chain, or with null every chain, that has a record, a link or a head. Reads all links. */
export async function listRecordedChains(db: Queryable, chain: AuditChainName | null): Promise<AuditChain[]> {
  return db.run<AuditChain>(LIST_RECORDED, [chain]);
}

export type LinkedAuditEntry = {
  readonly position: bigint;
  readonly hash: Buffer;
  /** Null: the entry no longer exists. */
  readonly entry: RecordedAuditEntry | null;
  readonly head: AuditHead | null;
};

const LIST_LINKED = statement('audit_link_list')`
  SELECT l.position AS link_position, l.hash AS link_hash, ${ENTRY},
    h.hash AS head_hash, h.signed_at, h.key_name, h.public_key, h.signature
  FROM audit_links l LEFT JOIN audit_entries e ON e.id = l.entry_id
  LEFT JOIN audit_heads h ON h.chain = l.chain AND h.position = l.position
  WHERE l.chain = $1 AND l.position > $2 ORDER BY l.position LIMIT $3`;

type LinkedRow = Omit<RecordedAuditEntry, 'id'> &
  Omit<AuditHead, 'chain' | 'position' | 'hash' | 'signedAt'> & {
    readonly linkPosition: bigint;
    readonly linkHash: Buffer;
    readonly id: bigint | null;
    readonly headHash: Buffer | null;
    readonly signedAt: Date | null;
  };

export async function listLinkedEntries(
  db: Queryable,
  chain: AuditChainName,
  after: bigint,
  limit: number,
): Promise<LinkedAuditEntry[]> {
  const rows = await db.run<LinkedRow>(LIST_LINKED, [chain, after, limit]);
  return rows.map((row) => {
    const { linkPosition: position, linkHash, id, headHash, signedAt, keyName, publicKey, signature, ...entry } = row;
    const signed = { keyName, publicKey, signature };
    return {
      position,
      hash: linkHash,
      entry: id === null ? null : { ...entry, id },
      head: headHash === null || signedAt === null ? null : { chain, position, hash: headHash, signedAt, ...signed },
    };
  });
}

const COUNT_UNLINKED = statement('audit_entry_count_unlinked')`
  SELECT count(*) FILTER (WHERE q.entry_id IS NULL) AS lost, count(q.entry_id) AS waiting,
    count(*) FILTER (WHERE q.queued_at < $2) AS overdue
  FROM audit_entries e
  LEFT JOIN audit_links l ON l.entry_id = e.id AND l.chain = coalesce(e.merchant_id, 'service')
  LEFT JOIN audit_entries_to_link q ON q.entry_id = e.id
  WHERE l.entry_id IS NULL AND ($1::text IS NULL OR coalesce(e.merchant_id, 'service') = $1)`;

export type UnlinkedEntries = {
  /** Entries that neither have a link in the chain of their merchant nor wait for one. */
  readonly lost: bigint;
  readonly waiting: bigint;
  /** How many of the waiting entries have waited since before the given time. */
  readonly overdue: bigint;
};

/** Reads all entries of the chain, or with null of every chain. */
export async function countUnlinkedEntries(
  db: Queryable,
  chain: AuditChainName | null,
  overdueBefore: Date,
): Promise<UnlinkedEntries> {
  const row = await findOne<UnlinkedEntries>(db, COUNT_UNLINKED, [chain, overdueBefore]);
  return row ?? { lost: 0n, waiting: 0n, overdue: 0n };
}

const COUNT_LINKED_TWICE = statement('audit_link_count_twice')`
  SELECT count(*) AS count FROM (
    SELECT FROM audit_links WHERE $1::text IS NULL OR chain = $1 GROUP BY entry_id HAVING count(*) > 1) twice`;

/** How many entries have more than one link in the chain, or with null in all chains. */
export async function countEntriesLinkedTwice(db: Queryable, chain: AuditChainName | null): Promise<bigint> {
  return (await findOne<{ count: bigint }>(db, COUNT_LINKED_TWICE, [chain]))?.count ?? 0n;
}

const COUNT_HEADS = statement('audit_head_count')`SELECT count(*) AS heads FROM audit_heads WHERE chain = $1`;

export async function countAuditHeads(db: Queryable, chain: AuditChainName): Promise<bigint> {
  return (await findOne<{ heads: bigint }>(db, COUNT_HEADS, [chain]))?.heads ?? 0n;
}
