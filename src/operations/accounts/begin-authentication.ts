// Begins an authentication attempt: counts it against its limits, and finds its user.
import { insertAuditEntry } from '../../db/accounts/audit.ts';
import { addAttempt, findWindowEnd, requireAttempt } from '../../db/accounts/attempt-counter.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { listAttestedMerchantsOf } from '../../db/accounts/member.ts';
import { findRecovery } from '../../db/accounts/recovery.ts';
import { findUser, findUserByEmail, findUserIdByEmail, type User } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import type { MerchantId, UserId } from '../../domain/ids.ts';
import { limitRefusalLimit, subjectKind, type AttemptLimit } from '../../security/attempt-limit.ts';

const TOO_MANY = 'Too many failed attempts. Wait, then try again.';

/** How the caller identifies the user. */
export type Claim =
  | { readonly email: string }
  /** In a session at this merchant. */
  | { readonly userId: UserId; readonly merchantId: MerchantId }
  /** The digest of a recovery token; null: the text cannot be one. */
  | { readonly recoverySha256: Buffer | null };

export type BeginAuthentication = {
  readonly claim: Claim;
  readonly limits: readonly AttemptLimit[];
  /** Null: unknown. */
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * The user; null if there is none, which the response must not reveal. Every attempt counts as failed until the
 * operation that verifies it undoes the count, so concurrent attempts cannot exceed a limit together. Throws
 * `rate_limited` at a limit: then nothing is counted, and the audit log records it once an hour for each limit of an
 * account, person or address. A limit applies until its window ends, across restarts.
 */
export async function beginAuthentication(db: Database, input: BeginAuthentication): Promise<User | null> {
  const { claim, limits, at } = input;
  // Counters are locked in the order of their subjects, so that no two attempts deadlock.
  const inOrder = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1));
  const tried: AttemptLimit[] = [];
  try {
    return await db.withTransaction(async (tx) => {
      for (const limit of inOrder) {
        tried.push(limit);
        await requireAttempt(tx, limit, TOO_MANY, at);
      }
      return findClaimed(tx, claim, at);
    });
  } catch (error) {
    const isRefused = error instanceof DomainError && error.code === 'rate_limited';
    const reached = tried.at(-1);
    if (isRefused && reached) await recordLimit(db, reached, input);
    throw error;
  }
}

async function findClaimed(tx: Tx, claim: Claim, at: Date): Promise<User | null> {
  if ('email' in claim) return findUserByEmail(tx, claim.email);
  if ('userId' in claim) return findUser(tx, claim.userId);
  const userId = claim.recoverySha256 && (await findRecovery(tx, claim.recoverySha256, at));
  return userId === null ? null : findUser(tx, userId);
}

// Outside the transaction of the attempt, which is rolled back. The limit of an address concerns nobody in particular.
async function recordLimit(db: Database, reached: AttemptLimit, input: BeginAuthentication): Promise<void> {
  const { claim, address, requestId, at } = input;
  const limit = limitRefusalLimit(reached);
  // Read without a lock first: otherwise a flood of attempts would wait for each other.
  const recordedUntil = await findWindowEnd(db, limit.subject);
  if (recordedUntil !== null && recordedUntil > at) return;
  const kind = subjectKind(reached);
  await db.withTransaction(async (tx) => {
    if (!(await addAttempt(tx, limit, at))) return;
    const { userId, merchantId } = kind === 'address' ? NOBODY : await findConcerned(tx, claim);
    await insertAuditEntry(tx, {
      merchantId,
      userId,
      action: 'authentication.limited',
      outcome: 'refused',
      subjectId: userId,
      after: { reason: `too many failed attempts of one ${kind}` },
      address,
      requestId,
      at,
    });
  });
}

type Concerned = { readonly userId: UserId | null; readonly merchantId: MerchantId | null };
const NOBODY: Concerned = { userId: null, merchantId: null };

async function findConcerned(tx: Tx, claim: Claim): Promise<Concerned> {
  if ('userId' in claim) return claim;
  const userId = 'email' in claim ? await findUserIdByEmail(tx, claim.email) : null;
  if (userId === null) return NOBODY;
  const [first] = await listAttestedMerchantsOf(tx, userId);
  return { userId, merchantId: first?.id ?? null };
}
