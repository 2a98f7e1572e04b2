// Listing collections over HTTP: order, filters, and pages that miss nothing while new collections arrive.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { call, collectionFields } from '../../support/api.ts';
import type { TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { record } from '../../db/rows.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';

type Listed = {
  readonly id: string;
  readonly state: string;
  readonly reference: string;
  readonly phone: string;
  readonly created_at: string;
};
type ListedPage = { readonly data: readonly Listed[]; readonly has_more: boolean; readonly next_cursor: string | null };

const PATH = '/v1/api/collections';
const REFERENCES = ['INV-1', 'INV-2', 'café & co = 50%'];
const PHONES = ['256772000100', '256782000200'];

describe('listing collections', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let merchant: TestMerchant;
  /** Newest first, as they are after all of them were created. */
  let created: readonly Listed[];

  before(async () => {
    merchant = testEnv.merchant;
    for (let n = 0; n < 36; n++) {
      await create({ reference: REFERENCES[n % 3], phone: PHONES[n % 2] });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await create({}, (await testEnv.addMerchant()).key);
    for (const { id } of (await page({ limit: '100' })).data.filter((_listed, n) => n % 4 === 0)) {
      await record(testEnv.db, { id: id as never, merchantId: merchant.id }, { kind: 'prompt_accepted' });
    }
    created = (await page({ limit: '100' })).data;
  });

  const get = (query: Record<string, string> | string, key = merchant.key) =>
    call(testEnv.baseUrl, 'GET', `${PATH}?${new URLSearchParams(query).toString()}`, { key });
  async function create(fields: Record<string, unknown>, key = testEnv.merchant.key): Promise<string> {
    const response = await call(testEnv.baseUrl, 'POST', PATH, { key, json: collectionFields(fields) });
    assert.equal(response.status, 202, response.text);
    return String(response.json['id']);
  }
  async function page(query: Record<string, string>): Promise<ListedPage> {
    const response = await get(query);
    assert.equal(response.status, 200, response.text);
    return response.json as unknown as ListedPage;
  }
  async function walk(query: Record<string, string>, between = () => Promise.resolve()): Promise<Listed[]> {
    const seen: Listed[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data, next_cursor, has_more } = await page({ ...query, ...(cursor !== '' && { cursor }) });
      assert.equal(has_more, next_cursor !== null);
      seen.push(...data);
      cursor = next_cursor;
      await between();
    }
    return seen;
  }
  const idsOf = (listed: readonly Listed[]) => listed.map(({ id }) => id);

  it('shows the merchant’s own collections, newest first', () => {
    assert.equal(created.length, 36);
    const times = created.map(({ created_at }) => created_at);
    assert.deepEqual(times, [...times].sort().reverse());
    assert.deepEqual(idsOf(created), idsOf(created).sort().reverse());
  });

  it('shows each collection as the fetch route does', async () => {
    const { text } = await call(testEnv.baseUrl, 'GET', `${PATH}/${created[0]!.id}`, { key: merchant.key });
    assert.deepEqual(JSON.parse(text), created[0]);
  });

  it('shows twenty collections by default, and reports that there are more', async () => {
    const { data, has_more } = await page({});
    assert.deepEqual(idsOf(data), idsOf(created).slice(0, 20));
    assert.equal(has_more, true);
  });

  it('returns an empty list, and no error, where there is nothing', async () => {
    const { json } = await get({}, (await testEnv.addMerchant()).key);
    assert.deepEqual(json, { data: [], has_more: false, next_cursor: null });
  });

  describe('in pages', () => {
    for (const limit of ['1', '7', '36', '37', '100']) {
      it(`shows each collection exactly once with ${limit} per page`, async () => {
        assert.deepEqual(idsOf(await walk({ limit })), idsOf(created));
      });
    }

    it('reports that there is no more when the last page is full', async () => {
      const { data, has_more, next_cursor } = await page({ limit: '36' });
      assert.deepEqual([data.length, has_more, next_cursor], [36, false, null]);
    });

    it('shows each earlier collection exactly once while new ones arrive', async () => {
      const stranger = await testEnv.addMerchant();
      const before = [];
      for (let n = 0; n < 15; n++) before.push(await create({}, stranger.key));
      const seen: string[] = [];
      let query: Record<string, string> = { limit: '4' };
      for (;;) {
        const response = await get(query, stranger.key);
        const { data, next_cursor: cursor } = response.json as unknown as ListedPage;
        seen.push(...idsOf(data));
        if (cursor === null) break;
        query = { limit: '4', cursor };
        await Promise.all([create({}, stranger.key), create({}, stranger.key)]);
      }
      assert.deepEqual(seen, before.reverse());
    });

    it('keeps the filter of the first page', async () => {
      const expected = created.filter(({ reference }) => reference === 'INV-2');
      assert.deepEqual(idsOf(await walk({ reference: 'INV-2', limit: '5' })), idsOf(expected));
    });

    it('accepts a cursor at a collection that does not exist or belongs to another merchant', async () => {
      const cursor = Buffer.from(newId('col')).toString('base64url');
      assert.deepEqual(idsOf((await page({ cursor, limit: '100' })).data), idsOf(created));
    });
  });

  describe('with filters', () => {
    it('finds exactly what passes all filters, for each combination of them', async () => {
      const [from, to] = [created[30]!.created_at, created[3]!.created_at];
      const tests: readonly (readonly [string, string, (listed: Listed) => boolean])[] = [
        ['state', 'prompted', ({ state }) => state === 'prompted'],
        ['reference', REFERENCES[2]!, ({ reference }) => reference === REFERENCES[2]],
        ['phone', PHONES[1]!, ({ phone }) => phone === PHONES[1]],
        ['created_from', from, ({ created_at }) => created_at >= from],
        ['created_to', to, ({ created_at }) => created_at < to],
      ];
      for (let mask = 0; mask < 2 ** tests.length; mask++) {
        const chosen = tests.filter((_test, n) => (mask & (1 << n)) !== 0);
        const query = Object.fromEntries(chosen.map(([name, value]) => [name, value]));
        const expected = created.filter((listed) => chosen.every(([, , passes]) => passes(listed)));
        assert.deepEqual(idsOf(await walk({ ...query, limit: '4' })), idsOf(expected), JSON.stringify(query));
      }
    });

    it('includes the first moment of a time range and excludes the last', async () => {
      const at = created[10]!.created_at;
      const next = new Date(Date.parse(at) + 1).toISOString();
      assert.ok(idsOf((await page({ created_from: at, created_to: next })).data).includes(created[10]!.id));
      assert.ok(!idsOf(await walk({ created_to: at })).includes(created[10]!.id));
      assert.ok(!idsOf(await walk({ created_from: next })).includes(created[10]!.id));
    });

    it('treats the same moment in any time zone alike', async () => {
      const { created_at: at } = created[10]!;
      const inKampala = `${new Date(Date.parse(at) + 3 * 3_600_000).toISOString().slice(0, -1)}+03:00`;
      assert.deepEqual(await walk({ created_from: inKampala }), await walk({ created_from: at }));
    });

    it('compares times to their last digit, however many digits they have', async () => {
      const at = created[10]!.created_at;
      const finer = (digits: string) => at.replace('Z', `${digits}Z`);
      assert.ok(!idsOf(await walk({ created_from: finer('0001') })).includes(created[10]!.id));
      assert.ok(idsOf(await walk({ created_from: finer('0000') })).includes(created[10]!.id));
      assert.ok(idsOf(await walk({ created_to: finer('0001') })).includes(created[10]!.id));
      assert.ok(!idsOf(await walk({ created_to: finer('0000') })).includes(created[10]!.id));
    });

    it('finds nothing when a time range ends before it begins', async () => {
      const { data } = await page({ created_from: created[3]!.created_at, created_to: created[30]!.created_at });
      assert.deepEqual(data, []);
    });

    it('finds nothing when no collection passes a filter', async () => {
      assert.deepEqual((await page({ reference: randomUUID() })).data, []);
      assert.deepEqual((await page({ state: 'reversed' })).data, []);
      assert.deepEqual((await page({ phone: '256772999999' })).data, []);
    });

    it('compares references exactly', async () => {
      for (const reference of ['inv-1', 'INV-1 ', 'INV', 'INV%', 'INV_1']) {
        assert.deepEqual((await page({ reference })).data, [], reference);
      }
    });
  });

  describe('with invalid parameters', () => {
    const wrong: readonly (readonly [string, string, string])[] = [
      ['a limit of zero', 'limit=0', 'limit parameter_invalid'],
      ['a limit above a hundred', 'limit=101', 'limit parameter_invalid'],
      ['a negative limit', 'limit=-1', 'limit parameter_invalid'],
      ['a limit with a fraction', 'limit=1.5', 'limit parameter_invalid'],
      ['a limit that is no number', 'limit=many', 'limit parameter_invalid'],
      ['an empty limit', 'limit=', 'limit parameter_invalid'],
      ['two limits', 'limit=1&limit=2', 'limit parameter_invalid'],
      ['an empty cursor', 'cursor=', 'cursor cursor_invalid'],
      ['a cursor that is an id', `cursor=${newId('col')}`, 'cursor cursor_invalid'],
      [
        'a cursor of another kind of id',
        `cursor=${Buffer.from(newId('evt')).toString('base64url')}`,
        'cursor cursor_invalid',
      ],
      [
        'a cursor with an extra character',
        `cursor=${Buffer.from(newId('col')).toString('base64url')}A`,
        'cursor cursor_invalid',
      ],
      ['two cursors', 'cursor=a&cursor=b', 'cursor cursor_invalid'],
      ['an unknown state', 'state=paid', 'state parameter_invalid'],
      ['two states', 'state=prompted&state=failed', 'state parameter_invalid'],
      ['an empty reference', 'reference=', 'reference parameter_invalid'],
      ['a phone with a plus', 'phone=%2B256772000100', 'phone parameter_invalid'],
      ['a date instead of a time', 'created_from=2026-01-31', 'created_from parameter_invalid'],
      ['a time without a zone', 'created_from=2026-01-31T12:00:00', 'created_from parameter_invalid'],
      ['a date that does not exist', 'created_to=2026-02-30T12:00:00Z', 'created_to parameter_invalid'],
      ['a number instead of a time', 'created_to=1767225600', 'created_to parameter_invalid'],
      ['an unknown parameter', 'page=2', 'page parameter_unknown'],
      ['a parameter named like a property of every object', 'toString=1', 'toString parameter_unknown'],
    ];
    for (const [what, query, issue] of wrong) {
      it(`refuses ${what}`, async () => {
        const response = await get(query);
        assert.deepEqual(issuesOf(response), [issue], response.text);
        assertError(response, issue.split(' ')[1] as 'parameter_invalid');
      });
    }

    it('names every invalid parameter at once', async () => {
      const response = await get('limit=0&cursor=x&state=paid&page=2&created_from=now');
      assert.equal(issuesOf(response).length, 5, response.text);
    });
  });
});
