// Logs one of the staff in for one command, by password and one-time code. The audit log records either outcome.
import { addAttempt, requireAttempt, uncountAttempts } from '../../db/accounts/attempt-counter.ts';
import { insertAuditEntry, recordStaffAct } from '../../db/accounts/audit.ts';
import {
  findStaffByName,
  findStaffLocked,
  sealContextOf,
  useStaffStep,
  type StaffAccount,
} from '../../db/accounts/staff-member.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { DomainError } from '../../domain/errors.ts';
import { canLogIn, staffRefused, type StaffMember, type StaffName } from '../../domain/accounts/staff.ts';
import { limitRefusalLimit, staffLimits, type AttemptLimit } from '../../security/attempt-limit.ts';
import { open, type KeyRing } from '../../security/sealing.ts';
import { matchTotpStep } from '../../security/totp.ts';

export type BeginStaffLogIn = {
  readonly name: StaffName;
  /** The command of the log-in, for the audit log. */
  readonly command: string;
  readonly at: Date;
};

/**
 * The password hash of the person; null if nobody of this name can log in, which the caller must not reveal. Every
 * attempt counts as failed until `finishStaffLogIn` undoes the count, so concurrent attempts cannot exceed a limit
 * together. Throws `rate_limited` at a limit: then nothing is counted, and the audit log records it once an hour.
 */
export async function beginStaffLogIn(db: Database, input: BeginStaffLogIn): Promise<string | null> {
  const { name, at } = input;
  // Counters are locked in the order of their subjects, so that no two attempts deadlock.
  const inOrder = staffLimits(name).sort((a, b) => (a.subject < b.subject ? -1 : 1));
  const tried: AttemptLimit[] = [];
  try {
    return await db.withTransaction(async (tx) => {
      for (const limit of inOrder) {
        tried.push(limit);
        await requireAttempt(tx, limit, 'Too many failed attempts of this name. Wait, then try again.', at);
      }
      const found = await findStaffByName(tx, name);
      return found !== null && canLogIn(found) ? found.passwordHash : null;
    });
  } catch (error) {
    const reached = tried.at(-1);
    if (error instanceof DomainError && error.code === 'rate_limited' && reached) await recordLimit(db, reached, input);
    throw error;
  }
}

async function recordLimit(db: Database, reached: AttemptLimit, input: BeginStaffLogIn): Promise<void> {
  await db.withTransaction(async (tx) => {
    if (!(await addAttempt(tx, limitRefusalLimit(reached), input.at))) return;
    await recordRefusal(tx, await findStaffByName(tx, input.name), { ...input, reason: 'too many failed attempts' });
  });
}

export type FinishStaffLogIn = BeginStaffLogIn & {
  /** The hash that the given password matches; null if it matches none. */
  readonly verifiedHash: string | null;
  readonly code: string;
  readonly keyRing: KeyRing;
};

/**
 * The person, who is logged in for this one command. A code counts once: of two concurrent log-ins with it, one
 * succeeds. A repeat therefore needs another code. Throws `permission_denied`; the audit log has the reason.
 */
export async function finishStaffLogIn(db: Database, input: FinishStaffLogIn): Promise<StaffMember> {
  const { name, command, at } = input;
  const outcome = await db.withTransaction(async (tx) => {
    const found = await findStaffLocked(tx, name);
    const reason = await refusalOf(tx, found, input);
    if (found === null || reason !== null) {
      await recordRefusal(tx, found, { ...input, reason: reason ?? '' });
      return reason ?? '';
    }
    const by = { id: found.id, name: found.name };
    const counted = staffLimits(name).map(({ subject }) => subject);
    await uncountAttempts(tx, counted, at);
    await recordStaffAct(tx, null, by, { action: 'staff.logged_in', subjectId: by.id, after: { command }, at });
    return by;
  });
  if (typeof outcome === 'string') throw staffRefused(outcome);
  return outcome;
}

async function refusalOf(tx: Tx, found: StaffAccount | null, input: FinishStaffLogIn): Promise<string | null> {
  if (found === null) return 'nobody has this name, or their row is not attested';
  if (!canLogIn(found) || found.totpSecretSealed === null)
    return `is ${found.state === 'ended' ? 'ended' : 'not enrolled'}`;
  // Compared again under the lock: a reset may have removed the password after the caller compared it.
  if (found.passwordHash !== input.verifiedHash) return 'wrong password';
  const secret = open(found.totpSecretSealed, sealContextOf(found), input.keyRing);
  const step = matchTotpStep(secret, input.code, input.at);
  return step !== null && (await useStaffStep(tx, found.id, step)) ? null : 'wrong or used one-time code';
}

// Not the given name, which may be a password in the wrong field.
async function recordRefusal(
  tx: Tx,
  found: StaffAccount | null,
  { reason, command, at }: BeginStaffLogIn & { readonly reason: string },
): Promise<void> {
  const staff = found && { id: found.id, name: found.name };
  const act = { action: 'staff.logged_in', subjectId: found?.id ?? null, after: { reason, command }, at };
  await insertAuditEntry(tx, { ...act, merchantId: null, staff, outcome: 'refused' });
}
