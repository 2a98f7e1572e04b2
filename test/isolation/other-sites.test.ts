// Calls that another site makes a person's browser send: only our own pages may change anything.
import assert from 'node:assert/strict';
import { BEFORE_A_SESSION, BEHIND_A_SESSION, isRead } from './access.ts';
import { callerOptions, roleFor, sampleOf } from './samples.ts';
import type { Sample } from './operation.ts';
import { assertLetIn, assertRefused } from './call-effects.ts';
import { useIsolationEnvironment, type Headers, type Shop, type ConsoleSession } from './tenants.ts';

describe('a page of another site', () => {
  const isolation = useIsolationEnvironment();
  let shop: Shop;
  before(async () => {
    shop = await isolation.addShop();
  });

  async function prepare(operationId: string): Promise<{ session: ConsoleSession; sample: Sample }> {
    const { testEnv } = isolation;
    const session = await isolation.logInAs(shop, roleFor(operationId), callerOptions(operationId));
    return { session, sample: await sampleOf(operationId, { testEnv, shop, person: session.person }) };
  }

  /** Headers that another site can make a browser send; each lacks something that our own pages send. */
  function forgeries(): Record<string, Headers> {
    const origin = isolation.testEnv.baseUrl;
    const { port } = new URL(origin);
    return {
      'without the header': { origin },
      'with another value of the header': { origin, 'malipo-console': '0' },
      'without Origin': { 'malipo-console': '1' },
      'of another site': { 'malipo-console': '1', origin: 'https://shop.example' },
      'of no site': { 'malipo-console': '1', origin: 'null' },
      'of a site with a name like ours': { 'malipo-console': '1', origin: `${origin}.shop.example` },
      'of our host at another port': { 'malipo-console': '1', origin: origin.replace(port, String(Number(port) - 1)) },
      'with nothing': {},
    };
  }

  for (const operationId of BEHIND_A_SESSION.filter((name) => !isRead(name))) {
    it(`cannot make a person’s browser call ${operationId}`, async () => {
      const { session, sample } = await prepare(operationId);
      const { cookie, headers, person } = session;
      const attempts = Object.entries(forgeries()).map(([why, forged]) => ({ headers: { cookie, ...forged }, why }));
      await assertRefused(
        isolation,
        attempts.map((attempt) => ({ operationId, sample, person, ...attempt })),
      );
      await assertLetIn(isolation, { operationId, sample, person, headers, why: 'from our own pages' });
    });
  }

  for (const operationId of BEFORE_A_SESSION) {
    it(`cannot make anybody’s browser call ${operationId}`, async () => {
      const { session, sample } = await prepare(operationId);
      const ours = isolation.testEnv.baseUrl;
      // There is no session yet that could be misused, so a call without Origin is accepted.
      const forged = Object.entries(forgeries()).filter(([, { origin = ours }]) => origin !== ours);
      assert.ok(forged.length > 3);
      const attempts = forged.flatMap(([why, headers]) => [
        { headers, why },
        { headers: { ...headers, cookie: session.cookie }, why: `${why}, with a session` },
      ]);
      await assertRefused(
        isolation,
        attempts.map((attempt) => ({ operationId, sample, person: null, ...attempt })),
      );
      await assertLetIn(isolation, { operationId, sample, person: null, headers: {}, why: 'by a client of no site' });
    });
  }

  for (const operationId of BEHIND_A_SESSION.filter(isRead)) {
    it(`may make a person’s browser call ${operationId}, which changes nothing`, async () => {
      const { session, sample } = await prepare(operationId);
      const { cookie, person } = session;
      await assertLetIn(isolation, { operationId, sample, person, headers: { cookie }, why: 'with the cookie alone' });
    });
  }
});
