// The search of the console: each kind of object by each of the things that people have in hand, and nothing else.
import assert from 'node:assert/strict';
import { queue, type Shop, makePerson } from '../../db/payments/payout-rows.ts';
import { queueReversal } from '../../db/payments/refund-rows.ts';
import { makeCollection, makeEndpoint } from '../../db/rows.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { call as apiCall, collectionFields } from '../../support/api.ts';
import { eventually } from '../../support/test-environment.ts';
import { addPerson, logIn, enter } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { columnsOf, valuesOf } from '../../support/values-of.ts';

type Hit = Readonly<Record<string, unknown>> & { readonly id: string; readonly found_by: string };

describe('the search of the console', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let viewer: Browser;
  let collection: Collection;
  let payout: Payout;
  let refund: { readonly id: string; readonly operatorReference: string };

  before(async () => {
    const { db, merchant } = testEnv;
    const maker = await makePerson(db, merchant.id, ['maker']);
    const shop: Shop = { merchantId: merchant.id, maker, approver: maker, otherApprover: maker };
    viewer = await logIn(testEnv, await addPerson(testEnv, merchant.id, ['viewer']));
    await makeEndpoint(db, merchant.id);
    collection = await makeCollection(db, merchant.id, 'succeeded', {
      ...{ reference: 'INV-1042', idempotencyKey: 'Order-1042', phone: '256772000555', amountMinor: 500_000n },
    });
    await makeCollection(db, merchant.id, 'initiated', { reference: 'INV-10', phone: '256772000556' });
    await makeCollection(db, merchant.id, 'initiated', { reference: 'inv-1042-lower', phone: '256772000557' });
    payout = await queue(db, shop, 1000n, { reference: 'INV-1042 back', phone: '256772000555' });
    await makeCollection(db, merchant.id, 'succeeded', { amountMinor: 900_000n, reference: 'FUNDS' });
    refund = await queueReversal(db, shop, collection);
    const other = await testEnv.addMerchant();
    await makeCollection(db, other.id, 'initiated', {
      reference: 'INV-1042',
      idempotencyKey: 'order-1042',
      phone: '256772000555',
    });
  });

  const call = (q: string) => viewer.call('GET', `/v1/console/search?${new URLSearchParams({ q }).toString()}`);
  async function find(q: string): Promise<[id: string, foundBy: string][]> {
    const { status, json, text } = await call(q);
    assert.equal(status, 200, text);
    return (json['data'] as Hit[]).map(({ id, found_by: foundBy }) => [id, foundBy]);
  }

  it('finds a reference, and then those that begin with it, of collections and payouts', async () => {
    const [whole, ...beginning] = await find('INV-1042');
    assert.deepEqual(whole, [collection.id, 'reference']);
    assert.ok(beginning.some(([id, foundBy]) => id === payout.id && foundBy === 'reference_prefix'));
    assert.equal((await find('INV-1')).length, 4);
    assert.deepEqual(await find('NV-1042'), []);
    assert.deepEqual(await find('INV-1042%'), []);
    assert.deepEqual(await find('zzz'), []);
  });

  it('finds everything in capitals and in small letters', async () => {
    const [[lower] = []] = await find('inv-1042-LOWER');
    for (const reference of ['INV-1042', 'inv-1042', 'Inv-1042', '\u202ainv-1042\u202c']) {
      assert.deepEqual(await find(reference), [
        [collection.id, 'reference'],
        [lower, 'reference_prefix'],
        [payout.id, 'reference_prefix'],
      ]);
    }
    assert.equal((await find('iNv-1')).length, 4);
    for (const key of ['ORDER-1042', 'order-1042', 'oRdEr-1042']) {
      assert.deepEqual(await find(key), [[collection.id, 'idempotency_key']]);
    }
    assert.deepEqual(await find(payout.operatorReference.toUpperCase()), [[payout.id, 'operator_reference']]);
  });

  it('finds a request by its id, for those who may read the log, and what it made, for everybody', async () => {
    const { key } = testEnv.merchant;
    const made = await apiCall(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
    const requestId = String(made.headers.get('malipo-request-id'));
    const developer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['developer']));
    const q = new URLSearchParams({ q: requestId.toUpperCase() }).toString();
    const hits = await eventually('the request to be in the log', async () => {
      const data = (await developer.call('GET', `/v1/console/search?${q}`)).json['data'] as Hit[];
      return data.length === 2 && data;
    });
    assert.deepEqual(columnsOf(hits, 'kind', 'id', 'found_by', 'title'), [
      ['api_request', requestId, 'id', 'POST /v1/api/collections'],
      ['collection', made.json['id'], 'request_id', null],
    ]);
    assert.deepEqual(await find(requestId), [[made.json['id'], 'request_id']]);
    assert.deepEqual(await find(`${requestId.slice(0, -1)}${requestId.endsWith('0') ? '1' : '0'}`), []);
  });

  it('finds a phone number however it is written, an idempotency key, and an operator reference', async () => {
    const spellings = ['256772000555', '+256 772 000-555', '0772 000 555', '+256 (0)772 000 555', '772000555'];
    for (const phone of [...spellings, '\u202a+256772000555\u202c', '256‑772–000—555']) {
      assert.deepEqual(await find(phone), [
        [payout.id, 'phone'],
        [collection.id, 'phone'],
      ]);
    }
    assert.deepEqual(await find(' order-1042 '), [[collection.id, 'idempotency_key']]);
    assert.deepEqual(await find(payout.operatorReference), [[payout.id, 'operator_reference']]);
    assert.deepEqual(await find(refund.operatorReference.toUpperCase()), [[refund.id, 'operator_reference']]);
  });

  it('finds a payment by the operator’s receipt, of this merchant alone', async () => {
    const { rows } = await testEnv.db.pool.query<{ receipt: string }>(
      'SELECT operator_receipt AS receipt FROM payments WHERE id = $1',
      [collection.id],
    );
    const { receipt } = rows[0]!;
    assert.deepEqual(await find(receipt), [[collection.id, 'operator_receipt']]);
    const stranger = await testEnv.addMerchant();
    const outsider = await logIn(testEnv, await addPerson(testEnv, stranger.id, ['viewer']));
    const { json } = await outsider.call('GET', `/v1/console/search?q=${receipt}`);
    assert.deepEqual(json['data'], []);
  });

  it('finds every kind of object by its id', async () => {
    const { rows } = await testEnv.db.pool.query<{ id: string }>(
      `SELECT id FROM (SELECT max(id) AS id, merchant_id FROM events GROUP BY 2
         UNION ALL SELECT max(id), merchant_id FROM deliveries GROUP BY 2
         UNION ALL SELECT max(id), merchant_id FROM endpoints GROUP BY 2
         UNION ALL SELECT max(id), merchant_id FROM api_keys GROUP BY 2) AS any_of WHERE merchant_id = $1`,
      [testEnv.merchant.id],
    );
    assert.equal(rows.length, 4);
    for (const id of [collection.id, payout.id, refund.id, ...rows.map((row) => row.id)]) {
      assert.deepEqual(await find(id), [[id, 'id']]);
      assert.deepEqual(await find(id.toUpperCase()), [[id, 'id']]);
    }
  });

  it('shows what a list would of a hit', async () => {
    const [hit] = (await call('order-1042')).json['data'] as Hit[];
    assert.deepEqual(hit, {
      ...{ kind: 'collection', id: collection.id, found_by: 'idempotency_key', state: 'succeeded', amount: 500_000 },
      ...{ currency: 'UGX', reference: 'INV-1042', phone: '256772000555', title: null },
      created_at: collection.createdAt.toISOString(),
    });
  });

  it('refuses an empty search', async () => {
    assertError(await call(' '), 'parameter_invalid');
    assertError(await viewer.call('GET', '/v1/console/search'), 'parameter_missing');
  });
});

describe('events, deliveries and audit entries', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let viewer: Browser;
  before(async () => {
    viewer = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
  });

  async function list(path: string, query: Record<string, string>): Promise<Record<string, unknown>[]> {
    const { status, json, text } = await viewer.call('GET', `${path}?${new URLSearchParams(query).toString()}`);
    assert.equal(status, 200, text);
    return json['data'] as Record<string, unknown>[];
  }

  it('are found by what they are about', async () => {
    const { db, merchant } = testEnv;
    const endpointId = await makeEndpoint(db, merchant.id);
    const [one, other] = [
      await makeCollection(db, merchant.id, 'succeeded'),
      await makeCollection(db, merchant.id, 'prompted'),
    ];
    const events = await list('/v1/console/events', { object_id: one.id });
    assert.deepEqual(valuesOf(events, 'type'), ['collection.succeeded', 'collection.prompted']);
    const [event] = await list('/v1/console/events', { object_id: other.id, type: 'collection.prompted' });
    assert.equal(event?.['object_id'], other.id);
    const deliveries = await list('/v1/console/deliveries', { object_id: one.id, endpoint_id: endpointId });
    assert.deepEqual(
      deliveries.map(({ event_id: id }) => id),
      events.map(({ id }) => id),
    );
    assert.deepEqual(await list('/v1/console/deliveries', { object_id: one.id, state: 'dead_lettered' }), []);
    assertError(await viewer.call('GET', '/v1/console/events?object_id=pay_1'), 'parameter_invalid');
  });

  it('are found by subject, actor, action, outcome and time', async () => {
    const { db, merchant } = testEnv;
    const { person: owner, browser } = await enter(testEnv, merchant.id, ['owner']);
    const json = { name: 'Till', scopes: ['collections:read'] };
    const created = await browser.call('POST', '/v1/console/keys', { json });
    assert.equal(created.status, 201, created.text);
    const path = '/v1/console/audit';
    const [entry, ...more] = await list(path, { subject_id: String(created.json['id']) });
    assert.deepEqual([entry?.['action'], more], ['api_key.created', []]);
    const at = new Date(String(entry?.['at']));
    const later = new Date(at.getTime() + 1).toISOString();
    const both = { actor_id: owner.id, action: 'api_key.created', outcome: 'done' };
    for (const query of [both, { ...both, created_from: at.toISOString() }, { ...both, created_to: later }]) {
      assert.deepEqual(await list(path, query), [entry]);
    }
    assert.deepEqual(await list(path, { ...both, created_from: later }), []);
    assert.deepEqual(await list(path, { ...both, created_to: at.toISOString() }), []);
    assert.deepEqual(await list(path, { ...both, outcome: 'refused' }), []);
    const all = await list(path, { created_from: '2020-01-01T00:00:00Z', limit: '100' });
    assert.deepEqual(all, await list(path, { limit: '100' }));
    assert.ok(all.length > 2);
    // A clock that was wrong for a moment hides no entry of another time.
    for (const days of [-3, 3]) {
      await db.pool.query(
        `INSERT INTO audit_entries (merchant_id, action, outcome, created_at) VALUES ($1, 'test.noted', 'done', $2)`,
        [merchant.id, new Date(at.getTime() + days * 86_400_000)],
      );
    }
    assert.deepEqual(await list(path, { ...both, created_from: at.toISOString(), created_to: later }), [entry]);
  });
});
