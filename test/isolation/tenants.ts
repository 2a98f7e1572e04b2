// The environment of the isolation tests: merchants with money and people, and calls of the operations by their ids.
import { randomUUID } from 'node:crypto';
import { insertSession } from '../../src/db/accounts/session.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Person, Role } from '../../src/domain/accounts/member.ts';
import { newToken } from '../../src/security/token.ts';
import { makeCollection } from '../db/rows.ts';
import { makePerson, type Shop as PayoutShop } from '../db/payments/payout-rows.ts';
import { call, type ApiResponse } from '../support/api.ts';
import { startTestEnvironment, type TestEnvironment, type TestMerchant } from '../support/test-environment.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { useFixture } from '../support/use-fixture.ts';
import { readPublished, type Published } from './published.ts';
import type { Sample } from './operation.ts';
import { rewrite } from '../support/attestation.ts';

/** A merchant with money, keys, an endpoint and people. */
export type Shop = PayoutShop & {
  readonly merchant: TestMerchant;
  readonly owner: Person;
};

export type Headers = Readonly<Record<string, string>>;

/** A person with a session, and the headers that our own pages send in it. */
export type ConsoleSession = { readonly person: TestPerson; readonly cookie: string; readonly headers: Headers };

export type IsolationEnvironment = {
  readonly testEnv: TestEnvironment;
  readonly published: Published;
  readonly addShop: () => Promise<Shop>;
  /** A new member in this role, in a new session. */
  readonly logInAs: (
    shop: Shop,
    role: Role,
    options?: { readonly hasSecondFactor?: boolean },
  ) => Promise<ConsoleSession>;
  /** A session of somebody who is a member already. */
  readonly openSession: (person: TestPerson) => Promise<ConsoleSession>;
  /** Calls an operation. Where it takes an idempotency key and none is given, the call gets a new one. */
  readonly send: (
    operationId: string,
    sample: Sample,
    headers: Headers,
    idempotencyKey?: string,
  ) => Promise<ApiResponse>;
};

const FUNDS_MINOR = 10_000_000n;
const SESSION_MS = 3_600_000;

// Nothing is ever started, so that only the test's own call changes rows; and however long that takes, new work is accepted.
const NOTHING_STARTS = {
  MALIPO_ROLES: 'api',
  MALIPO_TEMPORAL_ADDRESS: '127.0.0.1:1',
  MALIPO_BACKLOG_MAX_AGE_MS: '86400000',
  MALIPO_PROMPT_DEADLINE_MS: '86400000',
};

/** One environment for all cases of the surrounding `describe`. */
export function useIsolationEnvironment(): IsolationEnvironment {
  const environment = useFixture(startIsolationEnvironment, ({ testEnv }) => testEnv.stop());
  // How long the tests before took must not decide whether a verification is still fresh.
  beforeEach(() =>
    rewrite(
      environment.testEnv.db,
      `UPDATE sessions SET verified_at = now(), second_factor_at = CASE WHEN second_factor_at IS NOT NULL THEN now() END`,
    ),
  );
  return environment;
}

/** Stop it by its `testEnv`. */
export async function startIsolationEnvironment(): Promise<IsolationEnvironment> {
  const testEnv = await startTestEnvironment({ environment: NOTHING_STARTS });
  const { db, baseUrl } = testEnv;
  const published = await readPublished(baseUrl);

  // Inserted directly: a log-in is slow on purpose, and has tests of its own.
  const openSession = async (person: TestPerson): Promise<ConsoleSession> => {
    const { token, sha256: tokenSha256 } = newToken();
    const createdAt = new Date();
    const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
    const secondFactorAt = person.totpSecret === null ? null : createdAt;
    const { merchantId, id: userId } = person;
    const id = newId('ses');
    const unknown = { address: null, userAgent: null };
    await db.withTransaction((tx) =>
      insertSession(tx, { id, tokenSha256, merchantId, userId, createdAt, expiresAt, secondFactorAt, ...unknown }),
    );
    const cookie = `${published.cookieName}=${token}`;
    return { person, cookie, headers: { cookie, ...ownPages(baseUrl) } };
  };

  return {
    testEnv,
    published,
    addShop: () => addShop(testEnv),
    openSession,
    async logInAs(shop, role, options = {}) {
      return openSession(await addPerson(testEnv, shop.merchantId, [role], options));
    },
    send(operationId, { id, json, query = {} }, headers, idempotencyKey = randomUUID()) {
      const { method, path, isIdempotent } = published.find(operationId);
      const search = new URLSearchParams(query).toString();
      const target = id === undefined ? path : path.replace('{id}', id);
      return call(baseUrl, method, search === '' ? target : `${target}?${search}`, {
        idempotencyKey: isIdempotent ? idempotencyKey : null,
        headers,
        ...(json && { json }),
      });
    },
  };
}

/** What a page of ours adds to a call that changes something. */
export function ownPages(baseUrl: string): Headers {
  return { 'malipo-console': '1', origin: baseUrl };
}

async function addShop(testEnv: TestEnvironment): Promise<Shop> {
  const merchant = await testEnv.addMerchant();
  const { id: merchantId } = merchant;
  await makeCollection(testEnv.db, merchantId, 'succeeded', { amountMinor: FUNDS_MINOR });
  const [owner, maker, approver, otherApprover] = [
    await makePerson(testEnv.db, merchantId, ['owner']),
    await makePerson(testEnv.db, merchantId, ['maker']),
    await makePerson(testEnv.db, merchantId, ['approver']),
    await makePerson(testEnv.db, merchantId, ['approver']),
  ];
  return { merchantId, merchant, owner, maker, approver, otherApprover };
}
