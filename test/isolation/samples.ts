// A sound call of every operation, with all that must be there for it to succeed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { findRoles } from '../../src/db/accounts/member.ts';
import type { Scope } from '../../src/domain/accounts/api-key.ts';
import { MAX_ENDPOINTS_PER_MERCHANT } from '../../src/domain/webhooks/endpoint.ts';
import type { CollectionId, DeliveryId, EndpointId, EventId, ReplayId } from '../../src/domain/ids.ts';
import { UNDELIVERED_STATES } from '../../src/domain/webhooks/replay.ts';
import { continueReplay } from '../../src/operations/webhooks/continue-replay.ts';
import { holdsOneOf, type Person, type Role } from '../../src/domain/accounts/member.ts';
import { changeMember } from '../../src/operations/accounts/change-member.ts';
import { createApiKey } from '../../src/operations/accounts/create-api-key.ts';
import { createInvitation } from '../../src/operations/accounts/create-invitation.ts';
import { createReplay } from '../../src/operations/webhooks/create-replay.ts';
import { getReplay } from '../../src/queries/webhooks/get-replay.ts';
import { listEndpoints } from '../../src/queries/webhooks/list-endpoints.ts';
import { proposePolicyChange } from '../../src/operations/accounts/propose-policy-change.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { startRecovery } from '../../src/operations/accounts/start-recovery.ts';
import { startSecondFactor } from '../../src/operations/accounts/start-second-factor.ts';
import { actedBy, makeReversal, queue } from '../db/payments/payout-rows.ts';
import { makeCollection, makeMember } from '../db/rows.ts';
import { collectionFields } from '../support/api.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { codeOf, PASSWORD, passwordHash, type TestPerson } from '../support/people.ts';
import type { Shop } from './tenants.ts';

export type Sample = {
  /** In the path. */
  readonly id?: string;
  readonly json?: Readonly<Record<string, unknown>>;
};

/** Whose call it is going to be, and where. */
export type Place = { readonly testEnv: TestEnvironment; readonly shop: Shop; readonly person: TestPerson };

type Prepare = (place: Place) => Sample | Promise<Sample>;

const NOTHING: Prepare = () => ({});

/** By operation: makes what the call needs, and says the call. */
export const SAMPLES: Readonly<Record<string, Prepare>> = {
  logIn: ({ person }) => ({ json: { email: person.email, password: PASSWORD, merchant_id: person.merchantId } }),
  getSession: NOTHING,
  logOut: NOTHING,
  recoverAccount: async ({ testEnv, person }) => {
    const { token } = (await startRecovery(testEnv.db, person.email, new Date()))!;
    return { json: { token, new_password: PASSWORD } };
  },
  stepUp: () => ({ json: { password: PASSWORD } }),
  changePassword: () => ({ json: { current_password: PASSWORD, new_password: PASSWORD } }),
  startSecondFactor: () => ({ json: { password: PASSWORD } }),
  confirmSecondFactor: async (place) => ({ json: { totp: codeOf(await startFactor(place)) } }),
  removeSecondFactor: ({ person }) => ({ json: { password: PASSWORD, totp: codeOf(person.totpSecret) } }),

  listApiKeys: NOTHING,
  createApiKey: () => ({ json: { name: 'Shop server', scopes: ['collections:read'] } }),
  rollApiKey: async (place) => ({ id: await addKey(place, ['collections:read']), json: { keep_old_for: 60 } }),
  revokeApiKey: async (place) => ({ id: await addKey(place, ['collections:read']) }),

  listMembers: NOTHING,
  // Who grants a role holds it: an admin takes one away and grants none.
  changeMember: async (place) => ({ id: await addMember(place, ['admin', 'viewer']), json: { roles: ['admin'] } }),
  removeMember: async (place) => ({ id: await addMember(place, ['viewer']) }),
  approveMemberChange: async (place) => ({ id: await proposeMember(place, place.shop.owner) }),
  rejectMemberChange: async (place) => ({ id: await proposeMember(place, place.shop.owner) }),
  withdrawMemberChange: async (place) => ({ id: await proposeMember(place, await proposerFor(place)) }),
  listInvitations: NOTHING,
  createInvitation: () => ({ json: { email: newEmail(), roles: ['admin'] } }),
  approveInvitation: async (place) => ({ id: (await invite(place, 'admin')).id }),
  rejectInvitation: async (place) => ({ id: (await invite(place, 'admin')).id }),
  withdrawInvitation: async (place) => ({ id: (await invite(place, 'viewer')).id }),
  // What nobody needs to agree to: the token opens it at once.
  acceptInvitation: async (place) => ({
    json: { token: (await invite(place, 'viewer')).token, name: 'A new person', password: PASSWORD },
  }),

  releasePayout: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  releasePayouts: async ({ testEnv, shop }) => ({ json: { ids: [(await queue(testEnv.db, shop, 1000n)).id] } }),
  rejectPayout: async ({ testEnv, shop }) => ({
    id: (await queue(testEnv.db, shop, 1000n)).id,
    json: { reason: 'Wrong person' },
  }),
  cancelPayout: async ({ testEnv, shop, person }) => ({
    id: (await queue(testEnv.db, shop, 1000n, { createdBy: person.id })).id,
  }),
  reverseCollection: async ({ testEnv, shop }) => ({ id: await addPaid(testEnv, shop) }),
  getReversal: async ({ testEnv, shop }) => {
    const id = await addPaid(testEnv, shop);
    await makeReversal(testEnv.db, shop.approver, { id });
    return { id };
  },

  listEndpoints: NOTHING,
  getEndpoint: async (place) => ({ id: await addEndpoint(place) }),
  createEndpoint: () => ({ json: { url: WEBHOOKS_URL } }),
  changeEndpoint: async (place) => ({ id: await addEndpoint(place), json: { description: `Changed ${randomUUID()}` } }),
  deleteEndpoint: async (place) => ({ id: await addEndpoint(place) }),
  rotateEndpointSecret: async (place) => ({ id: await addEndpoint(place), json: { keep_previous_for: 60 } }),
  testEndpoint: async (place) => ({ id: await addEndpoint(place) }),
  listEvents: NOTHING,
  getEvent: async (place) => ({ id: (await addWithheld(place)).eventId }),
  listDeliveries: NOTHING,
  getDelivery: async (place) => ({ id: (await addWithheld(place)).id }),
  replayDelivery: async (place) => ({ id: (await addWithheld(place)).id }),
  createReplay: async (place) => ({ json: { endpoint_id: await addEndpoint(place) } }),
  listReplays: async (place) => {
    await addReplay(place);
    return {};
  },
  getReplay: async (place) => ({ id: await addReplay(place) }),

  getPolicy: NOTHING,
  proposePolicyChange: () => ({ json: { payout_expires_after_seconds: 86_400 } }),
  approvePolicyChange: async (place) => ({ id: await propose(place) }),
  rejectPolicyChange: async (place) => ({ id: await propose(place) }),
  listAuditEntries: NOTHING,

  createCollection: () => ({ json: collectionFields() }),
  listCollections: NOTHING,
  getCollection: async ({ testEnv, shop }) => ({ id: await addPaid(testEnv, shop) }),
  createPayout: () => ({ json: collectionFields() }),
  listPayouts: NOTHING,
  getPayout: async ({ testEnv, shop }) => ({ id: (await queue(testEnv.db, shop, 1000n)).id }),
  getBalance: NOTHING,
};

/** Operations that only a person with a second factor can call with success. */
export const NEED_SECOND_FACTOR: readonly string[] = ['removeSecondFactor'];

/** Fails by name for an operation that there is no sample of. */
export async function sampleOf(operationId: string, place: Place): Promise<Sample> {
  const prepare = SAMPLES[operationId];
  if (!prepare)
    throw new Error(`there is no sample of ${operationId}: say in test/isolation/samples.ts how to call it`);
  return prepare(place);
}

export async function addKey({ testEnv, shop }: Place, scopes: readonly Scope[]): Promise<string> {
  const { merchantId, owner } = shop;
  const who = { merchantId, createdBy: owner.userId, by: actedBy(owner) };
  const what = { name: 'Till', environment: 'test', scopes, expiresAt: null, at: new Date() } as const;
  return (await createApiKey(testEnv.db, { ...who, ...what })).id;
}

function addMember({ testEnv, shop }: Place, roles: readonly Role[]): Promise<string> {
  return makeMember(testEnv.db, shop.merchantId, roles);
}

async function addPaid({ db }: TestEnvironment, { merchantId }: Shop): Promise<CollectionId> {
  return (await makeCollection(db, merchantId, 'succeeded')).id;
}

/** By the owner: as an admin it waits for whoever is to call, if they are a second person. */
async function invite({ testEnv, shop }: Place, role: Role): Promise<{ id: string; token: string }> {
  const input = { email: newEmail(), roles: [role], by: actedBy(shop.owner), at: new Date() } as const;
  const { invitation, token } = await createInvitation(testEnv.db, input);
  return { id: invitation.id, token };
}

const WEBHOOKS_URL = 'https://shop.example/webhooks';

/** The merchant's newest, or one more: there is a limit to how many there are. */
async function addEndpoint({ testEnv, shop }: Place): Promise<EndpointId> {
  const { merchantId } = shop;
  const { items } = await listEndpoints(testEnv.db, merchantId, null, MAX_ENDPOINTS_PER_MERCHANT);
  if (items[0] && items.length > 8) return items[0].id;
  const keyRing = testEnv.config.settings.MALIPO_SECRET_KEYS;
  const endpoint = { url: WEBHOOKS_URL, description: null, eventTypes: null };
  return (await registerEndpoint(testEnv.db, { merchantId, ...endpoint, keyRing, at: new Date() })).id;
}

/** A delivery that nothing is going to move, of an event of the merchant's. */
async function addWithheld({ testEnv, shop }: Place): Promise<{ id: DeliveryId; eventId: EventId }> {
  await makeCollection(testEnv.db, shop.merchantId, 'prompted');
  const { rows } = await testEnv.db.pool.query<{ id: DeliveryId; eventId: EventId }>(
    `UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL
     WHERE id = (SELECT max(id) FROM deliveries WHERE merchant_id = $1) RETURNING id, event_id AS "eventId"`,
    [shop.merchantId],
  );
  return rows[0]!;
}

/** One that is done: only so many run at a time. */
async function addReplay({ testEnv, shop }: Place): Promise<ReplayId> {
  const longAgo = new Date(0);
  const filter = { endpointId: null, states: UNDELIVERED_STATES, madeFrom: longAgo, madeBefore: longAgo };
  const { id } = await createReplay(testEnv.db, { filter, by: actedBy(shop.owner), at: new Date() });
  while ((await getReplay(testEnv.db, shop.merchantId, id)).state === 'running') {
    await continueReplay(testEnv.db, 100, new Date());
  }
  return id;
}

/** To make a member an admin, which waits while there is a second person. */
async function proposeMember(place: Place, proposer: Person): Promise<string> {
  const userId = await addMember(place, ['viewer']);
  const input = { userId, roles: ['viewer', 'admin'], by: actedBy(proposer), at: new Date() } as const;
  const changed = await changeMember(place.testEnv.db, input);
  assert.ok(changed.kind === 'waiting', 'the shop has a second owner or admin');
  return changed.change.id;
}

/** Whoever is to call, if they may propose; otherwise the owner, so that there is something. */
async function proposerFor({ testEnv, shop, person }: Place): Promise<Person> {
  const roles = await findRoles(testEnv.db, shop.merchantId, person.id);
  return holdsOneOf(roles, ['admin']) ? { ...shop.owner, userId: person.id, roles } : shop.owner;
}

/** By the owner, so that whoever is to call is a second person. One by person waits at a time: each is decided on. */
async function propose({ testEnv, shop }: Place): Promise<string> {
  const input = { changes: { approver_daily_limit: 5_000_000 }, by: actedBy(shop.owner), at: new Date() };
  return (await proposePolicyChange(testEnv.db, input)).change.id;
}

async function startFactor({ testEnv, shop, person }: Place): Promise<string> {
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
