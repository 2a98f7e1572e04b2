// Rows of the audit logs' hash chains: entries that wait for their link, links, the ends of chains, signed heads.
import type { AuditChainName, AuditHead, RecordedAuditEntry } from '../../domain/accounts/audit-chain.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

/** The end of a chain. */
export type AuditChain = {
  readonly chain: AuditChainName;
  /** How many entries it has. */
  readonly position: bigint;
  readonly hash: Buffer;
};

export type AuditLink = AuditChain & { readonly entryId: bigint };

// An arbitrary fixed number. Two processes that link at once would give one place to two entries.
const ADVISORY_LOCK = 7_261_544_020;

const LOCK = statement('audit_chain_lock', 'SELECT pg_try_advisory_xact_lock($1) AS is_ours');

/** Whether this transaction, and no other, links entries now. */
export async function lockAuditChains(tx: Tx): Promise<boolean> {
  const row = await findOne<{ isOurs: boolean }>(tx, LOCK, [ADVISORY_LOCK]);
  return row?.isOurs ?? false;
}

const ENTRY = `e.id, e.merchant_id, e.user_id, e.api_key_id, e.staff, e.action, e.outcome, e.subject_id, e.before, e.after,
  host(e.address) AS address, e.request_id, e.created_at AS at`;

const LIST_UNLINKED = statement(
  'audit_entry_list_unlinked',
  `SELECT ${ENTRY} FROM audit_entries_to_link q JOIN audit_entries e ON e.id = q.entry_id ORDER BY q.entry_id LIMIT $1`,
);

export async function listUnlinkedEntries(db: Queryable, limit: number): Promise<RecordedAuditEntry[]> {
  return db.run<RecordedAuditEntry>(LIST_UNLINKED, [limit]);
}

const LIST_CHAINS = statement(
  'audit_chain_list',
  'SELECT chain, position, hash FROM audit_chains WHERE chain = ANY ($1) ORDER BY chain',
);

export async function listAuditChains(db: Queryable, chains: readonly AuditChainName[]): Promise<AuditChain[]> {
  return db.run<AuditChain>(LIST_CHAINS, [chains]);
}

const SAVE_CHAINS = statement(
  'audit_chain_save',
  `INSERT INTO audit_chains (chain, position, hash)
   SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
   ON CONFLICT (chain) DO UPDATE SET position = excluded.position, hash = excluded.hash`,
);
const INSERT_LINKS = statement(
  'audit_link_insert',
  `INSERT INTO audit_links (chain, position, entry_id, hash)
   SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bytea[])`,
);
const DELETE_LINKED = statement(
  'audit_entry_delete_linked',
  'DELETE FROM audit_entries_to_link WHERE entry_id = ANY ($1::bigint[])',
);

/** Records the links, and the ends of their chains. */
export async function insertAuditLinks(
  tx: Tx,
  links: readonly AuditLink[],
  ends: readonly AuditChain[],
): Promise<void> {
  await tx.run(SAVE_CHAINS, [
    ends.map(({ chain }) => chain),
    ends.map(({ position }) => position),
    ends.map(({ hash }) => hash),
  ]);
  const entryIds = links.map(({ entryId }) => entryId);
  await tx.run(INSERT_LINKS, [
    links.map(({ chain }) => chain),
    links.map(({ position }) => position),
    entryIds,
    links.map(({ hash }) => hash),
  ]);
  await tx.run(DELETE_LINKED, [entryIds]);
}

const LIST_TO_SIGN = statement(
  'audit_chain_list_to_sign',
  `SELECT chain, position, hash FROM audit_chains
   WHERE signed_position < position AND (signed_at IS NULL OR signed_at < $1) ORDER BY chain LIMIT $2`,
);

/** Chains with entries since their last head, if that is from before `signedBefore`. */
export async function listChainsToSign(db: Queryable, signedBefore: Date, limit: number): Promise<AuditChain[]> {
  return db.run<AuditChain>(LIST_TO_SIGN, [signedBefore, limit]);
}

const INSERT_HEAD = statement(
  'audit_head_insert',
  `INSERT INTO audit_heads (chain, position, hash, signed_at, key_name, public_key, signature)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);
const SAVE_SIGNED = statement(
  'audit_chain_save_signed',
  'UPDATE audit_chains SET signed_position = $2, signed_at = $3 WHERE chain = $1',
);

export async function insertAuditHead(tx: Tx, head: AuditHead): Promise<void> {
  const { chain, position, hash, signedAt, keyName, publicKey, signature } = head;
  await tx.run(INSERT_HEAD, [chain, position, hash, signedAt, keyName, publicKey, signature]);
  await tx.run(SAVE_SIGNED, [chain, position, signedAt]);
}

const LIST_ALL = statement('audit_chain_list_all', 'SELECT chain, position, hash FROM audit_chains ORDER BY chain');

export async function listAllAuditChains(db: Queryable): Promise<AuditChain[]> {
  return db.run<AuditChain>(LIST_ALL, []);
}

/** A link with its entry, and the head that was signed at it. */
export type LinkedAuditEntry = {
  readonly position: bigint;
  readonly hash: Buffer;
  /** Null: there is no such entry any more. */
  readonly entry: RecordedAuditEntry | null;
  readonly head: AuditHead | null;
};

const LIST_LINKED = statement(
  'audit_link_list',
  `SELECT l.position AS link_position, l.hash AS link_hash, ${ENTRY},
     h.hash AS head_hash, h.signed_at, h.key_name, h.public_key, h.signature
   FROM audit_links l LEFT JOIN audit_entries e ON e.id = l.entry_id
   LEFT JOIN audit_heads h ON h.chain = l.chain AND h.position = l.position
   WHERE l.chain = $1 AND l.position > $2 ORDER BY l.position LIMIT $3`,
);

type LinkedRow = Omit<RecordedAuditEntry, 'id'> &
  Omit<AuditHead, 'chain' | 'position' | 'hash' | 'signedAt'> & {
    readonly linkPosition: bigint;
    readonly linkHash: Buffer;
    readonly id: bigint | null;
    readonly headHash: Buffer | null;
    readonly signedAt: Date | null;
  };

/** The links after `after`, in their order. */
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

const COUNT_UNLINKED = statement(
  'audit_entry_count_unlinked',
  `SELECT count(*) FILTER (WHERE q.entry_id IS NULL) AS lost, count(q.entry_id) AS waiting
   FROM audit_entries e LEFT JOIN audit_links l ON l.entry_id = e.id LEFT JOIN audit_entries_to_link q ON q.entry_id = e.id
   WHERE l.entry_id IS NULL AND ($1::text IS NULL OR coalesce(e.merchant_id, 'service') = $1)`,
);

export type UnlinkedEntries = {
  /** They neither have a link nor wait for one. */
  readonly lost: bigint;
  readonly waiting: bigint;
};

/** Reads all entries of the chain, or with null of every chain. */
export async function countUnlinkedEntries(db: Queryable, chain: AuditChainName | null): Promise<UnlinkedEntries> {
  const row = await findOne<UnlinkedEntries>(db, COUNT_UNLINKED, [chain]);
  return row ?? { lost: 0n, waiting: 0n };
}

const COUNT_HEADS = statement(
  'audit_head_count',
  'SELECT count(*) AS heads FROM audit_heads WHERE chain = $1 AND position <= $2',
);

/** The heads that were signed up to this end. */
export async function countAuditHeads(db: Queryable, { chain, position }: AuditChain): Promise<bigint> {
  return (await findOne<{ heads: bigint }>(db, COUNT_HEADS, [chain, position]))?.heads ?? 0n;
}
