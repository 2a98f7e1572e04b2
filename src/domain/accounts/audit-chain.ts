// The hash chain of an audit log: the line of an entry, which exports contain and hashes cover.
import type { MerchantId } from '../ids.ts';
import type { ListedAuditEntry } from './audit.ts';

/** The merchant of the log; `service`: the log of entries that concern no merchant. */
export type AuditChainName = MerchantId | 'service';

export type RecordedAuditEntry = Omit<ListedAuditEntry, 'id' | 'user' | 'apiKey' | 'staff'> & {
  readonly id: bigint;
  readonly merchantId: MerchantId | null;
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  readonly staffId: string | null;
  readonly staff: string | null;
};

export type AuditPlace = {
  readonly chain: AuditChainName;
  /** From 1, without gaps. */
  readonly position: bigint;
  /** The hash of the previous line, in lower-case hexadecimal digits; zeros before the first. */
  readonly previous: string;
};

/** The signed end of a chain at one moment. */
export type AuditHead = Pick<AuditPlace, 'chain' | 'position'> & {
  readonly hash: Buffer;
  readonly signedAt: Date;
  /** The name of the attestation key from which the signing key is derived. */
  readonly keyName: string;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly signature: Buffer;
};

export const CHAIN_START: Buffer = Buffer.alloc(32);

export function auditChainOf(merchantId: MerchantId | null): AuditChainName {
  return merchantId ?? 'service';
}

/** JSON without line breaks. The same entry at the same place always gives the same bytes, which are hashed. */
export function auditLine(entry: RecordedAuditEntry, { chain, position, previous }: AuditPlace): string {
  return JSON.stringify({
    type: 'entry',
    chain,
    position: Number(position),
    previous,
    id: String(entry.id),
    at: entry.at.toISOString(),
    user_id: entry.userId,
    api_key_id: entry.apiKeyId,
    staff_id: entry.staffId,
    staff: entry.staff,
    action: entry.action,
    outcome: entry.outcome,
    subject_id: entry.subjectId,
    before: entry.before,
    after: entry.after,
    address: entry.address,
    request_id: entry.requestId,
  });
}

/** The line of an export after the entry at which the chain was signed. It is not part of the chain. */
export function auditHeadLine({ chain, position, hash, signedAt, ...signed }: AuditHead): string {
  return JSON.stringify({
    type: 'head',
    chain,
    position: Number(position),
    hash: hash.toString('hex'),
    signed_at: signedAt.toISOString(),
    key: signed.keyName,
    public_key: signed.publicKey.toString('base64url'),
    signature: signed.signature.toString('base64url'),
  });
}
