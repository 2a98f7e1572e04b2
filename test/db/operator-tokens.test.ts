// The tokens of operators: sealed, shared by all processes, and renewed by one of them at a time.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { createMtnMomo } from '../../src/operators/mtn-momo/mtn-momo.ts';
import { operatorTokens } from '../../src/db/work/operator-tokens.ts';
import { createTokenCache, type FetchedToken } from '../../src/operators/token-cache.ts';
import type { KeyRing } from '../../src/security/sealing.ts';
import { json, raw, startStubOperator } from '../operators/stub-operator.ts';
import { oneRow, tamper } from './rows.ts';
import { newId } from '../../src/domain/ids.ts';
import { useDatabasePerCase } from './use-database.ts';

const OF = { operator: 'mtn-momo', product: 'collection', proposalId: newId('spr') } as const;
const HOUR = 3_600_000;
const ringOf = (name: string): KeyRing => [{ name, key: createSecretKey(randomBytes(32)) }];

describe('the token of an operator', () => {
  const db = useDatabasePerCase();
  const ring = ringOf('first');
  const store = (keys = ring, proposalId = OF.proposalId) => operatorTokens(db, { ...OF, proposalId, ring: keys });
  const row = () => oneRow<{ number: string; token_sealed: string }>(db, 'SELECT * FROM operator_tokens');
  let fetched = 0;

  beforeEach(() => {
    fetched = 0;
  });

  /** The cache of one process. */
  const cacheOf = (fetchToken = (): Promise<FetchedToken> => fetchNext(3600), leaseMs = HOUR) =>
    createTokenCache(fetchToken, { store: store(), leaseMs });
  const fetchNext = (lifeSeconds: number): Promise<FetchedToken> =>
    Promise.resolve({ kind: 'token', token: `token-${++fetched}`, lifeSeconds });

  it('is requested once by all processes together, and stored sealed', async () => {
    const caches = Array.from({ length: 6 }, () => cacheOf());
    const all = await Promise.all(caches.flatMap((cache) => [cache.get(), cache.get()]));
    assert.deepEqual([fetched, new Set(all.map((one) => JSON.stringify(one))).size], [1, 1]);
    const { token_sealed: sealed } = await row();
    assert.doesNotMatch(sealed, /token-1/);
  });

  it('is renewed at most once a period by three processes that call without a pause', async () => {
    const stub = await startStubOperator();
    const given = new Map<string, number>();
    stub.set({
      token(response) {
        const token = `t${given.size}`;
        given.set(token, Date.now());
        json(200, { access_token: token, expires_in: 3 })(response);
      },
      call(response, received) {
        const token = String(received.headers.authorization).slice('Bearer '.length);
        const isAlive = Date.now() - (given.get(token) ?? 0) < 3000;
        raw(isAlive ? 202 : 401, '')(response, received);
      },
    });
    const processes = Array.from({ length: 3 }, () =>
      createMtnMomo({
        baseUrl: stub.url,
        targetEnvironment: 'sandbox',
        callbackUrl: (reference) => `https://pay.example/${reference}`,
        collection: { subscriptionKey: 'k', apiUser: 'u', apiKey: 's' },
        disbursement: { subscriptionKey: 'k', apiUser: 'u', apiKey: 's' },
        requestTimeoutMs: 20_000,
        connections: 2,
        tokens: { collection: store(), disbursement: store() },
      }),
    );
    const beganMs = Date.now();
    const request = {
      phone: '256772123456',
      money: { amountMinor: 500n, currency: 'UGX' },
      payerMessage: 'x',
    } as const;
    const callOn = async (operator: (typeof processes)[number]): Promise<void> => {
      while (given.size < 4) {
        const outcome = await operator.raisePrompt({ ...request, operatorReference: randomUUID() });
        assert.equal(outcome.kind, 'accepted');
      }
    };
    await Promise.all(processes.map(callOn));
    const periods = Math.ceil((Date.now() - beganMs) / 2700);
    assert.ok(given.size <= periods + 1, `${given.size} tokens in ${periods} periods`);
    await Promise.all(processes.map((operator) => operator.close()));
    await stub.stop();
  });

  it('is replaced after a refusal, and only while it is still stored', async () => {
    const [one, other] = [cacheOf(), cacheOf()];
    for (const cache of [one, other]) assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-1' });
    one.drop('token-1');
    assert.deepEqual(await one.get(), { kind: 'token', token: 'token-2' });
    other.drop('token-1');
    assert.deepEqual(await other.get(), { kind: 'token', token: 'token-2' }, 'the one that replaced it');
    assert.equal(fetched, 2);
  });

  it('is renewed by another process when the one that began it died', async () => {
    assert.equal(await store().beginRenewal(0, HOUR), true);
    assert.equal(await store().beginRenewal(0, HOUR), false);
    await tamper(db, 'UPDATE operator_tokens SET renewing_until = now()');
    assert.deepEqual(await cacheOf().get(), { kind: 'token', token: 'token-1' });
    await store().endRenewal(0, { token: 'late', renewInMs: HOUR });
    assert.equal((await store().read())?.token, 'token-1', 'what the first one brings late counts for nothing');
  });

  it('is requested by the next process if the operator gives none', async () => {
    const refusing = cacheOf(() => Promise.resolve({ kind: 'no_token', reason: 'no token: http 503', cause: 'busy' }));
    assert.deepEqual(await refusing.get(), { kind: 'no_token', reason: 'no token: http 503', cause: 'busy' });
    assert.deepEqual(await cacheOf().get(), { kind: 'token', token: 'token-1' });
  });

  it('is renewed if no key of ours opens it', async () => {
    await cacheOf().get();
    const other = ringOf('second');
    assert.equal((await store(other).read())?.token, null);
    const cache = createTokenCache(() => fetchNext(3600), { store: store(other), leaseMs: HOUR });
    assert.deepEqual(await cache.get(), { kind: 'token', token: 'token-2' });
  });

  it('costs one read for each process and token, and no statement for a call', async () => {
    let statements = 0;
    const counting = {
      ...db,
      run: (...args: Parameters<typeof db.run>) => {
        statements += 1;
        return db.run(...args);
      },
    } as typeof db;
    const cache = createTokenCache(() => fetchNext(3600), {
      store: operatorTokens(counting, { ...OF, ring }),
      leaseMs: HOUR,
    });
    await cacheOf().get();
    for (let n = 0; n < 100; n++) await cache.get();
    assert.deepEqual([statements, fetched], [1, 1]);
  });

  it('of earlier credentials is renewed', async () => {
    await cacheOf().get();
    assert.equal((await store().read())?.token, 'token-1');
    assert.deepEqual((await store(ring, newId('spr')).read())?.token, null);
  });

  it('is no trouble of the operator if the database is unavailable', async () => {
    const away = { ...db, run: () => Promise.reject(new Error('the database is unavailable')) } as typeof db;
    const cache = createTokenCache(() => fetchNext(3600), {
      store: operatorTokens(away, { ...OF, ring }),
      leaseMs: HOUR,
    });
    assert.deepEqual(await cache.get(), { kind: 'no_token', reason: 'no token: the store of tokens is unavailable' });
  });
});
