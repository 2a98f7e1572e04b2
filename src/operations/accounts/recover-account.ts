// Recovers the account of a person who lost their password or second factor, when two of the staff agree.
import { uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { recordStaffAct, insertAuditEntry } from '../../db/accounts/audit.ts';
import { listMerchantsOf, lockMembers } from '../../db/accounts/member.ts';
import { deletePasskeys } from '../../db/accounts/passkey.ts';
import { deleteRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { lockMemberships } from '../../db/accounts/recovery-guard.ts';
import {
  replaceRecovery,
  approveRecovery as approveRow,
  findRecoveryRequestLocked,
  findRecovery,
  useRecovery,
} from '../../db/accounts/recovery.ts';
import { factorsOf, hasAny } from '../../db/accounts/second-factor.ts';
import { deleteSessionsOfUser } from '../../db/accounts/session.ts';
import {
  findUserByEmail,
  findUserLocked,
  findUser,
  markRecovered,
  removeTotp,
  setPassword,
} from '../../db/accounts/user.ts';
import { withdrawOnRecovery } from '../../db/accounts/withdraw-on-recovery.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { recoveryRefused } from '../../domain/accounts/member.ts';
import { RECOVERY_LIFE_MS, recoveryNotFound, type RecoveryRequest } from '../../domain/accounts/recovery.ts';
import type { Staff } from '../../domain/accounts/staff.ts';
import { stateConflict } from '../../domain/errors.ts';
import { newId, type RecoveryId, type UserId } from '../../domain/ids.ts';
import type { CountedAttempt } from '../../security/attempt-limit.ts';
import { newToken } from '../../security/token.ts';

export type RequestRecovery = {
  readonly email: string;
  /** For the second one of the staff, and for the service's own audit log. No merchant reads it: it may say what concerns the person alone. */
  readonly reason: string;
  readonly by: Staff;
  readonly at: Date;
};

export type RequestedRecovery = {
  readonly id: RecoveryId;
  readonly userId: UserId;
  readonly name: string;
  /** The names of the merchants whose audit logs record it. */
  readonly merchants: readonly string[];
};

/**
 * The recovery, which opens nothing until another one of the staff approves it, within 24 hours. An earlier recovery of
 * the same person is gone, with its token if it has one. Null when no user has this e-mail.
 */
export async function requestRecovery(db: Database, input: RequestRecovery): Promise<RequestedRecovery | null> {
  const { email, reason, by, at } = input;
  return db.withTransaction(async (tx) => {
    const found = await findUserByEmail(tx, email);
    const user = found && (await findUserLocked(tx, found.id));
    if (!user) return null;
    const id = newId('rcv', at.getTime());
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    await replaceRecovery(tx, { id, userId: user.id, reason, requestedBy: by, createdAt: at, expiresAt });
    const merchants = await listMerchantsOf(tx, user.id);
    const act = { action: 'recovery.requested', subjectId: user.id, at };
    await recordStaffAct(tx, null, by, { ...act, after: { reason, expires_at: expiresAt } });
    for (const merchant of merchants)
      await recordStaffAct(tx, merchant.id, by, { ...act, after: { expires_at: expiresAt } });
    return { id, userId: user.id, name: user.name, merchants: merchants.map(({ name }) => name) };
  });
}

export type ApproveRecovery = { readonly id: RecoveryId; readonly by: Staff; readonly at: Date };

export type ApprovedRecovery = {
  readonly request: RecoveryRequest;
  /** Works once, within 24 hours. It is shown this once. */
  readonly token: string;
};

/**
 * The token, with an entry in the audit log of every merchant of the person. A recovery is approved once: of two
 * approvals at the same moment, one gets a token. Throws `state_conflict` when no such recovery waits, and
 * when the one who approves it requested it, which the database refuses too.
 */
export async function approveRecovery(db: Database, { id, by, at }: ApproveRecovery): Promise<ApprovedRecovery> {
  const { token, sha256 } = newToken();
  return db.withTransaction(async (tx) => {
    const request = await findRecoveryRequestLocked(tx, id, at);
    if (!request) throw recoveryNotFound();
    if (request.requestedBy === by) {
      throw stateConflict('another one of the staff approves it than the one who requested it');
    }
    const expiresAt = new Date(at.getTime() + RECOVERY_LIFE_MS);
    await approveRow(tx, id, { by, at, tokenSha256: sha256, expiresAt });
    const user = await findUser(tx, request.person.id);
    if (!user) throw recoveryNotFound();
    // Of the verified row: to this address the token goes.
    const person = { id: user.id, name: user.name, email: user.email };
    const merchants = (await listMerchantsOf(tx, person.id)).map((merchant) => merchant.id);
    const after = { requested_by: request.requestedBy, expires_at: expiresAt };
    const act = { action: 'recovery.approved', subjectId: person.id, after, at };
    for (const merchantId of merchants.length === 0 ? [null] : merchants) await recordStaffAct(tx, merchantId, by, act);
    return { request: { ...request, person }, token };
  });
}

export type RecoverAccount = CountedAttempt & {
  readonly tokenSha256: Buffer;
  readonly newHash: string;
  readonly address: string | null;
  readonly requestId: string;
  readonly at: Date;
};

/**
 * Gives the person the new password, removes their second factors and recovery codes, and ends their sessions at every
 * merchant. A person who had a second factor must enrol another one before anything else. The token is used up: of two
 * people who present it at the same moment, only one succeeds. What is pending in the person's name is withdrawn. Every merchant of
 * the person gets an audit entry. Throws `permission_denied`; then nothing changes.
 */
export async function recoverAccount(db: Database, input: RecoverAccount): Promise<void> {
  const { at } = input;
  await db.withTransaction(async (tx) => {
    // The user before the recovery, as a request locks them: otherwise the two could deadlock.
    const userId = await findRecovery(tx, input.tokenSha256, at);
    if (userId) await lockMerchantsOf(tx, userId);
    const user = userId && (await findUserLocked(tx, userId));
    if (!user || !(await useRecovery(tx, input.tokenSha256, at))) throw recoveryRefused();
    await setPassword(tx, user.id, input.newHash);
    await markRecovered(tx, user.id, at);
    const hadFactor = hasAny(factorsOf(user));
    await removeTotp(tx, user.id);
    await deletePasskeys(tx, user.id);
    await deleteRecoveryCodes(tx, user.id);
    await deleteSessionsOfUser(tx, user.id, null);
    await uncountAttempts(tx, input.counted, at);
    await lockMemberships(tx, user.id);
    const merchants = (await listMerchantsOf(tx, user.id)).map(({ id }) => id);
    const { address, requestId } = input;
    for (const merchantId of merchants.length === 0 ? [null] : merchants) {
      await insertAuditEntry(tx, {
        merchantId,
        userId: user.id,
        action: 'recovery.used',
        outcome: 'done',
        subjectId: user.id,
        before: { has_second_factor: hadFactor },
        after: { has_second_factor: false },
        address,
        requestId,
        at,
      });
    }
    await withdrawOnRecovery(tx, { userId: user.id, merchants, address, requestId, at });
  });
}

// What the person proposes or approves meanwhile is either there when this has the locks, and is withdrawn, or waits for them, and is
// refused. The merchants before the person, as where an invitation is accepted.
async function lockMerchantsOf(tx: Tx, userId: UserId): Promise<void> {
  const ids = (await listMerchantsOf(tx, userId)).map(({ id }) => id);
  for (const id of ids.sort()) await lockMembers(tx, id);
}
