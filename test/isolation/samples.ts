// A valid call of every operation, with everything that must exist for it to succeed.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { insertApiRequests } from '../../src/db/accounts/api-request.ts';
import { findRoles } from '../../src/db/accounts/member.ts';
import { createChallenge, insertPasskey } from '../../src/db/accounts/passkey.ts';
import { insertSession } from '../../src/db/accounts/session.ts';
import { newToken } from '../../src/security/token.ts';
import { insertReversal } from '../../src/db/payments/reversal.ts';
import type { Scope } from '../../src/domain/accounts/api-key.ts';
import { MAX_ENDPOINTS_PER_MERCHANT } from '../../src/domain/webhooks/endpoint.ts';
import {
  newId,
  type ApiKeyId,
  type CollectionId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type PasskeyId,
  type ReplayId,
  type SessionId,
  type UserId,
} from '../../src/domain/ids.ts';
import type { Reversal } from '../../src/domain/payments/reversal.ts';
import { UNDELIVERED_STATES } from '../../src/domain/webhooks/replay.ts';
import { continueReplay } from '../../src/operations/webhooks/continue-replay.ts';
import { holdsOneOf, requiresSecondFactor, type Person, type Role } from '../../src/domain/accounts/member.ts';
import { changeMember } from '../../src/operations/accounts/change-member.ts';
import { createApiKey } from '../../src/operations/accounts/create-api-key.ts';
import { createInvitation } from '../../src/operations/accounts/create-invitation.ts';
import { createReplay } from '../../src/operations/webhooks/create-replay.ts';
import { getReplay } from '../../src/db/webhooks/replay.ts';
import { listEndpoints } from '../../src/db/webhooks/endpoint.ts';
import { changePolicy } from '../../src/operations/accounts/change-policy.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { startSecondFactor } from '../../src/operations/accounts/start-second-factor.ts';
import { actedBy, queue, queueReversal } from '../db/payments/payout-rows.ts';
import { makeCheckout } from '../db/payments/checkouts.ts';
import { makeCollection, makeMember } from '../db/rows.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { collectionFields } from '../support/api.ts';
import { recoveryToken } from '../support/staff.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { codeOf, PASSWORD, passwordHash, type TestPerson } from '../support/people.ts';
import type { Shop } from './tenants.ts';

export type Sample = {
  /** In the path. */
  readonly id?: string;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string>>;
};

/** The person who is to make the call, and the merchant and environment. */
export type SampleContext = { readonly testEnv: TestEnvironment; readonly shop: Shop; readonly person: TestPerson };

type MakeSample = (context: SampleContext) => Sample | Promise<Sample>;

const NOTHING: MakeSample = () => ({});

/** By operation: creates what the call needs, and returns the call. */
export const SAMPLES: Readonly<Record<string, MakeSample>> = {
  logIn: ({ person: { email, merchantId, totpSecret } }) => {
    const totp = totpSecret === null ? {} : { totp: codeOf(totpSecret) };
    return { json: { email, password: PASSWORD, merchant_id: merchantId, ...totp } };
  },
  getSession: NOTHING,
  logOut: NOTHING,
  recoverAccount: async ({ testEnv, person }) => ({
    json: { token: await recoveryToken(testEnv.db, person.email), new_password: PASSWORD },
  }),
  stepUp: ({ person }) => ({
    json: person.totpSecret === null ? { password: PASSWORD } : { totp: codeOf(person.totpSecret) },
  }),
  switchMerchant: ({ person: { merchantId } }) => ({ json: { merchant_id: merchantId } }),
  changePassword: () => ({ json: { current_password: PASSWORD, new_password: PASSWORD } }),
  startSecondFactor: () => ({ json: { password: PASSWORD } }),
  confirmSecondFactor: async (context) => ({ json: { totp: codeOf(await startEnrolment(context)) } }),
  createRecoveryCodes: () => ({ json: { password: PASSWORD } }),
  getPasskeys: NOTHING,
  startPasskey: () => ({ json: { password: PASSWORD } }),
  registerPasskey: async (context) => ({
    json: { name: 'My key', credential: await newCredential(context), password: PASSWORD },
  }),
  namePasskey: async (context) => ({ id: await addPasskey(context), json: { name: 'My other key' } }),
  removePasskey: async (context) => ({ id: await addPasskey(context), json: { password: PASSWORD } }),
  startPasskeyStepUp: NOTHING,
  startPasskeyLogIn: ({ person }) => ({ json: { email: person.email } }),
  removeSecondFactor: ({ person }) => ({ json: { password: PASSWORD, totp: codeOf(person.totpSecret) } }),

  listSessions: NOTHING,
  endSession: async ({ testEnv, person }) => ({ id: await addSession(testEnv, person) }),
  endOtherSessions: NOTHING,
  endMemberSessions: async (context) => ({ id: await addMember(context, ['viewer']) }),

  listApiKeys: NOTHING,
  createApiKey: () => ({
    json: { name: 'Shop server', scopes: ['collections:read'], allowed_addresses: ['203.0.113.7'] },
  }),
  rollApiKey: async (context) => ({ id: await addKey(context, ['collections:read']), json: { keep_old_for: 60 } }),
  revokeApiKey: async (context) => ({ id: await addKey(context, ['collections:read']) }),

  listMembers: NOTHING,
  // Only holders of a role may grant it, so this change takes one away and grants none.
  changeMember: async (context) => ({ id: await addMember(context, ['admin', 'viewer']), json: { roles: ['admin'] } }),
  removeMember: async (context) => ({ id: await addMember(context, ['viewer']) }),
  approveMemberChange: async (context) => ({ id: await proposeRoles(context, context.shop.owner) }),
  rejectMemberChange: async (context) => ({ id: await proposeRoles(context, context.shop.owner) }),
  withdrawMemberChange: async (context) => ({ id: await proposeRoles(context, await proposerFor(context)) }),
  listInvitations: NOTHING,
  createInvitation: () => ({ json: { email: newEmail(), roles: ['admin'] } }),
  approveInvitation: async (context) => ({ id: (await invite(context, 'admin')).id }),
  rejectInvitation: async (context) => ({ id: (await invite(context, 'admin')).id }),
  withdrawInvitation: async (context) => ({ id: (await invite(context, 'viewer')).id }),
  // An invitation that needs no second person: its token works at once.
  acceptInvitation: async (context) => ({
    json: { token: (await invite(context, 'viewer')).token, name: 'A new person', password: PASSWORD },
  }),

  listConsoleCollections: NOTHING,
  getConsoleCollectionCount: NOTHING,
  listConsolePayouts: NOTHING,
  getConsolePayoutCount: NOTHING,
  getConsoleCollection: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  getConsolePayout: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  checkPayouts: () => ({ json: { rows: [{ idempotency_keys: [randomUUID()], payout: collectionFields() }] } }),
  releasePayout: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  releasePayouts: async ({ testEnv, shop }) => ({ json: { ids: [(await queue(testEnv.db, shop, 1000n)).id] } }),
  rejectPayout: async ({ testEnv, shop }) => ({
    id: (await queue(testEnv.db, shop, 1000n)).id,
    json: { reason: 'Wrong person' },
  }),
  cancelPayout: async ({ testEnv, shop, person }) => ({
    id: (await queue(testEnv.db, shop, 1000n, { createdBy: person.id })).id,
  }),
  reverseCollection: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  getLatestReversal: async (context) => ({ id: (await addReversal(context)).collectionId }),
  listReversals: async (context) => {
    await addReversal(context);
    return {};
  },
  getReversal: async (context) => ({ id: (await addReversal(context)).id }),
  releaseReversal: async (context) => ({ id: (await addReversal(context)).id }),
  rejectReversal: async (context) => ({ id: (await addReversal(context)).id, json: { reason: 'Wrong one' } }),
  cancelReversal: async (context) => ({ id: (await addReversal(context, context.person.id)).id }),

  createCheckout: () => ({ json: { amount: 5000, reference: 'INV-1' } }),
  listCheckouts: async (context) => {
    for (let i = 0; i < 3; i++) await addCheckout(context);
    return {};
  },
  getCheckout: async (context) => ({ id: await addCheckout(context) }),
  cancelCheckout: async (context) => ({ id: await addCheckout(context) }),

  listLedgerEntries: async ({ testEnv, shop }) => {
    await queue(testEnv.db, shop, 1000n);
    return {};
  },
  getOverview: NOTHING,
  getTotals: NOTHING,
  getStream: NOTHING,
  getCollectionsCsv: NOTHING,
  getPayoutsCsv: NOTHING,
  getLedgerCsv: NOTHING,
  listEndpoints: NOTHING,
  getEndpoint: async (context) => ({ id: await addEndpoint(context) }),
  createEndpoint: () => ({ json: { url: WEBHOOKS_URL } }),
  changeEndpoint: async (context) => ({
    id: await addEndpoint(context),
    json: { description: `Changed ${randomUUID()}` },
  }),
  deleteEndpoint: async (context) => ({ id: await addEndpoint(context) }),
  rotateEndpointSecret: async (context) => ({ id: await addEndpoint(context), json: { keep_previous_for: 60 } }),
  testEndpoint: async (context) => ({ id: await addEndpoint(context) }),
  listEvents: NOTHING,
  getEvent: async (context) => ({ id: (await addWithheldDelivery(context)).eventId }),
  listDeliveries: NOTHING,
  getDelivery: async (context) => ({ id: (await addWithheldDelivery(context)).id }),
  replayDelivery: async (context) => ({ id: (await addWithheldDelivery(context)).id }),
  createReplay: async (context) => ({ json: { endpoint_id: await addEndpoint(context) } }),
  listReplays: async (context) => {
    await addReplay(context);
    return {};
  },
  getReplay: async (context) => ({ id: await addReplay(context) }),

  getPolicy: NOTHING,
  changePolicy: () => ({ json: { payout_expires_after_seconds: 86_400 } }),
  approvePolicyChange: async (context) => ({ id: await proposePolicy(context, context.shop.owner) }),
  rejectPolicyChange: async (context) => ({ id: await proposePolicy(context, context.shop.owner) }),
  withdrawPolicyChange: async (context) => ({ id: await proposePolicy(context, await proposerFor(context)) }),
  listAuditEntries: NOTHING,
  getOperators: NOTHING,
  getSearchHits: () => ({ query: { q: 'SAL-1' } }),
  listApiRequests: async (context) => {
    for (let i = 0; i < 3; i++) await addRequest(context);
    return {};
  },
  getApiRequest: async (context) => ({ id: await addRequest(context) }),

  createCollection: () => ({ json: collectionFields() }),
  listCollections: NOTHING,
  getCollection: async ({ testEnv, shop }) => ({ id: await addSucceededCollection(testEnv, shop) }),
  createPayout: () => ({ json: collectionFields() }),
  listPayouts: NOTHING,
  getPayout: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  getBalance: NOTHING,
};

/** Operations that succeed only for a person with a second factor, or only for one without. */
const SECOND_FACTOR: Readonly<Record<string, boolean>> = {
  removeSecondFactor: true,
  createRecoveryCodes: true,
  removePasskey: true,
  startSecondFactor: false,
  confirmSecondFactor: false,
};

/** What a person must be for the operation to succeed, besides being in a role that may call it. */
export function callerOptions(operationId: string): { readonly hasSecondFactor?: boolean } {
  const hasSecondFactor = SECOND_FACTOR[operationId];
  return hasSecondFactor === undefined ? {} : { hasSecondFactor };
}

/** Whether somebody in this role is refused although they may call it: their role requires their only second factor. */
export function keepsLastFactor(operationId: string, role: Role): boolean {
  return operationId === 'removeSecondFactor' && requiresSecondFactor([role]);
}

/** A role in which the operation succeeds. */
export function roleFor(operationId: string): Role {
  return keepsLastFactor(operationId, 'owner') ? 'viewer' : 'owner';
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

/** Fails with the operation's id where there is no sample for it. */
export async function sampleOf(operationId: string, context: SampleContext): Promise<Sample> {
  const makeSample = SAMPLES[operationId];
  if (!makeSample)
    throw new Error(`there is no sample of ${operationId}: add a call of it to test/isolation/samples.ts`);
  return makeSample(context);
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

async function addSucceededCollection({ db }: TestEnvironment, { merchantId }: Shop): Promise<CollectionId> {
  return (await makeCollection(db, merchantId, 'succeeded')).id;
}

async function addCheckout({ testEnv: { db }, shop }: SampleContext): Promise<string> {
  return (await makeCheckout(db, shop.merchantId, shop.owner.userId)).id;
}

/** A queued reversal, of this person where one is named, whatever their roles are. */
async function addReversal({ testEnv: { db }, shop }: SampleContext, createdBy?: UserId): Promise<Reversal> {
  const reversal = await queueReversal(db, shop, await makeCollection(db, shop.merchantId, 'succeeded'));
  if (createdBy === undefined) return reversal;
  const { id: collectionId } = await makeCollection(db, shop.merchantId, 'succeeded');
  const own = { ...reversal, id: newId('rev'), collectionId, operatorReference: randomUUID(), createdBy };
  await db.withTransaction((tx) => insertReversal(tx, own));
  return own;
}

/** Sent by the owner: an invitation of an admin then waits for the caller, if they are a second person. */
async function invite({ testEnv, shop }: SampleContext, role: Role): Promise<{ id: string; token: string }> {
  const input = { email: newEmail(), roles: [role], by: actedBy(shop.owner), at: new Date() } as const;
  const { invitation, token } = await createInvitation(testEnv.db, input);
  return { id: invitation.id, token };
}

const WEBHOOKS_URL = 'https://shop.example/webhooks';

/** The merchant's newest endpoint, or another one while there are few: their number is limited. */
async function addEndpoint({ testEnv, shop }: SampleContext): Promise<EndpointId> {
  const { merchantId } = shop;
  const { items } = await listEndpoints(testEnv.db, merchantId, null, MAX_ENDPOINTS_PER_MERCHANT);
  if (items[0] && items.length > 8) return items[0].id;
  const keyRing = testEnv.config.settings.MALIPO_SECRET_KEYS;
  const endpoint = { url: WEBHOOKS_URL, description: null, eventTypes: null };
  return (await registerEndpoint(testEnv.db, { merchantId, ...endpoint, keyRing, at: new Date() })).id;
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

/** A delivery of one of the merchant's events that nothing is going to send. */
async function addWithheldDelivery({ testEnv, shop }: SampleContext): Promise<{ id: DeliveryId; eventId: EventId }> {
  await makeCollection(testEnv.db, shop.merchantId, 'prompted');
  const { rows } = await testEnv.db.pool.query<{ id: DeliveryId; eventId: EventId }>(
    `UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL
     WHERE id = (SELECT max(id) FROM deliveries WHERE merchant_id = $1) RETURNING id, event_id AS "eventId"`,
    [shop.merchantId],
  );
  return rows[0]!;
}

/** A completed replay, because only a limited number may run at a time. */
async function addReplay({ testEnv, shop }: SampleContext): Promise<ReplayId> {
  const longAgo = new Date(0);
  const filter = { endpointId: null, states: UNDELIVERED_STATES, madeFrom: longAgo, madeBefore: longAgo };
  const { id } = await createReplay(testEnv.db, { filter, by: actedBy(shop.owner), at: new Date() });
  while ((await getReplay(testEnv.db, shop.merchantId, id)).state === 'running') {
    await continueReplay(testEnv.db, 100, new Date());
  }
  return id;
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
