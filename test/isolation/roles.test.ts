// Every console operation in every single role, and without a session: allowed exactly as the contract says.
import assert from 'node:assert/strict';
import { SCOPES, type Scope } from '../../src/domain/accounts/api-key.ts';
import { ROLES, type Role } from '../../src/domain/accounts/member.ts';
import { newToken } from '../../src/security/token.ts';
import { API_SCOPES, CONSOLE_ROLES, SCOPE_ROLES } from './access.ts';
import { addKey } from './operations/accounts.ts';
import { callerOptions, keepsLastFactor, roleFor, sampleOf } from './samples.ts';
import type { Sample } from './operation.ts';
import { assertLetIn, assertRefused, type Attempt } from './call-effects.ts';
import { useIsolationEnvironment, ownPages, type Shop, type ConsoleSession } from './tenants.ts';

describe('a session', () => {
  const isolation = useIsolationEnvironment();
  let shop: Shop;
  before(async () => {
    shop = await isolation.addShop();
  });

  async function prepare(operationId: string, role: Role): Promise<{ session: ConsoleSession; sample: Sample }> {
    const session = await isolation.logInAs(shop, role, callerOptions(operationId));
    const sample = await sampleOf(operationId, { testEnv: isolation.testEnv, shop, person: session.person });
    return { session, sample };
  }

  function testRoles(operationId: string, roles: readonly Role[]): void {
    it(`allows ${operationId} ${roles.length === ROLES.length ? 'in every role' : `only as ${roles.join(', ')}`}`, async () => {
      shop = await isolation.addShop();
      const refused: Attempt[] = [];
      for (const role of ROLES.filter((each) => !keepsLastFactor(operationId, each))) {
        const { session, sample } = await prepare(operationId, role);
        const attempt = { operationId, sample, headers: session.headers, person: session.person, why: `as ${role}` };
        if (roles.includes(role)) await assertLetIn(isolation, attempt);
        else refused.push(attempt);
      }
      await assertRefused(isolation, refused);
    });
  }

  describe('on a console route', () => {
    for (const [operationId, roles] of Object.entries(CONSOLE_ROLES)) testRoles(operationId, roles);
  });

  describe('on a public route, by its scope', () => {
    for (const [operationId, scope] of Object.entries(API_SCOPES)) testRoles(operationId, SCOPE_ROLES[scope]);
  });

  it('lets an admin create, roll and revoke keys that pay out, but not a developer', async () => {
    const { testEnv } = isolation;
    for (const [role, isLetIn] of [['developer', false] as const, ['admin', true] as const]) {
      const { headers, person } = await isolation.logInAs(shop, role);
      const scopes: Scope[] = ['payouts:read', 'payouts:write'];
      const key = () => addKey({ testEnv, shop, person }, scopes);
      const attempts = [
        { operationId: 'createApiKey', sample: { json: { name: 'Pays out', scopes } } },
        { operationId: 'rollApiKey', sample: { id: await key(), json: {} } },
        { operationId: 'revokeApiKey', sample: { id: await key() } },
      ];
      const complete = attempts.map((attempt) => ({ ...attempt, headers, person, why: `of payouts:write as ${role}` }));
      if (!isLetIn) await assertRefused(isolation, complete);
      else for (const attempt of complete) await assertLetIn(isolation, attempt);
    }
  });

  for (const operationId of Object.keys(CONSOLE_ROLES)) {
    it(`is required for ${operationId}, which accepts no API key instead`, async () => {
      const { testEnv } = isolation;
      const role = roleFor(operationId);
      const caller = await isolation.logInAs(shop, role, callerOptions(operationId));
      const sample = await sampleOf(operationId, { testEnv, shop, person: caller.person });
      const pages = ownPages(testEnv.baseUrl);
      const authorization = `Bearer ${await testEnv.addKey(shop.merchantId, SCOPES)}`;
      const withoutSession = {
        'with nothing': {},
        'from our own pages': pages,
        'with a cookie of no session': { ...pages, cookie: `${isolation.published.cookieName}=${newToken().token}` },
        'with an API key': { authorization },
        'with an API key from our own pages': { ...pages, authorization },
      };
      const attempts = Object.entries(withoutSession).map(([why, headers]) => ({ headers, why }));
      await assertRefused(
        isolation,
        attempts.map((attempt) => ({ operationId, sample, person: null, ...attempt })),
      );
      const { headers, person } = caller;
      await assertLetIn(isolation, { operationId, sample, headers, person, why: `and is open to the role ${role}` });
    });
  }

  it('is refused after it has ended', async () => {
    const { headers, person } = await isolation.logInAs(shop, 'owner');
    const attempt = { operationId: 'listMembers', sample: {}, headers, why: 'after its end' };
    assert.equal((await isolation.send('logOut', {}, headers)).status, 204);
    await assertRefused(isolation, [{ ...attempt, person: null }]);
    await assertLetIn(isolation, { ...attempt, headers: (await isolation.openSession(person)).headers, person });
  });
});
