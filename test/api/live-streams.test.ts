// Streams of live updates: complete and in order over breaks, kills and open transactions, of one merchant, and bounded.
import assert from 'node:assert/strict';
import { cancelCheckout } from '../../src/db/payments/checkout.ts';
import { insertCollection } from '../../src/db/payments/collection.ts';
import { createLiveStreams } from '../../src/api/live-streams.ts';
import { writePlace, type Place } from '../../src/domain/live-update.ts';
import type { MerchantId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/log.ts';
import { readEnd, readUpdates } from '../../src/operations/read-live-updates.ts';
import { makeCollection, newCollection, paid, record } from '../db/rows.ts';
import { attempt, makeCheckout } from '../db/payments/checkouts.ts';
import { makePayout, makeShop } from '../db/payments/payout-rows.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { addPerson, logIn, logInAs, enter } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { startServerChild } from '../support/server-child.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { readEvents, type EventReader } from './event-reader.ts';
import { API_ONLY } from './responses.ts';

const PATH = '/v1/console/stream';

describe('a stream of live updates', function () {
  this.timeout(180_000);
  const testEnv: TestEnvironment = useFixture(
    () => startTestEnvironment(API_ONLY),
    (env) => env.stop(),
  );
  const open: EventReader[] = [];
  let browser: Browser;

  before(async () => {
    browser = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
  });
  afterEach(() => {
    for (const reader of open.splice(0)) reader.close();
  });

  async function connect(by = browser, headers: Record<string, string> = {}, baseUrl = testEnv.baseUrl, query = '') {
    const reader = await readEvents(`${baseUrl}${PATH}${query}`, { cookie: by.cookie, ...headers });
    open.push(reader);
    return reader;
  }
  const updatesOf = ({ events }: EventReader) =>
    events
      .filter(({ event }) => event === 'update')
      .map(({ data }) => `${String(data['id'])} ${String(data['state'])}`);
  const collect = (merchantId: MerchantId = testEnv.merchant.id) => makeCollection(testEnv.db, merchantId, 'succeeded');
  const statesOf = (id: string) => ['initiated', 'prompted', 'succeeded'].map((state) => `${id} ${state}`);

  it('greets, and tells each new state by kind, id and state alone, in order', async () => {
    const reader = await connect();
    assert.equal(reader.status, 200);
    assert.equal(reader.headers.get('x-accel-buffering'), 'no');
    assert.equal(reader.headers.get('cache-control'), 'no-store, no-transform');
    await reader.until((events) => events.length === 1);
    assert.deepEqual(reader.events[0]?.data, { resumed: false });
    const { id } = await collect();
    await reader.until(() => updatesOf(reader).includes(`${id} succeeded`));
    assert.deepEqual(updatesOf(reader), statesOf(id));
    assert.deepEqual(Object.keys(reader.events.at(-1)?.data ?? {}), ['kind', 'id', 'state', 'changed_at']);
  });

  it('tells of payouts and of each approval too, and nothing of another merchant', async () => {
    const shop = await makeShop(testEnv.db, 100_000n);
    const reader = await connect(await logIn(testEnv, await addPerson(testEnv, shop.merchantId, ['viewer'])));
    await reader.until((events) => events.length === 1);
    const other = await collect();
    const { id } = await makePayout(testEnv.db, shop, 'succeeded');
    await reader.until(() => updatesOf(reader).includes(`${id} succeeded`));
    // Queued, approved and so queued still, released, paid.
    assert.deepEqual(
      updatesOf(reader),
      ['queued', 'queued', 'released', 'succeeded'].map((state) => `${id} ${state}`),
    );
    assert.ok(!JSON.stringify(reader.events).includes(other.id));
  });

  it('tells when a checkout is created, paid and cancelled, and nothing of other collections as of one', async () => {
    const { db } = testEnv;
    const shop = await makeShop(db, 0n);
    const maker = await addPerson(testEnv, shop.merchantId, ['maker']);
    const reader = await connect(await logIn(testEnv, maker));
    await reader.until((events) => events.length === 1);
    const oneTime = await makeCheckout(db, shop.merchantId, maker.id);
    const reusable = await makeCheckout(db, shop.merchantId, maker.id, { use: 'reusable', expiresAt: null });
    for (const [checkout, phone] of [
      [oneTime, '256772000100'],
      [reusable, '256772000101'],
      [reusable, '256772000102'],
    ] as const) {
      const made = await record(db, await attempt(db, checkout, { phone }), { kind: 'prompt_accepted' });
      assert.equal((await record(db, made, paid())).state, 'succeeded');
    }
    const declined = await attempt(db, reusable);
    await record(db, declined, { kind: 'declined', failureCode: 'wrong_pin' });
    await collect(shop.merchantId);
    await db.withTransaction((tx) => cancelCheckout(tx, reusable.id, new Date()));
    await reader.until(() => updatesOf(reader).includes(`${reusable.id} cancelled`));
    const ofCheckouts = reader.events.filter(({ data }) => data['kind'] === 'checkout');
    assert.deepEqual(
      ofCheckouts.map(({ data }) => [data['id'], data['state']]),
      [
        [oneTime.id, 'open'],
        [reusable.id, 'open'],
        [oneTime.id, 'completed'],
        [reusable.id, 'open'],
        [reusable.id, 'open'],
        [reusable.id, 'cancelled'],
      ],
    );
  });

  /** A stream from a server of its own, which is there. */
  async function connectToChild() {
    const port = await freePort();
    const overrides = { MALIPO_ROLES: 'api', MALIPO_HTTP_PORT: String(port), MALIPO_METRICS_PORT: '0' };
    const child = await startServerChild(testEnv, { overrides });
    const reader = await connect(browser, {}, `http://127.0.0.1:${port}`);
    await reader.until((events) => events.length === 1);
    return { child, reader };
  }

  it('continues in another process after the killed one, without loss or repetition', async () => {
    const { child, reader: first } = await connectToChild();
    const before = await collect();
    await first.until(() => updatesOf(first).includes(`${before.id} succeeded`));
    await child.kill();
    await first.ended;
    const meanwhile = await Promise.all([collect(), collect(), collect()]);
    const second = await connect(browser, { 'last-event-id': first.lastId() });
    await second.until(() => meanwhile.every(({ id }) => updatesOf(second).includes(`${id} succeeded`)));
    const after = await collect();
    await second.until(() => updatesOf(second).includes(`${after.id} succeeded`));
    assert.deepEqual(second.events[0]?.data, { resumed: true });
    const expected = [...meanwhile, after].flatMap(({ id }) => statesOf(id)).sort();
    assert.deepEqual(updatesOf(second).sort(), expected);
  });

  it('continues from a query too, even from the middle of a transaction’s changes', async () => {
    const reader = await connect();
    await reader.until((events) => events.length === 1);
    const [one, other] = [newCollection(testEnv.merchant.id), newCollection(testEnv.merchant.id)];
    await testEnv.db.withTransaction(async (tx) => {
      for (const collection of [one, other]) await insertCollection(tx, collection);
    });
    await reader.until(() => updatesOf(reader).length === 2);
    const { id } = reader.events.find(({ data }) => data['id'] === one.id)!;
    const second = await connect(browser, {}, testEnv.baseUrl, `?after=${id}`);
    await second.until(() => updatesOf(second).length > 0);
    assert.deepEqual(updatesOf(second), [`${other.id} initiated`]);
  });

  it('reports unknown missed updates if the place is too old, invented, or of another database', async () => {
    const { xid } = await readEnd(testEnv.db);
    const aged = writePlace({ xid, id: 0n }, new Date(Date.now() - 24 * 3_600_000));
    const beyond = writePlace({ xid: xid + 1_000_000n, id: 0n }, new Date());
    for (const place of [aged, beyond, 'nonsense']) {
      const reader = await connect(browser, { 'last-event-id': place });
      await reader.until((events) => events.length === 1);
      assert.deepEqual(reader.events[0]?.data, { resumed: false }, place);
      reader.close();
    }
  });

  it('misses nothing that was written first and committed last', async () => {
    const { db, merchant } = testEnv;
    const reader = await connect();
    await reader.until((events) => events.length === 1);
    let commit = (): void => undefined;
    const mayCommit = new Promise<void>((resolve) => (commit = resolve));
    let written = (): void => undefined;
    const isWritten = new Promise<void>((resolve) => (written = resolve));
    const slow = newCollection(merchant.id);
    const under = db.withTransaction(async (tx) => {
      await insertCollection(tx, slow);
      written();
      await mayCommit;
    });
    await isWritten;
    const start = await readEnd(db);
    const fast = await collect();
    // The end stays before the transaction in progress, although a later one is committed.
    const end = await readEnd(db);
    const { updates } = await readUpdates(db, [merchant.id], { after: { xid: 0n, id: 0n }, end }, 1000);
    assert.ok(!updates.some(({ objectId }) => objectId === fast.id || objectId === slow.id));
    assert.equal(end.xid, start.xid);
    commit();
    await under;
    await reader.until(() => updatesOf(reader).includes(`${fast.id} succeeded`));
    assert.deepEqual(updatesOf(reader), [`${slow.id} initiated`, ...statesOf(fast.id)]);
  });

  it('orders transactions by number and not as text, from page to page', async () => {
    const { db } = testEnv;
    const shop = await makeShop(db, 0n);
    const insert = `INSERT INTO state_changes (xid, merchant_id, kind, object_id, to_state)
                    SELECT x::text::xid8, $1, 'payout', x::text, 'queued' FROM unnest($2::int[]) AS x`;
    await db.pool.query(insert, [shop.merchantId, [9, 100, 10, 99, 8]]);
    const found: string[] = [];
    for (let after: Place = { xid: 0n, id: 0n }; after.xid < 1000n;) {
      const page = await readUpdates(db, [shop.merchantId], { after, end: { xid: 1000n, id: 0n } }, 2);
      found.push(...page.updates.map(({ objectId }) => objectId));
      after = page.next;
    }
    assert.deepEqual(found, ['8', '9', '10', '99', '100']);
  });

  it('ends when the session ends, and when the roles change', async () => {
    const { person, browser: leaving } = await enter(testEnv, testEnv.merchant.id, ['viewer']);
    const reader = await connect(leaving);
    await reader.until((events) => events.length === 1);
    assert.equal((await leaving.call('DELETE', '/v1/console/session')).status, 204);
    await reader.ended;
    assert.equal((await connect(leaving)).status, 401);
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    const promoted = await connect(await logIn(testEnv, person));
    await promoted.until((events) => events.length === 1);
    const path = `/v1/console/members/${person.id}`;
    const changed = await owner.call('PATCH', path, { json: { roles: ['developer'] } });
    assert.equal(changed.status, 200, changed.text);
    await promoted.ended;
  });

  it('is refused to a session that has too many, and to everybody when the process has', async () => {
    const crowded = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    const statuses = [];
    for (let i = 0; i < 9; i++) statuses.push((await connect(crowded)).status);
    assert.deepEqual(statuses, [...Array<number>(8).fill(200), 429]);
    open.shift()?.close();
    const streams = createLiveStreams({
      db: testEnv.db,
      log: createLog({ level: 'silent', process: 'test' }),
      maxStreams: 0,
    });
    assert.throws(() => streams.open({} as never, ''), /No more streams/);
  });

  it('sends the place of an idle reader, and ends the response to HEAD', async () => {
    const session = { id: 'ses', person: { merchantId: testEnv.merchant.id }, tokenSha256: Buffer.alloc(32) } as never;
    const log = createLog({ level: 'silent', process: 'test' });
    const quiet = createLiveStreams({
      db: testEnv.db,
      log,
      pollEveryMs: 10,
      heartbeatEveryMs: 20,
      checkSessionsEveryMs: 1e9,
    });
    const output = quiet.open(session, '');
    let text = '';
    for await (const chunk of output) {
      text += String(chunk);
      if (text.includes(': still here')) break;
    }
    assert.match(
      text,
      /^id: \d+-0-\d+\nretry: 2000\nevent: ready\ndata: \{"resumed":false\}\n\nid: \d+-0-\d+\n: still here\n\n/,
    );
    quiet.close();
    const head = await fetch(`${testEnv.baseUrl}${PATH}`, { method: 'HEAD', headers: { cookie: browser.cookie } });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
  });

  it('disconnects a reader that is too slow, which continues later without loss', () => {
    const log = createLog({ level: 'silent', process: 'test' });
    const streams = createLiveStreams({ db: testEnv.db, log, pollEveryMs: 10, heartbeatEveryMs: 0 });
    const session = { id: 'ses', person: { merchantId: testEnv.merchant.id }, tokenSha256: Buffer.alloc(32) } as never;
    const output = streams.open(session, '');
    output.push('x'.repeat(256 * 1024));
    return new Promise<void>((resolve) => {
      output.once('close', () => {
        streams.close();
        resolve();
      });
    });
  });

  it('ends in an orderly way when the server stops, and does not hold it up', async () => {
    const { child, reader } = await connectToChild();
    const exit = await child.stop();
    await reader.ended;
    assert.equal(exit.code, 0);
  });
});
