// Verifies the hash chains of audit logs, and exports them as JSON lines.
import {
  countAuditHeads,
  countEntriesLinkedTwice,
  countUnlinkedEntries,
  listLinkedEntries,
  listRecordedChains,
  type AuditChain,
  type LinkedAuditEntry,
} from '../../db/accounts/audit-chain.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import { eachItem } from '../../db/platform/page.ts';
import {
  auditChainOf,
  auditHeadLine,
  auditLine,
  CHAIN_START,
  type AuditChainName,
  type AuditHead,
  type RecordedAuditEntry,
} from '../../domain/accounts/audit-chain.ts';
import { checkAuditHead, hashAuditLine } from '../../security/audit-signature.ts';
import type { KeyRing } from '../../security/sealing.ts';

/** The end of a chain, as somebody stored it outside the database. */
export type KeptHead = { readonly position: bigint; readonly hash: Buffer };

export type VerifyAudit = {
  /** Null: every chain. */
  readonly chain: AuditChainName | null;
  readonly kept: readonly KeptHead[];
  readonly ring: KeyRing;
  readonly at: Date;
};

const PAGE = 1000;
const MOST_FAULTS = 100;
const STATEMENT_TIMEOUT_MS = 600_000;
/** Links are made every second and heads every hour: a longer wait means that something prevents them. */
const OVERDUE_LINK_MINUTES = 5;
const OVERDUE_HEAD_HOURS = 2;
const MINUTE_MS = 60_000;

type Walk = { entries: number; heads: number; faults: string[] };

/** Recomputes every hash of the log, as of one moment. */
export async function verifyAudit(db: Database, { chain, kept, ring, at }: VerifyAudit) {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, atOneMoment: true };
  return db.withLongReads(limits, async (reads) => {
    const chains = await listRecordedChains(reads, chain);
    const walk: Walk = { entries: 0, heads: 0, faults: [] };
    for (const end of chains) await verifyChain(reads, end, { kept, ring, at, walk });
    const overdueBefore = new Date(at.getTime() - OVERDUE_LINK_MINUTES * MINUTE_MS);
    const { lost, waiting, overdue } = await countUnlinkedEntries(reads, chain, overdueBefore);
    if (overdue > 0n) {
      walk.faults.push(`${overdue} entries have waited for their link for more than ${OVERDUE_LINK_MINUTES} minutes`);
    }
    if (lost > 0n) walk.faults.push(`${lost} entries have no link in their log, and no link is pending`);
    const twice = await countEntriesLinkedTwice(reads, chain);
    if (twice > 0n) walk.faults.push(`${twice} entries have more than one link`);
    if (kept.length > 0 && chains.length === 0)
      walk.faults.push('the log does not exist, although one of its heads was kept');
    return {
      chains: chains.length,
      entries: walk.entries,
      heads: walk.heads,
      /** Entries that are too new to have their link. */
      waiting: Number(waiting),
      /** At most 100 sentences. Empty: every entry is as recorded, and no link or signature is overdue. */
      faults: walk.faults.slice(0, MOST_FAULTS),
    };
  });
}

type Verifying = Pick<VerifyAudit, 'kept' | 'ring' | 'at'> & { readonly walk: Walk };

async function verifyChain(reads: Queryable, end: AuditChain, { kept, ring, at, walk }: Verifying): Promise<void> {
  const { chain } = end;
  const fault = (text: string) => walk.faults.length < MOST_FAULTS && walk.faults.push(`${chain}: ${text}`);
  let [position, previous, heads]: [bigint, Buffer, bigint] = [0n, CHAIN_START, 0n];
  let unsignedSince: Date | null = null;
  for await (const linked of linkedEntries(reads, chain)) {
    if (linked.position !== position + 1n) fault(`entries ${position + 1n} to ${linked.position - 1n} are missing`);
    position = linked.position;
    const hash = hashOf(linked, chain, previous);
    if (linked.entry === null) fault(`entry ${position} is missing`);
    else if (isForeign(linked.entry, chain)) fault(`entry ${position} belongs to another log`);
    if (hash !== null && !hash.equals(linked.hash)) fault(`entry ${position} is not as it was recorded`);
    for (const head of kept) {
      const isOther = head.position === position && !head.hash.equals(hash ?? linked.hash);
      if (isOther) fault(`entry ${position} does not match the kept head`);
    }
    if (linked.entry && (unsignedSince === null || linked.entry.at < unsignedSince)) unsignedSince = linked.entry.at;
    if (linked.head) {
      heads += 1n;
      const wrong = faultOf(linked.head, linked.hash, ring);
      if (wrong === null) unsignedSince = null;
      else fault(`the head signed at entry ${position} ${wrong}`);
    }
    walk.entries += 1;
    previous = linked.hash;
  }
  if (position !== end.position || !previous.equals(end.hash)) {
    fault(`the log records ${end.position} entries, and ${position} were found`);
  }
  if ((await countAuditHeads(reads, chain)) !== heads) fault('a signed head belongs to no entry');
  for (const head of kept) {
    if (head.position > position) fault(`entry ${head.position} of the kept head is missing`);
  }
  if (unsignedSince !== null && at.getTime() - unsignedSince.getTime() > OVERDUE_HEAD_HOURS * 60 * MINUTE_MS) {
    fault(`its entries since ${unsignedSince.toISOString()} are not signed`);
  }
  walk.heads += Number(heads);
}

// The hash covers the name of the chain alone. The comparison proves that it is the chain of the entry's merchant.
function isForeign({ merchantId }: RecordedAuditEntry, chain: AuditChainName): boolean {
  return auditChainOf(merchantId) !== chain;
}

function hashOf({ entry, position }: LinkedAuditEntry, chain: AuditChainName, previous: Buffer): Buffer | null {
  if (entry === null) return null;
  return hashAuditLine(auditLine(entry, { chain, position, previous: previous.toString('hex') }));
}

function faultOf(head: AuditHead, hash: Buffer, ring: KeyRing): string | null {
  if (!head.hash.equals(hash)) return 'has another hash';
  const verdict = checkAuditHead(head, ring);
  if (verdict === 'invalid') return 'has a wrong signature';
  return verdict === 'unknown_key' ? `is signed by a key that is not configured (key name: ${head.keyName})` : null;
}

/** The chain as JSON lines, after entry `after`: its entries, each followed by the head signed at it, if any. */
export async function* exportAudit(db: Database, chain: AuditChainName, after: bigint): AsyncGenerator<string> {
  let previous = await hashBefore(db, chain, after);
  for await (const { entry, position, hash, head } of linkedEntries(db, chain, after)) {
    if (entry === null) throw new Error(`entry ${position} of ${chain} is missing`);
    if (isForeign(entry, chain)) throw new Error(`entry ${position} of ${chain} belongs to another log`);
    yield auditLine(entry, { chain, position, previous: previous.toString('hex') });
    if (head) yield auditHeadLine(head);
    previous = hash;
  }
}

async function hashBefore(db: Queryable, chain: AuditChainName, after: bigint): Promise<Buffer> {
  if (after === 0n) return CHAIN_START;
  const [link] = await listLinkedEntries(db, chain, after - 1n, 1);
  if (link?.position !== after) throw new Error(`${chain} has no entry ${after}`);
  return link.hash;
}

function linkedEntries(db: Queryable, chain: AuditChainName, after = 0n): AsyncGenerator<LinkedAuditEntry> {
  return eachItem<LinkedAuditEntry>(PAGE, (last) => listLinkedEntries(db, chain, last?.position ?? after, PAGE));
}
