// Another merchant's ids on every operation that takes one: the response is that to an unknown id, byte for byte.
import assert from 'node:assert/strict';
import { isId, newId, type ApiKeyId } from '../../src/domain/ids.ts';
import { assertError } from '../api/responses.ts';
import { queue } from '../db/payments/payout-rows.ts';
import { makeCollection } from '../db/rows.ts';
import { call, type ApiResponse } from '../support/api.ts';
import { addPerson } from '../support/people.ts';
import { cookieOf } from '../support/browser.ts';
import { attempt, makeCheckout } from '../db/payments/checkouts.ts';
import { API_SCOPES, BODY_IDS, isRead, PATH_IDS, QUERY_IDS } from './access.ts';
import { NOT_FOUND, type Sample } from './operation.ts';
import { idsOf } from './merchant-ids.ts';
import { sampleOf } from './samples.ts';
import { digestOfOthers } from './call-effects.ts';
import { useIsolationEnvironment, type Headers, type Shop, type ConsoleSession } from './tenants.ts';
import { valuesOf } from '../support/values-of.ts';

type Prefix = Parameters<typeof newId>[0];

describe('an id of another merchant', () => {
  const isolation = useIsolationEnvironment();
  let ours: Shop;
  let theirs: Shop;
  let their: ConsoleSession;
  /** The headers of each kind of caller. */
  let callers: Readonly<Record<string, Headers>>;

  before(async () => {
    const { testEnv } = isolation;
    [ours, theirs] = [await isolation.addShop(), await isolation.addShop()];
    their = await isolation.logInAs(theirs, 'owner');
    const our = await isolation.logInAs(ours, 'owner');
    callers = {
      'an owner': our.headers,
      'who is an owner there too': await headersOfBoth(),
      'a key': { authorization: `Bearer ${ours.merchant.key}` },
    };
    // Make sure that the other merchant has one of each noun.
    for (const operationId of Object.keys(PATH_IDS)) await sampleOf(operationId, { testEnv, shop: theirs, ...their });
  });

  async function headersOfBoth(): Promise<Headers> {
    const person = await addPerson(isolation.testEnv, ours.merchantId, ['owner']);
    const { email } = person;
    assert.equal((await addPerson(isolation.testEnv, theirs.merchantId, ['owner'], { email })).id, person.id);
    return (await isolation.openSession(person)).headers;
  }

  const callersOf = (operationId: string) =>
    Object.entries(callers).filter(([who]) => who !== 'a key' || API_SCOPES[operationId] !== undefined);

  for (const [operationId, prefix] of Object.entries(PATH_IDS)) {
    it(`is treated as unknown by ${operationId}`, async () => {
      const { testEnv, send } = isolation;
      const sample = await sampleOf(operationId, { testEnv, shop: theirs, ...their });
      assert.ok(isId(prefix, sample.id ?? ''), `${operationId} has a sample of ${prefix}`);
      const before = await digestOfOthers(testEnv.db, ours.merchantId);
      for (const [who, headers] of callersOf(operationId)) {
        const unknown = await send(operationId, { ...sample, id: newId(prefix) }, headers);
        const foreign = await send(operationId, sample, headers);
        assertError(foreign, NOT_FOUND[prefix]);
        assert.deepEqual(comparable(foreign), comparable(unknown), `${operationId} for ${who}`);
      }
      assert.deepEqual(await digestOfOthers(testEnv.db, ours.merchantId), before, `${operationId} changed something`);
      const own = await send(operationId, sample, their.headers);
      assert.equal(Math.floor(own.status / 100), 2, `${operationId} for its own merchant: ${own.text}`);
    });

    it(`is treated as unknown by ${operationId}, whatever its noun`, async () => {
      const { testEnv, send } = isolation;
      const { json } = await sampleOf(operationId, { testEnv, shop: theirs, ...their });
      const before = await digestOfOthers(testEnv.db, ours.merchantId);
      for (const [noun, id] of await oneOfEach(theirs)) {
        const [foreign, unknown] = await Promise.all(
          [id, newId(noun)].map((anyId) => send(operationId, withBody(anyId, json), callers['an owner']!)),
        );
        assertError(foreign!, NOT_FOUND[prefix]);
        assert.deepEqual(comparable(foreign!), comparable(unknown!), `${operationId} with the id of a ${noun}`);
      }
      assert.deepEqual(await digestOfOthers(testEnv.db, ours.merchantId), before, `${operationId} changed something`);
    });
  }

  /** One id of every noun that the merchant has; fails unless it has all nouns. */
  async function oneOfEach(shop: Shop): Promise<Map<Prefix, string>> {
    const { db } = isolation.testEnv;
    const own = await idsOf(db, ours.merchantId);
    // The ids of people who are members of both merchants are not foreign.
    const ids = [...(await idsOf(db, shop.merchantId))].filter(
      (id) => /^[a-z]{3}_[0-9a-z]{26}$/.test(id) && !own.has(id),
    );
    const byNoun = new Map(ids.map((id) => [id.slice(0, 3) as Prefix, id]));
    for (const noun of [...Object.keys(NOT_FOUND), 'mer', 'rev']) {
      assert.ok(byNoun.has(noun as Prefix), `the other merchant has a ${noun}`);
    }
    return byNoun;
  }

  for (const [operationId, { field, refusal }] of Object.entries(BODY_IDS)) {
    it(`is treated as unknown in the body of ${operationId}`, async () => {
      const { testEnv, send } = isolation;
      // A log-in sends the caller's own credentials: nothing but the id is the other merchant's.
      const our = await isolation.logInAs(ours, 'owner');
      const own = await sampleOf(operationId, { testEnv, shop: ours, person: our.person });
      const foreign = (await sampleOf(operationId, { testEnv, shop: theirs, ...their })).json?.[field];
      const before = await digestOfOthers(testEnv.db, ours.merchantId);
      const sendWith = (value: unknown) => send(operationId, { json: { ...own.json, [field]: value } }, our.headers);
      const [response, unknown] = [await sendWith(foreign), await sendWith(unknownFor(foreign))];
      assert.ok(response.text.includes(`"code":"${refusal}"`), `${operationId}: ${response.text}`);
      assert.deepEqual(comparable(response), comparable(unknown), operationId);
      assert.deepEqual(await digestOfOthers(testEnv.db, ours.merchantId), before, `${operationId} changed something`);
    });
  }

  for (const [operationId, fields] of Object.entries(QUERY_IDS)) {
    it(`finds nothing in the query of ${operationId}, although it finds something for its own merchant`, async () => {
      const { testEnv, published } = isolation;
      const { path } = published.find(operationId);
      const foreign = await oneOfEach(theirs);
      for (const [field, noun] of Object.entries(fields)) {
        if (noun === 'key') await createWith(theirs, foreign.get('key') as ApiKeyId);
        const find = (id: string, headers: Headers) =>
          call(testEnv.baseUrl, 'GET', `${path}?${field}=${id}`, { headers });
        const id = await ownId(field, noun, foreign);
        const unknown = await find(newId(noun), callers['an owner']!);
        const nothing = {
          Count: { count: 0, at_least: false },
          // The line of names.
          Csv: 1,
        }[/(Count|Csv)$/.exec(operationId)?.[0] ?? ''] ?? { data: [], has_more: false, next_cursor: null };
        const foundIn = ({ json, text }: typeof unknown) => (nothing === 1 ? text.trim().split('\r\n').length : json);
        assert.deepEqual(foundIn(unknown), nothing);
        assert.notDeepEqual(foundIn(await find(id, their.headers)), nothing, `${field} of their own`);
        for (const [who, headers] of callersOf(operationId)) {
          assert.deepEqual(comparable(await find(id, headers)), comparable(unknown), `${field} for ${who}`);
        }
      }
    });
  }

  /** An id of theirs by which the list finds something. */
  async function ownId(field: string, noun: Prefix, foreign: ReadonlyMap<Prefix, string>): Promise<string> {
    const { db } = isolation.testEnv;
    if (field === 'checkout_id') {
      const checkout = await makeCheckout(db, theirs.merchantId, theirs.owner.userId);
      await attempt(db, checkout);
      return checkout.id;
    }
    const [text] =
      {
        object_id: [
          `SELECT v.payment_id AS id FROM deliveries d JOIN events v ON v.id = d.event_id
                   WHERE v.merchant_id = $1 AND v.payment_id IS NOT NULL LIMIT 1`,
        ],
        subject_id: [
          `SELECT subject_id AS id FROM audit_entries WHERE merchant_id = $1 AND subject_id LIKE 'pay%' LIMIT 1`,
        ],
        actor_id: ['SELECT user_id AS id FROM audit_entries WHERE merchant_id = $1 AND user_id IS NOT NULL LIMIT 1'],
      }[field] ?? [];
    if (text === undefined) return String(foreign.get(noun));
    const { rows } = await db.pool.query<{ id: string }>(text, [theirs.merchantId]);
    return String(rows[0]?.id);
  }

  it('is unknown again once its person acts for another merchant, and known only while they act for this one', async () => {
    const { testEnv, send, published } = isolation;
    let headers = await headersOfBoth();
    const switchTo = async (merchantId: string) => {
      const switched = await send('switchMerchant', { json: { merchant_id: merchantId } }, headers);
      assert.equal(switched.status, 200, switched.text);
      headers = { ...headers, cookie: `${published.cookieName}=${cookieOf(switched)!.value}` };
    };
    const reads = Object.entries(PATH_IDS).filter(([operationId]) => isRead(operationId));
    assert.ok(reads.length >= 10);
    const samples = new Map<string, Sample>();
    for (const [operationId] of reads)
      samples.set(operationId, await sampleOf(operationId, { testEnv, shop: theirs, ...their }));
    const statuses = async () => {
      const found = new Set<number>();
      for (const [operationId, sample] of samples) found.add((await send(operationId, sample, headers)).status);
      return [...found];
    };
    assert.deepEqual(await statuses(), [404]);
    await switchTo(theirs.merchantId);
    assert.deepEqual(await statuses(), [200]);
    await switchTo(ours.merchantId);
    assert.deepEqual(await statuses(), [404]);
  });

  it('is found by no search, although its own merchant finds it', async () => {
    const { send } = isolation;
    const kinds = ['col', 'pay', 'rev', 'evt', 'dlv', 'whe', 'key'] as const;
    const foreign = await oneOfEach(theirs);
    for (const noun of kinds) {
      const query = { q: String(foreign.get(noun)) };
      const own = (await send('getSearchHits', { query }, their.headers)).json['data'] as { id: string }[];
      if (noun !== 'whe') assert.deepEqual(valuesOf(own, 'id'), [query.q]);
      for (const [who, headers] of callersOf('getSearchHits')) {
        assert.deepEqual((await send('getSearchHits', { query }, headers)).json, { data: [] }, `${noun} by ${who}`);
      }
    }
  });

  /** A collection and a payout that this key created. */
  async function createWith(shop: Shop, apiKeyId: ApiKeyId): Promise<void> {
    const { db } = isolation.testEnv;
    await makeCollection(db, shop.merchantId, 'initiated', { apiKeyId });
    await queue(db, shop, 1000n, { apiKeyId });
  }

  it('is refused beside an id of our own', async () => {
    const { testEnv, send } = isolation;
    const our = await isolation.logInAs(ours, 'owner');
    const idsIn = ({ json }: Sample) => json?.['ids'] as string[];
    const own = idsIn(await sampleOf('releasePayouts', { testEnv, shop: ours, ...our }));
    const foreign = idsIn(await sampleOf('releasePayouts', { testEnv, shop: theirs, ...their }));
    const before = await digestOfOthers(testEnv.db, ours.merchantId);
    const { json } = await send('releasePayouts', { json: { ids: [...own, ...foreign] } }, our.headers);
    const data = json['data'] as { payout: { state: string } | null; error: { code: string } | null }[];
    assert.deepEqual(
      data.map(({ payout, error }) => [payout?.state, error?.code]),
      [
        ['released', undefined],
        [undefined, 'payout_not_found'],
      ],
    );
    assert.deepEqual(await digestOfOthers(testEnv.db, ours.merchantId), before);
  });

  it('is not in the response to an Idempotency-Key that the other merchant used', async () => {
    const { testEnv, published, send } = isolation;
    const our = await isolation.logInAs(ours, 'owner');
    const idempotent = published.operations.filter(({ isIdempotent }) => isIdempotent);
    assert.ok(idempotent.length > 4);
    for (const { operationId } of idempotent) {
      const key = `order-${operationId}`;
      const sample = await sampleOf(operationId, { testEnv, shop: theirs, ...their });
      const first = await send(operationId, sample, their.headers, key);
      const second = await send(
        operationId,
        await sampleOf(operationId, { testEnv, shop: ours, ...our }),
        our.headers,
        key,
      );
      for (const { status, headers, text } of [first, second]) {
        assert.equal(Math.floor(status / 100), 2, `${operationId}: ${text}`);
        assert.equal(headers.get('idempotent-replayed'), null, operationId);
      }
      assert.notEqual(second.text, first.text, operationId);
    }
  });
});

/** Everything of a response but what differs for every request, with the requested id left out. */
function comparable({ status, headers, text }: ApiResponse): unknown {
  const sent = [...headers].filter(([name]) => !['date', 'malipo-request-id'].includes(name));
  return { status, sent, text: text.replace(/"request_id":"req_\w+"/, '').replaceAll(/"id":"\w+"/g, '') };
}

function withBody(id: string, json: Sample['json']): Sample {
  return { id, ...(json && { json }) };
}

function unknownFor(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unknownFor);
  return newId(String(value).slice(0, 3) as Prefix);
}
