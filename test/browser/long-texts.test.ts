// The longest texts that merchants, their people and payers can choose, in a real browser: nothing that a decision needs leaves its place.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { phoneFor } from '../support/payments.ts';
import { fund } from '../support/payouts.ts';
import { addPerson, logIn, type TestPerson, enter } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { eventually } from '../support/test-environment.ts';
import { closePage, describeInBrowser, openConsole } from './chromium.ts';
import { textOutOfSight } from './out-of-sight.ts';

const SIZES = [360, 1024, 1440].map((width) => ({ width, height: 900 }));
const REFERENCE = `INVOICE-${'0'.repeat(92)}`;
const DESCRIPTION = 'W'.repeat(120);
const METADATA = { 'Approved by': 'The director', State: 'succeeded', ['K'.repeat(40)]: 'V'.repeat(500) };
const NAME = 'N'.repeat(100);
const URL_START = 'https://shop.example/';
const FILE_NAME = `${'f'.repeat(200)}.csv`;
const DECIDING = ['Payee', 'Amount', 'Look twice', 'Made by'];

describeInBrowser('the longest texts in the console', { timeoutMs: 600_000 }, (testEnv, chromium) => {
  let owner: TestPerson;
  let maker: TestPerson;
  let approver: TestPerson;
  let ofMaker: Browser;
  let paths: readonly string[];

  async function create(path: string, json: Readonly<Record<string, unknown>>): Promise<string> {
    const request = { reference: REFERENCE, description: DESCRIPTION, metadata: METADATA, ...json };
    const response = await ofMaker.call('POST', path, { idempotencyKey: randomUUID(), json: request });
    assert.ok([201, 202].includes(response.status), response.text);
    return String(response.json['id']);
  }
  const payout = (phone: string, amount = 4_999_999) => create('/v1/api/payouts', { phone, amount });

  before(async () => {
    const { id: merchantId } = testEnv.merchant;
    const longest = (roles: Parameters<typeof addPerson>[2]) =>
      addPerson(testEnv, merchantId, roles, {
        name: NAME,
        email: `${'e'.repeat(48)}${roles.join('')}@${'d'.repeat(60)}.example`,
      });
    [owner, maker, approver] = [
      await longest(['owner']),
      await longest(['maker', 'developer']),
      await longest(['approver']),
    ];
    ofMaker = await logIn(testEnv, maker);
    await fund(testEnv, testEnv.merchant, 90_000_000);
    const endpointUrl = URL_START + 'u'.repeat(2048 - URL_START.length);
    for (const [path, json] of [
      ['/v1/console/keys', { name: NAME, scopes: ['collections:read', 'collections:write', 'balance:read'] }],
      ['/v1/console/endpoints', { url: endpointUrl, description: 'D'.repeat(200) }],
    ] as const) {
      const response = await ofMaker.call('POST', path, { json });
      assert.equal(response.status, 201, response.text);
    }
    // Each has all warnings that it can have.
    const phone = phoneFor('000');
    const payouts = [await payout(phone), await payout(phone)];
    const checkout = await create('/v1/console/checkouts', {
      amount: 5_000_000,
      return_url: URL_START + 'r'.repeat(1000 - URL_START.length),
    });
    const collection = await create('/v1/api/collections', { phone: phoneFor('000'), amount: 5_000_000 });
    await eventually('the collection to succeed', async () => {
      const { json } = await ofMaker.call('GET', `/v1/api/collections/${collection}`);
      return json['state'] === 'succeeded';
    });
    const { json: refund } = await ofMaker.call('POST', `/v1/console/collections/${collection}/reversal`, {
      idempotencyKey: randomUUID(),
    });
    const rejected = await payout(phoneFor('000'), 1000);
    const browser = await logIn(testEnv, approver);
    const reason = 'R'.repeat(200);
    const { status } = await browser.call('POST', `/v1/console/payouts/${rejected}/reject`, { json: { reason } });
    assert.equal(status, 200);
    await proposeChanges();
    const ids = await Promise.all(
      ['endpoints', 'deliveries', 'events'].map(async (table) => {
        const { rows } = await testEnv.db.pool.query<{ id: string }>(`SELECT id FROM ${table} LIMIT 1`);
        return `/${table}/${rows[0]!.id}`;
      }),
    );
    paths = [
      ...['', '/collections', '/payouts', '/refunds', '/checkouts', '/statement', '/approvals?show=others'],
      ...[
        '/approvals?show=decided',
        '/keys',
        '/endpoints',
        '/deliveries',
        '/events',
        '/requests',
        '/policy',
        '/members',
        '/audit',
        '/security',
      ],
      ...[
        `/collections/${collection}`,
        `/payouts/${payouts[0]}`,
        `/payouts/${rejected}`,
        `/refunds/${String(refund['id'])}`,
      ],
      ...[`/checkouts/${checkout}`, ...ids],
    ];
  });

  /** Each kind of what waits for a second person: of a member's roles, of the policy, and an invitation. */
  async function proposeChanges(): Promise<void> {
    const { id: merchantId } = testEnv.merchant;
    const { browser: ofSecond } = await enter(testEnv, merchantId, ['owner'], {
      name: NAME,
      email: `${'s'.repeat(60)}@${'d'.repeat(60)}.example`,
    });
    const email = `${'i'.repeat(60)}@${'d'.repeat(60)}.example`;
    for (const [method, path, json, status] of [
      ['PATCH', `/v1/console/members/${maker.id}`, { roles: ['maker', 'developer', 'approver'] }, 202],
      ['PATCH', '/v1/console/policy', { approver_daily_limit: 1 }, 200],
      ['PATCH', '/v1/console/policy', { approver_daily_limit: 900_000_000 }, 202],
      ['POST', '/v1/console/invitations', { email, roles: ['approver'] }, 202],
    ] as const) {
      const response = await ofSecond.call(method, path, { json });
      assert.equal(response.status, status, response.text);
    }
  }

  async function assertNothingOutOfSight(page: Page, name: string): Promise<void> {
    const found: string[] = [];
    for (const size of SIZES) {
      await page.setViewportSize(size);
      found.push(...(await textOutOfSight(page)).map((text) => `${name} at ${size.width}: ${text}`));
    }
    assert.deepEqual(found, []);
  }

  /** The boxes of what decides, of the first row; each lies inside of `around`, and before the merchant's reference. */
  async function assertDecidingFirst(around: Locator, name: string): Promise<void> {
    const row = around.locator('tr[data-row]').first();
    const boxOf = async (locator: Locator) => {
      const box = await locator.boundingBox();
      assert.ok(box !== null && box.width > 0, name);
      return { ...box, right: box.x + box.width, bottom: box.y + box.height };
    };
    const [outer, reference] = [await boxOf(around), await boxOf(row.locator('td[data-title="Merchant’s reference"]'))];
    for (const title of DECIDING) {
      const box = await boxOf(row.locator(`td[data-title="${title}"]`));
      assert.ok(box.x >= outer.x && box.right <= outer.right + 1, `${name}: ${title} ends at ${box.right}`);
      assert.ok(box.x < reference.x || box.y < reference.y, `${name}: ${title} stands before the reference`);
    }
  }

  it('leave what decides in its place where payouts are released, and in the question before that', async () => {
    const page = await openConsole(testEnv, chromium.browser, approver, {
      path: '/approvals',
      reducedMotion: 'reduce',
    });
    await page.getByText('The same amount to the same number within a day').first().waitFor();
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await assertDecidingFirst(page.locator('main'), `the list at ${size.width}`);
    }
    await assertNothingOutOfSight(page, 'the list');
    for (const verb of ['Release', 'Reject']) {
      await page.getByRole('checkbox', { name: 'Choose all' }).check();
      await page.getByRole('button', { name: new RegExp(`^${verb} \\d+…`) }).click();
      const dialog = page.getByRole('dialog', { name: verb });
      const button = dialog.getByRole('button', { name: new RegExp(`^${verb} `) });
      await dialog.getByText('The same amount to the same number within a day').first().waitFor();
      for (const size of SIZES) {
        await page.setViewportSize(size);
        await assertDecidingFirst(dialog, `${verb} at ${size.width}`);
        const [inner, outer] = [await button.boundingBox(), await dialog.boundingBox()];
        assert.ok(inner && outer && inner.x + inner.width <= outer.x + outer.width, `the button at ${size.width}`);
      }
      await assertNothingOutOfSight(page, verb);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await closePage(page);
  });

  it('leave everything in sight in every list, statement and page', async () => {
    const page = await openConsole(testEnv, chromium.browser, owner, { reducedMotion: 'reduce' });
    for (const path of paths) {
      await page.goto(`${testEnv.baseUrl}/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('main:not(:has([aria-busy=true]))').waitFor();
      await assertNothingOutOfSight(page, path === '' ? '/' : path);
    }
    await closePage(page);
  });

  it('leave everything in sight in the questions that name them, and in what is found', async () => {
    const page = await openConsole(testEnv, chromium.browser, owner, { reducedMotion: 'reduce' });
    for (const [path, button] of [
      ['/keys', /^Revoke/],
      ['/keys', /^Roll/],
      ['/members', /^Remove/],
      ['/members', /^Change roles/],
      [paths.find((each) => each.startsWith('/endpoints/'))!, 'Delete…'],
      [paths.find((each) => each.startsWith('/checkouts/'))!, 'Cancel it…'],
    ] as const) {
      await page.goto(`${testEnv.baseUrl}/console${path}`);
      await page.getByRole('button', { name: button }).first().click();
      await page.getByRole('dialog').waitFor();
      await assertNothingOutOfSight(page, `${path}: ${String(button)}`);
    }
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1024, height: 900 });
    await page.getByRole('textbox', { name: 'Search' }).fill('INVOICE-');
    await page.getByRole('option').first().waitFor();
    await page.getByText(REFERENCE).first().waitFor();
    assert.deepEqual(await textOutOfSight(page), []);
    await closePage(page);
  });

  it('leave what is wrong, and how much is paid, in its place where payouts come from a file', async () => {
    const page = await openConsole(testEnv, chromium.browser, maker, {
      path: '/payouts/file',
      reducedMotion: 'reduce',
    });
    const rows = [
      `${phoneFor('000')},4999999,${'1'.repeat(100)},${DESCRIPTION}`,
      `0772,1,${'2'.repeat(101)},${'x'.repeat(900)}`,
    ];
    await page.locator('input[type=file]').setInputFiles({
      name: FILE_NAME,
      mimeType: 'text/csv',
      buffer: Buffer.from(['phone,amount,reference,description', ...rows].join('\n')),
    });
    await page.getByRole('heading', { name: 'To be made' }).waitFor();
    await assertNothingOutOfSight(page, 'the checked file');
    await page.getByRole('button', { name: /^Make the one payout/ }).click();
    await page.getByRole('button', { name: 'Make them' }).click();
    await page.getByText('All are made').waitFor();
    await assertNothingOutOfSight(page, 'the results');
    await closePage(page);
  });

  it('are cut when they are very long, and whole on demand', async () => {
    const page = await openConsole(testEnv, chromium.browser, owner, {
      path: paths.find((path) => path.startsWith('/payouts/'))!,
      reducedMotion: 'reduce',
    });
    await page.getByText(`${'V'.repeat(120)}…`).waitFor();
    assert.equal(await page.getByText('V'.repeat(500)).count(), 0);
    await page.getByRole('table', { name: 'Metadata' }).getByRole('button', { name: 'Show all' }).click();
    await page.getByText('V'.repeat(500)).waitFor();
    await assertNothingOutOfSight(page, 'the whole');
    await closePage(page);
  });

  it('name no refund by the merchant’s words alone where it is rejected: amount and phone come first', async () => {
    const page = await openConsole(testEnv, chromium.browser, approver, {
      path: paths.find((path) => path.startsWith('/refunds/'))!,
      reducedMotion: 'reduce',
    });
    await page.getByRole('button', { name: 'Reject…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reject the refund', exact: true });
    const refund = dialog.getByRole('table', { name: 'The refund' });
    await refund.getByRole('row', { name: /^Amount 5,000,000 UGX$/ }).waitFor();
    await refund.getByRole('row', { name: /^Goes back to/ }).waitFor();
    await assertNothingOutOfSight(page, 'the rejection of a refund');
    await closePage(page);
  });

  it('stand apart from what the service says, as the merchant’s own words', async () => {
    const page = await openConsole(testEnv, chromium.browser, owner, { reducedMotion: 'reduce' });
    for (const [prefix, table] of [
      ['/payouts/', 'The payout'],
      ['/collections/', 'The collection'],
      ['/checkouts/', 'The checkout'],
      ['/refunds/', 'The refund'],
    ] as const) {
      await page.goto(`${testEnv.baseUrl}/console${paths.find((path) => path.startsWith(prefix))!}`);
      const own = page.getByRole('region', { name: 'The merchant’s own words' });
      await own.getByText(REFERENCE).waitFor();
      const ofService = page.getByRole('table', { name: table, exact: true });
      for (const text of [REFERENCE, DESCRIPTION, 'The director', 'K'.repeat(40)])
        assert.equal(await ofService.getByText(text).count(), 0, `${table}: ${text}`);
      if (prefix === '/refunds/' || prefix === '/checkouts/') continue;
      assert.equal(await own.getByText(DESCRIPTION).count(), 1);
      const pair = own.getByRole('table', { name: 'Metadata' }).getByRole('row', { name: 'The director' });
      assert.equal(await pair.getByRole('cell').first().innerText(), 'Approved by');
      assert.equal(await own.getByRole('rowheader', { name: 'Approved by' }).count(), 0);
    }
    await closePage(page);
  });
});
