// Exports as CSV: complete, harmless, recorded, and read no faster than the caller takes them.
import assert from 'node:assert/strict';
import { csvResponse, type CsvExport } from '../../../src/api/csv-export.ts';
import { COLLECTION_COLUMNS } from '../../../src/api/schemas/payments/csv.ts';
import type { Session } from '../../../src/domain/accounts/session.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { makeCollection, newCollection, oneRow } from '../../db/rows.ts';
import { actedBy, makePayout, makePerson, makeShop } from '../../db/payments/payout-rows.ts';
import { valuesOf } from '../../support/values-of.ts';
import { addPerson, logIn } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY } from '../responses.ts';

describe('an export as CSV', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const linesOf = (text: string) => text.split('\r\n').slice(0, -1);

  async function nameOf(id: string): Promise<string> {
    return (await oneRow<{ name: string }>(testEnv.db, 'SELECT name FROM users WHERE id = $1', [id])).name;
  }

  async function shopWithViewer() {
    const shop = await makeShop(testEnv.db, 1_000_000n);
    return { shop, browser: await logIn(testEnv, await addPerson(testEnv, shop.merchantId, ['viewer'])) };
  }

  it('has all collections that pass the filter, newest first, with formulas that nobody runs', async () => {
    const { shop, browser } = await shopWithViewer();
    const reference = '=HYPERLINK("https://x.example","pay")';
    const collection = await makeCollection(testEnv.db, shop.merchantId, 'failed', { reference, amountMinor: 700n });
    await makeCollection(testEnv.db, shop.merchantId, 'initiated');
    const all = await browser.call('GET', '/v1/console/collections.csv');
    assert.equal(all.status, 200, all.text);
    assert.equal(all.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.match(all.headers.get('content-disposition') ?? '', /^attachment; filename="collections-[0-9-]{10}\.csv"$/);
    assert.equal(linesOf(all.text).length, 4, all.text);
    const failed = await browser.call('GET', '/v1/console/collections.csv?state=failed&phone=256772000100');
    const [head, line = '', ...rest] = linesOf(failed.text);
    assert.deepEqual(rest, []);
    assert.equal(head, Object.keys(COLLECTION_COLUMNS).join(','));
    assert.ok(
      line.startsWith(`${collection.id},`) && line.includes(',failed,700,700,UGX,mtn-momo,256772000100,'),
      line,
    );
    assert.ok(line.includes(`"'=HYPERLINK(""https://x.example"",""pay"")"`), line);
    const row = await assertAudited(testEnv, failed, {
      action: 'collections.exported',
      outcome: 'done',
      subject_id: null,
    });
    assert.deepEqual(row.after, { sort: 'newest', state: 'failed', phone: 'given' });
  });

  it('has payouts with who approved them, and the statement with its balances', async () => {
    const { shop, browser } = await shopWithViewer();
    const payout = await makePayout(testEnv.db, shop, 'succeeded', 5000n);
    const payouts = await browser.call('GET', '/v1/console/payouts.csv');
    const [, line = ''] = linesOf(payouts.text);
    assert.ok(line.startsWith(payout.id), line);
    const [maker, approver] = [await nameOf(shop.maker.userId), await nameOf(shop.approver.userId)];
    assert.ok(line.endsWith(`,${shop.maker.userId},${maker},${shop.approver.userId},${approver},`), line);
    assert.equal((await auditRows(testEnv, payouts))[0]?.action, 'payouts.exported');
    const ledger = await browser.call('GET', '/v1/console/ledger.csv?account=held');
    const cells = linesOf(ledger.text).map((each) => each.split(',').slice(2));
    assert.deepEqual(cells.slice(1), [
      ['held', 'payout_paid', payout.id, 'SAL-1', '-5000', '-5000', '0', '0', 'UGX'],
      ['held', 'payout_held', payout.id, 'SAL-1', '5000', '5000', '5000', '5000', 'UGX'],
    ]);
    assert.equal((await auditRows(testEnv, ledger))[0]?.action, 'ledger.exported');
    const other = await makePayout(testEnv.db, shop, 'queued', 300n);
    const ofOne = await browser.call('GET', `/v1/console/ledger.csv?payment_id=${other.id}&account=held`);
    assert.deepEqual(
      linesOf(ofOne.text)
        .slice(1)
        .map((each) => each.split(',')[4]),
      [other.id],
    );
  });

  it('has the payments of several states, and of those alone', async () => {
    const { shop, browser } = await shopWithViewer();
    for (const state of ['failed', 'initiated', 'expired'] as const)
      await makeCollection(testEnv.db, shop.merchantId, state);
    const statesIn = async (query: string) => {
      const { text } = await browser.call('GET', `/v1/console/collections.csv?${query}`);
      return linesOf(text)
        .slice(1)
        .map((line) => line.split(',')[3]);
    };
    assert.deepEqual(await statesIn('states=failed&states=expired'), ['expired', 'failed']);
    assert.deepEqual(await statesIn('states=failed&state=expired'), []);
  });

  it('has what the list has under the same filters, in the same order', async () => {
    const { shop, browser } = await shopWithViewer();
    for (const amount of [300n, 100n, 200n, 900n]) await makePayout(testEnv.db, shop, 'queued', amount);
    await makePayout(testEnv.db, shop, 'succeeded', 150n);
    const query = `states=queued&amount_to=500&created_by=${shop.maker.userId}&sort=smallest`;
    const { json } = await browser.call('GET', `/v1/console/payouts?${query}`);
    const listed = valuesOf(json['data'] as { id: string; amount: number }[], 'amount');
    assert.deepEqual(listed, [100, 200, 300]);
    const { text } = await browser.call('GET', `/v1/console/payouts.csv?${query}`);
    const amounts = linesOf(text)
      .slice(1)
      .map((line) => Number(line.split(',')[4]));
    assert.deepEqual(amounts, listed);
    const refused = await browser.call('GET', '/v1/console/payouts.csv?amount_to=many');
    assert.equal(refused.status, 400);
  });

  it('reads every page of a list whose pages can be empty', async () => {
    const shop = await makeShop(testEnv.db, 0n);
    const person = await makePerson(testEnv.db, shop.merchantId, ['viewer']);
    const item = newCollection(shop.merchantId);
    const pages = [
      { items: [], next: 1 },
      { items: [item], next: 2 },
      { items: [], next: 3 },
      { items: [item], next: null },
    ];
    const { stream } = await csvResponse<Collection, number>(testEnv.db, {
      ...{
        dataset: 'collections',
        by: actedBy(person),
        session: {} as Session,
        filters: {},
        columns: COLLECTION_COLUMNS,
      },
      readPage: (place) => Promise.resolve(pages[place ?? 0]!),
    });
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(String(chunk));
    assert.equal(linesOf(chunks.join('')).length, 3);
  });

  it('reads no page before the caller has taken what was sent, and none after the caller has gone', async () => {
    const shop = await makeShop(testEnv.db, 0n);
    const person = await makePerson(testEnv.db, shop.merchantId, ['viewer']);
    let pages = 0;
    const item = newCollection(shop.merchantId, { description: 'x'.repeat(100) });
    const what: CsvExport<Collection, string> = {
      ...{
        dataset: 'collections',
        by: actedBy(person),
        session: {} as Session,
        filters: {},
        columns: COLLECTION_COLUMNS,
      },
      readPage: (_before, limit) => {
        pages++;
        return Promise.resolve({ items: Array<Collection>(limit).fill(item), next: item.id });
      },
    };
    const { stream } = await csvResponse(testEnv.db, what);
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    const readSoFar = pages;
    // Nobody takes more: the pages that wait fit into the stream's own buffer.
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(pages <= readSoFar + 2, `${pages} pages were read`);
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy();
    await closed;
    const readAtTheEnd = pages;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(pages, readAtTheEnd);
  });

  it('is refused as an error, and not begun, while it cannot be recorded', async () => {
    const { shop, browser } = await shopWithViewer();
    await testEnv.db.pool.query(
      `ALTER TABLE audit_entries ADD CONSTRAINT no_exports CHECK (action NOT LIKE '%.exported') NOT VALID`,
    );
    try {
      const refused = await browser.call('GET', '/v1/console/payouts.csv');
      assert.equal(refused.status, 500);
      assert.equal(refused.json.error?.code, 'internal_error');
    } finally {
      await testEnv.db.pool.query('ALTER TABLE audit_entries DROP CONSTRAINT no_exports');
    }
    assert.ok(shop.merchantId);
  });
});
