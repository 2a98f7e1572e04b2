// Reads a session for its own person, with the merchants that they can log in to.
import type { Database, Tx } from '../../db/platform/database.ts';
import { listAttestedMerchantsOf } from '../../db/accounts/member.ts';
import { listRecoveryNotices } from '../../db/accounts/recovery.ts';
import { listOpenRestores } from '../../db/platform/fence.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { findBeginnings, lacksSecondOwner } from '../../db/accounts/waiting-time.ts';
import { findSession } from '../../db/accounts/session.ts';
import { findFailedLogIns } from '../../db/accounts/failed-log-in.ts';
import { countRecoveryCodes } from '../../db/accounts/recovery-code.ts';
import { findFactors } from '../../db/accounts/second-factor.ts';
import { countWaitingFor } from '../../db/payments/approval.ts';
import { MAX_WAITING_SHOWN } from '../../domain/payments/approval.ts';
import { movesMoneyFrom, waitingTimeMs } from '../../domain/accounts/waiting-time.ts';
import type { Environment } from '../../domain/event.ts';
import { holdsOneOf, notAuthenticated, type Person } from '../../domain/accounts/member.ts';
import { MAX_RECOVERY_NOTICES, RECOVERY_NOTICE_MS } from '../../domain/accounts/recovery.ts';
import { hashToken } from '../../security/token.ts';
import { countProposals } from '../../db/accounts/waiting-proposals.ts';

export type OwnSession = Awaited<ReturnType<typeof getOwnSession>>;

/** Throws `permission_denied` if the session has ended. */
export async function getOwnSession(db: Database, token: string, environment: Environment, at: Date) {
  return db.withTransaction(async (tx) => {
    const sha256 = hashToken(token);
    const session = sha256 && (await findSession(tx, sha256, at));
    if (!session) throw notAuthenticated('the session has ended');
    const { person } = session;
    const merchants = await listAttestedMerchantsOf(tx, person.userId);
    const { userId } = person;
    const factors = { ...(await findFactors(tx, userId)), recoveryCodes: await countRecoveryCodes(tx, userId) };
    const failedLogIns = await findFailedLogIns(tx, sha256);
    // Of the last week, newest first: for owners and admins those of everybody, for others their own.
    const recoveries = await listRecoveryNotices(tx, person.merchantId, {
      since: new Date(at.getTime() - RECOVERY_NOTICE_MS),
      about: holdsOneOf(person.roles, ['admin']) ? null : person.userId,
      limit: MAX_RECOVERY_NOTICES,
    });
    const waitsForYou = await countWaiting(tx, person, at);
    const moneyOut = await findMoneyOut(tx, person, environment);
    const isInRecovery = (await listOpenRestores(tx)).length > 0;
    return { ...session, isInRecovery, factors, failedLogIns, merchants, waitsForYou, recoveries, ...moneyOut };
  });
}

async function findMoneyOut(tx: Tx, { merchantId, userId }: Person, environment: Environment) {
  const waitMs = waitingTimeMs(environment, await findPolicy(tx, merchantId));
  return {
    /** When the person's waiting time ends or ended; null: there is none. */
    movesMoneyFrom: movesMoneyFrom(await findBeginnings(tx, merchantId, userId), waitMs),
    /** Money leaves the merchant only once another owner has a second factor. */
    needsSecondOwner: await lacksSecondOwner(tx, merchantId, environment),
  };
}

/** How much waits for this person as the second one to approve; payouts and reversals up to `MAX_WAITING_SHOWN`. */
async function countWaiting(tx: Tx, person: Person, at: Date) {
  const waiting = async (kind: 'payout' | 'reversal') =>
    holdsOneOf(person.roles, ['approver']) ? countWaitingFor(tx, kind, person, { at, limit: MAX_WAITING_SHOWN }) : 0;
  const payouts = await waiting('payout');
  const reversals = await waiting('reversal');
  return { ...(await countProposals(tx, person, at)), payouts, reversals };
}
