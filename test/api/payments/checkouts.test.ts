// Checkouts in the console: created once, listed by what is true of them now, shown with their attempts, cancelled.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, type ApiResponse } from '../../support/api.ts';
import { valuesOf } from '../../support/values-of.ts';
import { addPerson, logIn, logInAs } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import type { Browser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { attempt, makeCheckout } from '../../db/payments/checkouts.ts';
import { paid, record } from '../../db/rows.ts';
import type { UserId } from '../../../src/domain/ids.ts';
import type { Checkout } from '../../../src/domain/payments/checkout.ts';
import { API_ONLY, assertError, issuesOf } from '../responses.ts';

const PATH = '/v1/console/checkouts';

describe('checkouts in the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let maker: Browser;
  let makerId: UserId;
  before(async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    makerId = person.id;
    maker = await logIn(testEnv, person);
  });

  const create = (json: Record<string, unknown>, idempotencyKey = randomUUID()): Promise<ApiResponse> =>
    maker.call('POST', PATH, { json: { amount: 5000, reference: 'INV-1', ...json }, idempotencyKey });
  const made = (fields: Partial<Checkout> = {}) => makeCheckout(testEnv.db, testEnv.merchant.id, makerId, fields);
  const fetched = async (id: string) => (await maker.call('GET', `${PATH}/${id}`)).json;
  const idsOf = ({ json }: ApiResponse) => (json['data'] as { id: string }[]).map(({ id }) => id);

  /** An attempt that was paid. */
  async function pay(checkout: Checkout, phone = '256772000100') {
    const collection = await attempt(testEnv.db, checkout, { phone });
    await record(testEnv.db, collection, { kind: 'prompt_accepted' });
    await record(testEnv.db, collection, paid());
    return collection;
  }

  it('are created once for one key, with what a payer will see, and are in the audit log', async () => {
    const key = randomUUID();
    const json = {
      description: 'Two bags of maize',
      metadata: { order: '1042' },
      return_url: 'https://shop.example/1?a=b',
    };
    const [response, ...others] = [await create(json, key), await create(json, key), await create(json, key)];
    assert.equal(response.status, 201, response.text);
    for (const other of others) assert.deepEqual([other.status, other.json], [201, response.json]);
    assert.equal(others[0].headers.get('idempotent-replayed'), 'true');
    const { id, url, state, paid_count: paidCount, expires_at: expiresAt, created_at: createdAt } = response.json;
    assert.match(String(url), new RegExp(`^${testEnv.baseUrl}/pay/[0-9a-hjkmnp-tv-z]{32}$`));
    assert.deepEqual([state, paidCount], ['open', 0]);
    assert.equal(Date.parse(String(expiresAt)) - Date.parse(String(createdAt)), 7 * 24 * 3_600_000);
    await assertAudited(testEnv, response, { action: 'checkout.created', subject_id: String(id), user_id: makerId });
    assert.deepEqual(
      { ...(await fetched(String(id))), attempts: undefined },
      { ...response.json, attempts: undefined },
    );
    assertError(await create({ reference: 'INV-2' }, key), 'idempotency_key_reused');
  });

  it('are refused in a currency that no operator takes', async () => {
    const { id } = await testEnv.addMerchant('KES');
    const other = await logIn(testEnv, await addPerson(testEnv, id, ['maker']));
    const json = { amount: 5000, reference: 'INV-1' };
    const refused = await other.call('POST', PATH, { json, idempotencyKey: randomUUID() });
    assert.deepEqual(issuesOf(refused), ['currency parameter_invalid']);
    assert.match(refused.text, /No available operator supports KES/);
  });

  it('are refused with every problem named, when nobody could pay them', async () => {
    const wrong = { amount: 50, currency: 'KES', expires_at: new Date(Date.now() + 60_000).toISOString() };
    const refused = await create(wrong);
    assert.deepEqual(issuesOf(refused).sort(), [
      'amount amount_out_of_bounds',
      'currency parameter_invalid',
      'expires_at parameter_invalid',
    ]);
    for (const url of [
      'http://shop.example',
      'https://a:b@shop.example',
      'javascript:alert(1)',
      'https://shop.example/ö',
      'https:///orders',
      'https:shop.example',
      `https://${'a'.repeat(64)}.example/`,
      'https://shop..example/',
    ])
      assert.deepEqual(issuesOf(await create({ return_url: url })), ['return_url parameter_invalid'], url);
    assert.equal((await create({ return_url: 'http://localhost:3000/back' })).status, 201);
    const inCapitals = await create({ return_url: 'HTTPS://shop.example/Orders' });
    assert.deepEqual([inCapitals.status, inCapitals.json['return_url']], [201, 'https://shop.example/Orders']);
    assert.deepEqual(issuesOf(await create({ use: 'twice' })), ['use parameter_invalid']);
    const key = await call(testEnv.baseUrl, 'POST', PATH, { key: testEnv.merchant.key, json: {} });
    assert.equal(key.status, 401);
  });

  it('show each attempt with its collection, which names its checkout in turn', async () => {
    const checkout = await made({ metadata: { order: '7' }, description: 'Maize' });
    const collection = await pay(checkout);
    const shown = await fetched(checkout.id);
    assert.deepEqual([shown['state'], shown['paid_count']], ['completed', 1]);
    const [one, ...none] = shown['attempts'] as Record<string, unknown>[];
    assert.deepEqual(none, []);
    assert.deepEqual(
      [one!['collection_id'], one!['state'], one!['phone'], one!['failure']],
      [collection.id, 'succeeded', '256772000100', null],
    );
    const { json } = await maker.call('GET', `/v1/console/collections/${collection.id}`);
    assert.deepEqual([json['checkout_id'], json['metadata'], json['created_by']], [checkout.id, { order: '7' }, null]);
    const list = await maker.call('GET', `/v1/console/collections?reference=INV-1`);
    const inList = (list.json['data'] as Record<string, unknown>[]).find(({ id }) => id === collection.id);
    assert.equal(inList!['checkout_id'], checkout.id);
    // What a program sees of it is what it always was.
    const { rows } = await testEnv.db.pool.query<{ body: string }>('SELECT body FROM events WHERE payment_id = $1', [
      collection.id,
    ]);
    assert.ok(rows.every(({ body }) => !body.includes('checkout')));
  });

  it('have their collections listed, counted and exported, and no merchant those of another', async () => {
    const checkout = await made({ use: 'reusable' });
    const ids = [(await pay(checkout)).id, (await pay(checkout)).id];
    const other = await pay(await made({ use: 'reusable' }));
    const query = `?checkout_id=${checkout.id}`;
    const list = await maker.call('GET', `/v1/console/collections${query}`);
    assert.deepEqual(valuesOf(list.json['data'] as { id: string }[], 'id'), ids.toReversed());
    const count = await maker.call('GET', `/v1/console/collections/count${query}`);
    assert.deepEqual(count.json, { count: 2, at_least: false });
    const { text } = await maker.call('GET', `/v1/console/collections.csv${query}&sort=oldest`);
    assert.ok(text.indexOf(ids[0]!) > 0 && text.indexOf(ids[0]!) < text.indexOf(ids[1]!), text);
    assert.ok(!text.includes(other.id), text);
    const stranger = await logInAs(testEnv, (await testEnv.addMerchant()).id, 'viewer');
    assert.deepEqual((await stranger.call('GET', `/v1/console/collections${query}`)).json['data'], []);
    const wrong = await maker.call('GET', '/v1/console/collections?checkout_id=INV-1');
    assert.deepEqual(issuesOf(wrong), ['checkout_id parameter_invalid']);
  });

  it('are listed by state, reference and time, in pages that go on where one ended', async () => {
    const reference = `R-${randomUUID()}`;
    const open = [
      await made({ reference }),
      await made({ reference }),
      await made({ reference, use: 'reusable', expiresAt: null }),
    ];
    const completed = await made({ reference });
    await pay(completed);
    const longAgo = new Date(Date.now() - 3_600_000);
    const expired = await made({ reference, createdAt: longAgo, expiresAt: new Date(Date.now() - 1000) });
    const cancelled = await made({ reference });
    await maker.call('DELETE', `${PATH}/${cancelled.id}`);
    const byState = { open, completed: [completed], expired: [expired], cancelled: [cancelled] };
    for (const [state, checkouts] of Object.entries(byState)) {
      const listed = await maker.call('GET', `${PATH}?reference=${reference}&state=${state}`);
      assert.deepEqual(idsOf(listed), checkouts.map(({ id }) => id).reverse(), state);
    }
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = await maker.call('GET', `${PATH}?reference=${reference}&limit=2${cursor}`);
      seen.push(...idsOf(page));
      if (page.json['has_more'] !== true) break;
      cursor = `&cursor=${String(page.json['next_cursor'])}`;
    }
    assert.deepEqual(seen, [...open, completed, expired, cancelled].map(({ id }) => id).reverse());
    const later = new Date(Date.now() + 60_000).toISOString();
    assert.deepEqual(idsOf(await maker.call('GET', `${PATH}?reference=${reference}&created_from=${later}`)), []);
    const hits = await maker.call('GET', `/v1/console/search?q=${reference.slice(0, 20)}`);
    assert.equal((hits.json['data'] as { kind: string }[]).filter(({ kind }) => kind === 'checkout').length, 6);
    const byId = await maker.call('GET', `/v1/console/search?q=${expired.id}`);
    assert.deepEqual(idsOf(byId), [expired.id]);
  });

  it('are cancelled once, unless they are over, and what is on a phone then can still be paid', async () => {
    const checkout = await made();
    const collection = await attempt(testEnv.db, checkout);
    const cancelled = await maker.call('DELETE', `${PATH}/${checkout.id}`);
    assert.deepEqual([cancelled.status, cancelled.json['state']], [200, 'cancelled']);
    await assertAudited(testEnv, cancelled, { action: 'checkout.cancelled', subject_id: checkout.id });
    const again = await maker.call('DELETE', `${PATH}/${checkout.id}`);
    assert.deepEqual(again.json, cancelled.json);
    assert.deepEqual(await auditRows(testEnv, again), []);
    await record(testEnv.db, collection, { kind: 'prompt_accepted' });
    await record(testEnv.db, collection, paid());
    assert.equal((await fetched(checkout.id))['state'], 'completed');
    assertError(await maker.call('DELETE', `${PATH}/${checkout.id}`), 'state_conflict');
  });

  it('take one attempt at a time, however many come at once, and say when two were paid nevertheless', async () => {
    const checkout = await made();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => attempt(testEnv.db, checkout, { phone: `25677200020${index}` })),
    );
    const [first, ...none] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.deepEqual(none, []);
    const expired = { kind: 'expired', failureCode: 'prompt_expired' } as const;
    const longAgo = new Date(Date.now() - 600_000);
    await record(testEnv.db, first!, { kind: 'prompt_accepted' }, longAgo);
    await record(testEnv.db, first!, expired);
    await assert.rejects(attempt(testEnv.db, checkout, { secondAttemptWaitMs: 60_000 }), /takes no payment now/);
    await pay(checkout, '256772000300');
    await record(testEnv.db, first!, paid());
    const shown = await fetched(checkout.id);
    assert.deepEqual([shown['state'], shown['paid_count']], ['completed', 2]);
    await assert.rejects(attempt(testEnv.db, checkout), /takes no payment now/);
  });
});
