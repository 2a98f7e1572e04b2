// Every operation on people, sessions, API keys, policy and audit log: who may call it, and a call that succeeds.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { insertApiRequests } from '../../../src/db/accounts/api-request.ts';
import { findRoles } from '../../../src/db/accounts/member.ts';
import { createChallenge, insertPasskey } from '../../../src/db/accounts/passkey.ts';
import { insertSession } from '../../../src/db/accounts/session.ts';
import { newToken } from '../../../src/security/token.ts';
import type { Scope } from '../../../src/domain/accounts/api-key.ts';
import { newId, type ApiKeyId, type PasskeyId, type SessionId } from '../../../src/domain/ids.ts';
import { holdsOneOf, type Person, type Role } from '../../../src/domain/accounts/member.ts';
import { changeMember } from '../../../src/operations/accounts/change-member.ts';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import { createInvitation } from '../../../src/operations/accounts/create-invitation.ts';
import { changePolicy } from '../../../src/operations/accounts/change-policy.ts';
import { startSecondFactor } from '../../../src/operations/accounts/change-second-factor.ts';
import { actedBy } from '../../db/payments/payout-rows.ts';
import { makeMember } from '../../db/rows.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { recoveryToken } from '../../support/staff.ts';
import type { TestEnvironment } from '../../support/test-environment.ts';
import { codeOf, PASSWORD, passwordHash, type TestPerson } from '../../support/people.ts';
import { about, ANY, KEYS, listOf, NOTHING, PEOPLE, type Operations, type SampleContext } from '../operation.ts';

export const ACCOUNT_OPERATIONS: Operations = {
  logIn: {
    isBeforeSession: true,
    bodyId: { field: 'merchant_id', refusal: 'permission_denied' },
    sample: ({ person: { email, merchantId, totpSecret } }) => {
      const totp = totpSecret === null ? {} : { totp: codeOf(totpSecret) };
      return { json: { email, password: PASSWORD, merchant_id: merchantId, ...totp } };
    },
  },
  getSession: { roles: ANY, sample: NOTHING },
  logOut: { roles: ANY, sample: NOTHING },
  recoverAccount: {
    isBeforeSession: true,
    sample: async ({ testEnv, person }) => ({
      json: { token: await recoveryToken(testEnv.db, person.email), new_password: PASSWORD },
    }),
  },
  stepUp: {
    roles: ANY,
    sample: ({ person }) => ({
      json: person.totpSecret === null ? { password: PASSWORD } : { totp: codeOf(person.totpSecret) },
    }),
  },
  switchMerchant: {
    roles: ANY,
    bodyId: { field: 'merchant_id', refusal: 'permission_denied' },
    sample: ({ person: { merchantId } }) => ({ json: { merchant_id: merchantId } }),
  },
  changePassword: { roles: ANY, sample: () => ({ json: { current_password: PASSWORD, new_password: PASSWORD } }) },
  startSecondFactor: { roles: ANY, hasSecondFactor: false, sample: () => ({ json: { password: PASSWORD } }) },
  confirmSecondFactor: {
    roles: ANY,
    hasSecondFactor: false,
    sample: async (context) => ({ json: { totp: codeOf(await startEnrolment(context)) } }),
  },
  createRecoveryCodes: { roles: ANY, hasSecondFactor: true, sample: () => ({ json: { password: PASSWORD } }) },
  getPasskeys: { roles: ANY, sample: NOTHING },
  startPasskey: { roles: ANY, sample: () => ({ json: { password: PASSWORD } }) },
  registerPasskey: {
    roles: ANY,
    sample: async (context) => ({
      json: { name: 'My key', credential: await newCredential(context), password: PASSWORD },
    }),
  },
  namePasskey: {
    roles: ANY,
    pathId: 'psk',
    sample: async (context) => ({ id: await addPasskey(context), json: { name: 'My other key' } }),
  },
  removePasskey: {
    roles: ANY,
    pathId: 'psk',
    hasSecondFactor: true,
    sample: async (context) => ({ id: await addPasskey(context), json: { password: PASSWORD } }),
  },
  startPasskeyStepUp: { roles: ANY, sample: NOTHING },
  startPasskeyLogIn: { isBeforeSession: true, sample: ({ person }) => ({ json: { email: person.email } }) },
  removeSecondFactor: {
    roles: ANY,
    hasSecondFactor: true,
    sample: ({ person }) => ({ json: { password: PASSWORD, totp: codeOf(person.totpSecret) } }),
  },
  listSessions: { roles: ANY, sample: NOTHING },
  endSession: {
    roles: ANY,
    pathId: 'ses',
    sample: async ({ testEnv, person }) => ({ id: await addSession(testEnv, person) }),
  },
  endOtherSessions: { roles: ANY, sample: NOTHING },
  endMemberSessions: about(PEOPLE, 'usr', (context) => addMember(context, ['viewer'])),
  listApiKeys: { roles: ANY, sample: NOTHING },
  createApiKey: {
    roles: KEYS,
    sample: () => ({
      json: { name: 'Shop server', scopes: ['collections:read'], allowed_addresses: ['203.0.113.7'] },
    }),
  },
  rollApiKey: {
    roles: KEYS,
    pathId: 'key',
    sample: async (context) => ({ id: await addKey(context, ['collections:read']), json: { keep_old_for: 60 } }),
  },
  revokeApiKey: about(KEYS, 'key', (context) => addKey(context, ['collections:read'])),
  listMembers: { roles: ANY, sample: NOTHING },
  // Only holders of a role may grant it, so this change takes one away and grants none.
  changeMember: {
    roles: PEOPLE,
    pathId: 'usr',
    sample: async (context) => ({ id: await addMember(context, ['admin', 'viewer']), json: { roles: ['admin'] } }),
  },
  removeMember: about(PEOPLE, 'usr', (context) => addMember(context, ['viewer'])),
  ...decisionsOn('MemberChange', 'mch', proposeRoles),
  listInvitations: { roles: ANY, sample: NOTHING },
  createInvitation: { roles: PEOPLE, sample: () => ({ json: { email: newEmail(), roles: ['admin'] } }) },
  approveInvitation: about(PEOPLE, 'inv', async (context) => (await invite(context, 'admin')).id),
  rejectInvitation: about(PEOPLE, 'inv', async (context) => (await invite(context, 'admin')).id),
  withdrawInvitation: about(PEOPLE, 'inv', async (context) => (await invite(context, 'viewer')).id),
  // An invitation that needs no second person: its token works at once.
  acceptInvitation: {
    isBeforeSession: true,
    sample: async (context) => ({
      json: { token: (await invite(context, 'viewer')).token, name: 'A new person', password: PASSWORD },
    }),
  },
  getPolicy: { roles: ANY, sample: NOTHING },
  changePolicy: { roles: PEOPLE, sample: () => ({ json: { payout_expires_after_seconds: 86_400 } }) },
  ...decisionsOn('PolicyChange', 'pch', proposePolicy),
  listAuditEntries: { roles: ANY, queryIds: { subject_id: 'pay', actor_id: 'usr' }, sample: NOTHING },
  listApiRequests: listOf(KEYS, addRequest),
  getApiRequest: about(KEYS, 'req', addRequest),
};

/** Another person decides on a proposal, and the proposer withdraws it. */
function decisionsOn(
  noun: string,
  pathId: 'mch' | 'pch',
  propose: (context: SampleContext, proposer: Person) => Promise<string>,
): Operations {
  const decide = about(PEOPLE, pathId, (context) => propose(context, context.shop.owner));
  const withdraw = about(PEOPLE, pathId, async (context) => propose(context, await proposerFor(context)));
  return { [`approve${noun}`]: decide, [`reject${noun}`]: decide, [`withdraw${noun}`]: withdraw };
}

/** Another session of the person, which nobody uses. */
async function addSession({ db }: TestEnvironment, { id: userId, merchantId }: TestPerson): Promise<SessionId> {
  const id = newId('ses');
  const createdAt = new Date();
  const times = { createdAt, expiresAt: new Date(createdAt.getTime() + 3_600_000), secondFactorAt: null };
  const session = { id, tokenSha256: newToken().sha256, merchantId, userId, ...times, address: null, userAgent: null };
  await db.withTransaction((tx) => insertSession(tx, session));
  return id;
}

/** What a new authenticator returns for a challenge of ours. */
async function newCredential({ testEnv, person }: SampleContext): Promise<string> {
  const use = { purpose: 'register', subject: person.id } as const;
  const challenge = await testEnv.db.withTransaction((tx) => createChallenge(tx, use, new Date()));
  return createAuthenticator(testEnv.baseUrl).create({ challenge: challenge.toString('base64url') });
}

/** A passkey of the person whose key nobody has. */
async function addPasskey({ testEnv, person }: SampleContext): Promise<PasskeyId> {
  const id = newId('psk');
  const credential = { credentialId: randomBytes(32), publicKey: randomBytes(77), counter: 0n };
  const passkey = { id, userId: person.id, name: 'My key', createdAt: new Date(), ...credential };
  await testEnv.db.withTransaction((tx) => insertPasskey(tx, passkey));
  return id;
}

export async function addKey({ testEnv, shop }: SampleContext, scopes: readonly Scope[]): Promise<string> {
  const { merchantId, owner } = shop;
  const who = { merchantId, createdBy: owner.userId, by: actedBy(owner) };
  const what = { name: 'Till', environment: 'test', scopes, expiresAt: null, at: new Date() } as const;
  return (await createApiKey(testEnv.db, { ...who, ...what })).id;
}

function addMember({ testEnv, shop }: SampleContext, roles: readonly Role[]): Promise<string> {
  return makeMember(testEnv.db, shop.merchantId, roles);
}

/** Sent by the owner: an invitation of an admin then waits for the caller, if they are a second person. */
async function invite({ testEnv, shop }: SampleContext, role: Role): Promise<{ id: string; token: string }> {
  const input = { email: newEmail(), roles: [role], by: actedBy(shop.owner), at: new Date() } as const;
  const { invitation, token } = await createInvitation(testEnv.db, input);
  return { id: invitation.id, token };
}

/** A proposal to make a member an admin, which waits while there is a second person. */
async function proposeRoles(context: SampleContext, proposer: Person): Promise<string> {
  const userId = await addMember(context, ['viewer']);
  const input = { userId, roles: ['viewer', 'admin'], by: actedBy(proposer), at: new Date() } as const;
  const changed = await changeMember(context.testEnv.db, input);
  assert.ok(changed.kind === 'waiting', 'the shop has a second owner or admin');
  return changed.change.id;
}

/** The caller, if they may propose; otherwise the owner, so that there is a proposal. */
async function proposerFor({ testEnv, shop, person }: SampleContext): Promise<Person> {
  const roles = await findRoles(testEnv.db, shop.merchantId, person.id);
  return holdsOneOf(roles, ['admin']) ? { ...shop.owner, userId: person.id, roles } : shop.owner;
}

let longerSeconds = 1_000_000;

/** Only one per person may wait: each must be decided. Each is looser than what applies, so that it waits. */
async function proposePolicy({ testEnv }: SampleContext, proposer: Person): Promise<string> {
  const changed = await changePolicy(testEnv.db, {
    changes: { payout_expires_after_seconds: ++longerSeconds },
    serviceLimits: { payoutExpiryMs: testEnv.config.clocks.payoutExpiryMs, leastWaitingTimeMs: 0 },
    by: actedBy(proposer),
    at: new Date(),
  });
  if (changed.kind !== 'waiting') throw new Error('a looser policy was not proposed but changed');
  return changed.change.id;
}

async function startEnrolment({ testEnv, shop, person }: SampleContext): Promise<string> {
  const { secret } = await startSecondFactor(testEnv.db, {
    verifiedHash: await passwordHash(),
    keyRing: testEnv.config.settings.MALIPO_SECRET_KEYS,
    counted: [],
    by: actedBy({ ...shop.owner, userId: person.id }),
    at: new Date(),
  });
  return secret;
}

function newEmail(): string {
  return `${randomUUID()}@shop.example`;
}

/** A request that was made with a key of the merchant. */
async function addRequest({ testEnv: { db }, shop: { merchantId } }: SampleContext): Promise<string> {
  const id = newId('req');
  const { rows } = await db.pool.query<{ id: ApiKeyId }>('SELECT id FROM api_keys WHERE merchant_id = $1', [
    merchantId,
  ]);
  const request = {
    ...{ id, merchantId, apiKeyId: rows[0]!.id, createdAt: new Date(), address: null, idempotencyKey: null },
    ...{ method: 'GET', route: '/v1/api/balance', path: '/v1/api/balance' },
    ...{ status: 200, errorCode: null, durationMs: 1 },
  };
  await insertApiRequests(db, [{ ...request, isRepeat: false, objectId: null }]);
  return id;
}
