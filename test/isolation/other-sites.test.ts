// Calls that another site makes a person's browser send: nothing that changes something is taken but from our own pages.
import assert from 'node:assert/strict';
import { BEFORE_A_SESSION, BEHIND_A_SESSION, isRead } from './access.ts';
import { NEED_SECOND_FACTOR, sampleOf, type Sample } from './samples.ts';
import { assertLetIn, assertRefused } from './call-effects.ts';
import {
  startIsolationEnvironment,
  type Headers,
  type Shop,
  type Visitor,
  type IsolationEnvironment,
} from './tenants.ts';

describe('another site', () => {
  let isolation: IsolationEnvironment;
  let shop: Shop;
  before(async () => {
    isolation = await startIsolationEnvironment();
    shop = await isolation.addShop();
  });
  after(() => isolation.testEnv.stop());

  async function enter(operationId: string): Promise<{ visitor: Visitor; sample: Sample }> {
    const { testEnv } = isolation;
    const visitor = await isolation.enter(shop, 'owner', { hasSecondFactor: NEED_SECOND_FACTOR.includes(operationId) });
    return { visitor, sample: await sampleOf(operationId, { testEnv, shop, person: visitor.person }) };
  }

  /** What a browser may be made to send, each short of what our own pages send. */
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
    it(`cannot make a person call ${operationId}`, async () => {
      const { visitor, sample } = await enter(operationId);
      const { cookie, headers, person } = visitor;
      const attempts = Object.entries(forgeries()).map(([why, forged]) => ({ headers: { cookie, ...forged }, why }));
      await assertRefused(
        isolation,
        attempts.map((attempt) => ({ operationId, sample, person, ...attempt })),
      );
      await assertLetIn(isolation, { operationId, sample, person, headers, why: 'from our own pages' });
    });
  }

  for (const operationId of BEFORE_A_SESSION) {
    it(`cannot make anybody call ${operationId}`, async () => {
      const { visitor, sample } = await enter(operationId);
      const ours = isolation.testEnv.baseUrl;
      // There is no session yet that could be misused: who says nothing of a site is taken.
      const forged = Object.entries(forgeries()).filter(([, { origin = ours }]) => origin !== ours);
      assert.ok(forged.length > 3);
      const attempts = forged.flatMap(([why, headers]) => [
        { headers, why },
        { headers: { ...headers, cookie: visitor.cookie }, why: `${why}, with a session` },
      ]);
      await assertRefused(
        isolation,
        attempts.map((attempt) => ({ operationId, sample, person: null, ...attempt })),
      );
      await assertLetIn(isolation, { operationId, sample, person: null, headers: {}, why: 'by a client of no site' });
    });
  }

  for (const operationId of BEHIND_A_SESSION.filter(isRead)) {
    it(`may send a person to ${operationId}, which changes nothing`, async () => {
      const { visitor, sample } = await enter(operationId);
      const { cookie, person } = visitor;
      await assertLetIn(isolation, { operationId, sample, person, headers: { cookie }, why: 'with the cookie alone' });
    });
  }
});
