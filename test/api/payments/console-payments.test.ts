// Payments as people see them in the console: lists with names and warnings, what waits for whom, and counts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { actedBy, decide, makePerson, queue, recordPayout, release, type Shop } from '../../db/payments/payout-rows.ts';
import { makeCollection, paid, tamper } from '../../db/rows.ts';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { call, collectionFields, type ApiResponse } from '../../support/api.ts';
import { addPerson, logIn, type TestPerson } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';
import { valuesOf } from '../../support/values-of.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: string };
type ListedPage = { readonly data: readonly Row[]; readonly has_more: boolean; readonly next_cursor: string | null };

type Query = Record<string, string> | [string, string][];

const PAYOUTS = '/v1/console/payouts';
const COLLECTIONS = '/v1/console/collections';

describe('payments in the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let shop: Shop;
  let viewer: Browser;
  let approver: { readonly person: TestPerson; readonly browser: Browser };

  beforeEach(async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const { db } = testEnv;
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 1_000_000n });
    shop = {
      merchantId,
      maker: await makePerson(db, merchantId, ['maker']),
      approver: await makePerson(db, merchantId, ['approver']),
      otherApprover: await makePerson(db, merchantId, ['approver']),
    };
    const person = await addPerson(testEnv, merchantId, ['approver']);
    approver = { person, browser: await logIn(testEnv, person) };
    viewer = await logIn(testEnv, await addPerson(testEnv, merchantId, ['viewer']));
  });

  const get = (browser: Browser, path: string, query: Query = {}): Promise<ApiResponse> =>
    browser.call('GET', `${path}?${new URLSearchParams(query).toString()}`);
  async function page(path: string, query: Query = {}, browser = viewer): Promise<ListedPage> {
    const response = await get(browser, path, query);
    assert.equal(response.status, 200, response.text);
    return response.json as unknown as ListedPage;
  }
  const idsOf = ({ data }: ListedPage) => data.map(({ id }) => id);
  const shownPerson = async (userId: string) => {
    const { rows } = await testEnv.db.pool.query('SELECT id, name, email FROM users WHERE id = $1', [userId]);
    return rows[0] as object;
  };
  const sent = async (amount: bigint, fields: { phone?: string; reference?: string } = {}): Promise<Payout> => {
    const payout = await queue(testEnv.db, shop, amount, fields);
    await release(testEnv.db, shop.approver, payout.id);
    return recordPayout(testEnv.db, payout, paid());
  };
  const warningsIn = (row: Row | undefined) => (row?.['judgement'] as { warnings: { code: string }[] }).warnings;

  it('show who created, approved and decided, and when a payout was released and completed', async () => {
    const [paidOne, rejected, queued] = [
      await sent(1000n),
      await queue(testEnv.db, shop, 1000n),
      await queue(testEnv.db, shop, 700n),
    ];
    await decide(testEnv.db, shop.otherApprover, rejected.id, { kind: 'reject', reason: 'Wrong person' });
    const { data } = await page(PAYOUTS);
    const row = ({ id }: Payout) => data.find((one) => one.id === id)!;
    const [maker, approving, rejecting] = await Promise.all(
      [shop.maker, shop.approver, shop.otherApprover].map(({ userId }) => shownPerson(userId)),
    );
    const { approvals, released_at: releasedAt } = row(paidOne) as unknown as {
      approvals: { approved_at: string }[];
      released_at: string;
    };
    assert.deepEqual(approvals, [{ person: approving, approved_at: releasedAt }]);
    assert.deepEqual(
      [row(paidOne)['created_by'], row(paidOne)['released_by'], row(paidOne)['completed_at']],
      [maker, approving, paidOne.updatedAt.toISOString()],
    );
    const ofRejected = ['decided_by', 'released_at', 'released_by', 'judgement'].map((name) => row(rejected)[name]);
    assert.deepEqual(ofRejected, [rejecting, null, null, null]);
    assert.ok(row(rejected)['completed_at'] !== null);
    assert.deepEqual([row(queued)['completed_at'], row(queued)['decided_by']], [null, null]);
  });

  it('show the key or the person that created a collection', async () => {
    const { db, baseUrl } = testEnv;
    const owner = await makePerson(db, shop.merchantId, ['owner']);
    const who = { merchantId: shop.merchantId, createdBy: owner.userId, by: actedBy(owner) };
    const what = {
      name: 'Till',
      environment: 'test',
      scopes: ['collections:write'],
      expiresAt: null,
      at: new Date(),
    } as const;
    const key = await createApiKey(db, { ...who, ...what });
    const maker = await addPerson(testEnv, shop.merchantId, ['maker']);
    const ofKey = await call(baseUrl, 'POST', '/v1/api/collections', { key: key.key, json: collectionFields() });
    const json = collectionFields();
    const ofPerson = await (
      await logIn(testEnv, maker)
    ).call('POST', '/v1/api/collections', { json, idempotencyKey: 'order-7' });
    assert.deepEqual([ofKey.status, ofPerson.status], [202, 202]);
    const person = await shownPerson(maker.id);
    const find = async (query: Record<string, string>) => (await page(COLLECTIONS, query)).data;
    const [byKey] = await find({ api_key_id: key.id });
    assert.deepEqual(
      [byKey?.id, byKey?.['created_by'], byKey?.['api_key']],
      [ofKey.json['id'], null, { id: key.id, name: 'Till' }],
    );
    const [byPerson, ...others] = await find({ created_by: maker.id });
    assert.deepEqual(others, []);
    assert.deepEqual(
      [byPerson?.id, byPerson?.['created_by'], byPerson?.['api_key']],
      [ofPerson.json['id'], person, null],
    );
    assert.deepEqual(await find({ idempotency_key: 'order-7' }), [byPerson]);
    const listed = await call(baseUrl, 'GET', '/v1/api/collections?idempotency_key=order-7', {
      headers: { cookie: viewer.cookie },
    });
    assert.deepEqual(valuesOf((listed.json as unknown as ListedPage).data, 'id'), [byPerson?.id]);
  });

  it('show no name of a person whose account was changed by hand', async () => {
    await queue(testEnv.db, shop, 1000n);
    await tamper(testEnv.db, `UPDATE users SET name = 'Somebody else' WHERE id = $1`, [shop.maker.userId]);
    const [row] = (await page(PAYOUTS)).data;
    assert.deepEqual(row?.['created_by'], { id: shop.maker.userId, name: null, email: null });
  });

  it('list what waits for the caller: queued, in time, neither made nor approved by them, and nothing for who may not release', async () => {
    const { db } = testEnv;
    const [waiting, own, approved] = [
      await queue(db, shop, 1000n),
      await queue(db, shop, 1001n, { createdBy: approver.person.id }),
      await queue(db, shop, 1002n),
    ];
    await queue(db, shop, 1003n, { clocks: { payoutExpiryMs: 1 } });
    await sent(1004n);
    await tamper(db, 'UPDATE payments SET approvals_required = 2 WHERE id = $1', [approved.id]);
    await tamper(
      db,
      `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation) VALUES ($1, $2, $3, now(), $4)`,
      [approved.id, approver.person.id, shop.merchantId, 'a'.repeat(43)],
    );
    const forMe = { waiting_for: 'me' };
    assert.deepEqual(idsOf(await page(PAYOUTS, forMe, approver.browser)), [waiting.id]);
    assert.deepEqual((await get(approver.browser, `${PAYOUTS}/count`, forMe)).json, { count: 1, at_least: false });
    assert.deepEqual(idsOf(await page(PAYOUTS, forMe)), []);
    assert.deepEqual(idsOf(await page(PAYOUTS, { created_by: own.createdBy })), [own.id]);
    assert.deepEqual(idsOf(await page(PAYOUTS, { ...forMe, states: 'succeeded' }, approver.browser)), []);
  });

  it('take several states, amounts and an approval state together', async () => {
    const [failedOne, queued, paidOne] = [await sent(1000n), await queue(testEnv.db, shop, 2000n), await sent(3000n)];
    assert.deepEqual(
      idsOf(
        await page(PAYOUTS, [
          ['states', 'queued'],
          ['states', 'succeeded'],
        ]),
      ),
      [paidOne.id, queued.id, failedOne.id],
    );
    assert.deepEqual(
      idsOf(await page(PAYOUTS, { amount_from: '2000', amount_to: '3000', approval_state: 'approved' })),
      [paidOne.id],
    );
    assert.deepEqual((await get(viewer, `${PAYOUTS}/count`, { states: 'succeeded' })).json, {
      count: 2,
      at_least: false,
    });
    const refused = await get(viewer, PAYOUTS, [
      ['states', 'queued'],
      ['states', 'queued'],
    ]);
    assert.deepEqual(issuesOf(refused), ['states parameter_invalid']);
    for (const wrong of ['0', '1.5', 'many', '9007199254740992']) {
      assertError(await get(viewer, PAYOUTS, { amount_from: wrong }), 'parameter_invalid');
    }
  });

  it('are ordered by time or amount, page by page, and refuse the cursor of another order', async () => {
    const [one, two, three] = [
      await queue(testEnv.db, shop, 2000n),
      await queue(testEnv.db, shop, 3000n),
      await queue(testEnv.db, shop, 1000n),
    ];
    const orders = {
      newest: [three, two, one],
      oldest: [one, two, three],
      largest: [two, one, three],
      smallest: [three, one, two],
    };
    for (const [sort, payouts] of Object.entries(orders)) {
      const first = await page(PAYOUTS, { sort, limit: '2' });
      const second = await page(PAYOUTS, { sort, limit: '2', cursor: first.next_cursor! });
      assert.deepEqual([...idsOf(first), ...idsOf(second)], valuesOf(payouts, 'id'), sort);
      assert.equal(second.next_cursor, null);
    }
    const { next_cursor: cursor } = await page(PAYOUTS, { sort: 'largest', limit: '1' });
    assertError(await get(viewer, PAYOUTS, { cursor: cursor! }), 'cursor_invalid');
  });

  it('warn of what an approver should know, on every queued payout of a list and on no other', async () => {
    const fresh = '256772000777';
    const first = await queue(testEnv.db, shop, 100n, { phone: fresh, reference: 'SALARY-AMINA' });
    const warnings = async () => warningsIn((await page(PAYOUTS, {}, approver.browser)).data[0]);
    assert.deepEqual(await warnings(), [{ code: 'first_payout_to_number' }]);
    await release(testEnv.db, shop.approver, first.id);
    await recordPayout(testEnv.db, first, paid());
    const again = await queue(testEnv.db, shop, 100n, { phone: fresh, reference: 'SALARY-AMINA' });
    const [{ code, payout_id: payoutId, state } = { code: '' }] = (await warnings()) as {
      code: string;
      payout_id?: string;
      state?: string;
    }[];
    assert.deepEqual([code, payoutId, state], ['same_number_and_amount_within_24h', first.id, 'succeeded']);
    const [row] = (await page(PAYOUTS)).data;
    const { earlier_payouts: earlier } = row?.['judgement'] as { earlier_payouts: unknown };
    const last = { id: first.id, created_at: first.createdAt.toISOString(), amount: 100, state: 'succeeded' };
    assert.deepEqual(earlier, { count: 1, at_least: false, last });
    await decide(testEnv.db, shop.maker, again.id, { kind: 'cancel' });
    await queue(testEnv.db, shop, 190n, { phone: '256772000778', reference: 'SALARY-AMINA' });
    assert.deepEqual(await warnings(), [
      { code: 'first_payout_to_number' },
      { code: 'number_changed_since_last', payout_id: first.id, phone: fresh },
    ]);
  });

  it('warn of an amount that is more than five times the usual one', async () => {
    for (let n = 0; n < 10; n++) await sent(100n, { reference: randomUUID() });
    await queue(testEnv.db, shop, 501n, { reference: randomUUID() });
    assert.deepEqual(warningsIn((await page(PAYOUTS)).data[0]), [{ code: 'above_usual', usual_amount: 100, times: 5 }]);
  });
});
