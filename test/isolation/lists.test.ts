// Every list and every other read without an id: it shows what belongs to the caller's own merchant, whatever the query.
import assert from 'node:assert/strict';
import { makeCollection } from '../db/rows.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { call } from '../support/api.ts';
import { API_SCOPES, CONSOLE_ROLES, BEHIND_A_SESSION, isRead, PATH_IDS, OPERATIONS } from './access.ts';
import { idsOf } from './merchant-ids.ts';
import { looksLikeId, type PublishedOperation } from './published.ts';
import { callerOptions, sampleOf } from './samples.ts';
import { useIsolationEnvironment, type Headers, type Shop } from './tenants.ts';

type Page = { readonly data: readonly { readonly id: string }[]; readonly next_cursor?: string | null };

const IDS = /\b(?!req_)[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g;

/** The values that each parameter of a list is tested with: rows of both merchants have them. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  limit: ['100'],
  state: ['succeeded', 'queued', 'initiated', 'pending', 'withheld', 'open'],
  type: ['collection.succeeded', 'payout.queued'],
  approval_state: ['pending'],
  reference: ['INV-1', 'SAL-1'],
  phone: ['256772000100'],
  action: ['payout.queued', 'collection.created'],
  outcome: ['done', 'refused'],
  states: ['succeeded', 'queued'],
  sort: ['oldest', 'largest', 'smallest'],
  idempotency_key: ['order-1'],
  operator: ['mtn-momo'],
  operator_reference: ['0190f5fe-7c00-7a00-8000-000000000000'],
  amount_from: ['1'],
  amount_to: ['100000000'],
  created_by: ['usr_01j9z3k5m7n9p1q3r5s7t9v1w3'],
  waiting_for: ['me'],
  account: ['available', 'held'],
  kind: ['collection_paid', 'payout_held'],
  key: ['key_01j9z3k5m7n9p1q3r5s7t9v1w3'],
  status: ['2xx', '4xx'],
  method: ['GET'],
  route: ['/v1/api/balance'],
  object: ['pay_01j9z3k5m7n9p1q3r5s7t9v1w3'],
  created_from: ['2020-01-01T00:00:00.000Z'],
  created_to: ['2090-01-01T00:00:00.000Z'],
};
// States that the rows of a list never have.
const NO_STATES: Readonly<Record<string, readonly string[]>> = {
  listCollections: ['queued', 'pending', 'withheld', 'open'],
  listPayouts: ['initiated', 'pending', 'withheld', 'open'],
  listDeliveries: ['succeeded', 'queued', 'initiated', 'open'],
  listConsoleCollections: ['queued'],
  listCheckouts: ['succeeded', 'queued', 'initiated', 'pending', 'withheld'],
  listReversals: ['initiated', 'pending', 'withheld', 'open'],
};

describe('a read without an id', () => {
  const isolation = useIsolationEnvironment();
  let ours: Shop;
  let theirs: Shop;
  let own: Set<string>;
  let callers: Readonly<Record<string, Headers>>;
  let theirHeaders: Headers;
  let ourPerson: TestPerson;
  let developer: Headers;

  before(async () => {
    [ours, theirs] = [await isolation.addShop(), await isolation.addShop()];
    const our = await isolation.logInAs(ours, 'viewer');
    await isolation.logInAs(theirs, 'viewer');
    const both = await addPerson(isolation.testEnv, ours.merchantId, ['owner']);
    await addPerson(isolation.testEnv, theirs.merchantId, ['owner'], { email: both.email });
    // In turns, so that the rows of the two merchants alternate.
    await fill([ours, theirs]);
    await makeCollection(isolation.testEnv.db, theirs.merchantId, 'succeeded');
    // A list of sessions shows those of its caller alone.
    await isolation.openSession(our.person);
    const headersOfBoth = (await isolation.openSession(both)).headers;
    await isolation.openSession(both);
    theirHeaders = (await isolation.logInAs(theirs, 'owner')).headers;
    developer = (await isolation.logInAs(ours, 'developer')).headers;
    own = await idsOf(isolation.testEnv.db, ours.merchantId);
    ourPerson = our.person;
    callers = {
      'a viewer': our.headers,
      'who is an owner there too': headersOfBoth,
      'a key': { authorization: `Bearer ${ours.merchant.key}` },
    };
  });

  async function fill(shops: readonly Shop[]): Promise<void> {
    for (const operationId of Object.keys(OPERATIONS)) {
      for (const shop of shops) {
        const { person, headers } = await isolation.logInAs(shop, 'owner', callerOptions(operationId));
        const sample = await sampleOf(operationId, { testEnv: isolation.testEnv, shop, person });
        if (operationId.startsWith('create')) await isolation.send(operationId, sample, headers);
      }
    }
  }

  // The one with the fewest rights who may call it.
  const readerOf = (operationId: string): Headers =>
    CONSOLE_ROLES[operationId]?.includes('viewer') === false ? developer : callers['a viewer']!;
  const callersOf = (operationId: string) =>
    Object.entries({ ...callers, 'a viewer': readerOf(operationId) }).filter(
      ([who]) => who !== 'a key' || API_SCOPES[operationId] !== undefined,
    );

  function assertOwn(text: string, where: string): void {
    // Each merchant sees which of the service's staff acted on what is its own.
    const isStaffs = (id: string) => id.startsWith('stf_');
    for (const [id] of text.matchAll(IDS)) assert.ok(own.has(id) || isStaffs(id), `${where}: shows ${id}`);
  }

  /** The ids of the rows of all pages. */
  async function walk(path: string, query: Readonly<Record<string, string>>, headers: Headers): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor = query['cursor'] ?? null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const search = new URLSearchParams({ ...query, ...(cursor !== null && { cursor }) });
      const response = await call(isolation.testEnv.baseUrl, 'GET', `${path}?${search.toString()}`, { headers });
      assert.equal(response.status, 200, response.text);
      assertOwn(response.text, path);
      const page = response.json as unknown as Page;
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? null;
    }
    return ids;
  }

  function queriesOf(operationId: string, names: readonly string[]): Record<string, string>[] {
    return (
      names
        // The tests of foreign ids cover ids.
        .filter((name) => name !== 'cursor' && !looksLikeId(name))
        .flatMap((name) => {
          const values = QUERIES[name];
          assert.ok(values, `${operationId}: no value is known for its parameter ${name}`);
          const sensible = values.filter((value) => !NO_STATES[operationId]?.includes(value));
          return sensible.map((value): Record<string, string> => ({ [name]: value }));
        })
    );
  }

  for (const operationId of BEHIND_A_SESSION.filter((name) => name.startsWith('list'))) {
    it(`shows only the caller’s merchant in ${operationId}`, async () => {
      const operation = isolation.published.find(operationId);
      const { path, queryNames } = operation;
      const isPaged = queryNames.includes('cursor');
      for (const [who, headers] of callersOf(operationId)) {
        const all = await walk(path, isPaged ? { limit: '3' } : {}, headers);
        assert.ok(all.length > 1, `${operationId} has rows for ${who}`);
        assert.deepEqual(all, [...new Set(all)]);
        for (const id of all) assert.ok(own.has(id), `${operationId} shows ${id} to ${who}`);
        for (const query of queriesOf(operationId, queryNames)) {
          const found = await walk(path, query, headers);
          for (const id of found) assert.ok(all.includes(id), `${operationId} ${JSON.stringify(query)} shows ${id}`);
        }
      }
      if (isPaged) await assertForeignCursorShowsOwnRows(operation);
    });
  }

  /** After a cursor of the other merchant, a list continues with our own older rows. */
  async function assertForeignCursorShowsOwnRows({ path, operationId }: PublishedOperation): Promise<void> {
    const { json } = await call(isolation.testEnv.baseUrl, 'GET', `${path}?limit=2`, { headers: theirHeaders });
    const cursor = json['next_cursor'];
    assert.ok(typeof cursor === 'string', `${operationId} has a second page`);
    const last = (json as unknown as Page).data.at(-1)!.id;
    const headers = readerOf(operationId);
    const isOlder = (id: string) => (/^\d+$/.test(last) ? BigInt(id) < BigInt(last) : id < last);
    const older = (await walk(path, { limit: '100' }, headers)).filter(isOlder);
    assert.deepEqual(await walk(path, { cursor, limit: '100' }, headers), older, operationId);
  }

  for (const operationId of BEHIND_A_SESSION.filter((name) => isRead(name) && PATH_IDS[name] === undefined)) {
    if (operationId.startsWith('list')) continue;
    it(`shows only the caller’s merchant in ${operationId}`, async () => {
      for (const [who, headers] of callersOf(operationId)) {
        const sample = await sampleOf(operationId, { testEnv: isolation.testEnv, shop: ours, person: ourPerson });
        const response = await isolation.send(operationId, sample, headers);
        assert.equal(response.status, 200);
        // A person's list of merchants belongs to the person.
        const text = operationId === 'getSession' ? response.text.replaceAll(theirs.merchantId, '') : response.text;
        assertOwn(text, `${operationId} to ${who}`);
      }
    });
  }

  it('shows the caller’s merchant’s own balance', async () => {
    const { testEnv, send } = isolation;
    const shown: unknown[] = [];
    for (const { merchantId, merchant } of [ours, theirs]) {
      const { rows } = await testEnv.db.pool.query<{ kind: string; balance: string }>(
        'SELECT kind, balance_minor AS balance FROM ledger_accounts WHERE merchant_id = $1',
        [merchantId],
      );
      const { json } = await send('getBalance', {}, { authorization: `Bearer ${merchant.key}` });
      for (const { kind, balance } of rows) assert.equal(String(json[kind]), balance, kind);
      shown.push(json['available']);
    }
    assert.notEqual(shown[0], shown[1], 'the two balances differ');
  });
});
