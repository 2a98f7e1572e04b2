// Every screen of the console, in both colour schemes, on a desktop and on a phone: nothing that keeps somebody from using it, and a
// picture of each in var/screenshots.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { pay, untilState } from '../support/payments.ts';
import { fund, requestPayout } from '../support/payouts.ts';
import { addPerson, logIn, PASSWORD, type TestPerson } from '../support/people.ts';
import { closePage, describeInBrowser, openConsole, openPage } from './chromium.ts';
import { SCHEMES, useInspector, VIEWS } from './inspect.ts';

const press = (button: string | RegExp) => (page: Page) => page.getByRole('button', { name: button }).first().click();
const chooseAndPress = (button: RegExp) => async (page: Page) => {
  await page.getByRole('checkbox', { name: 'Choose all' }).check();
  await press(button)(page);
};
const DIALOGS: readonly (readonly [path: string, name: string, ask: (page: Page) => Promise<void>])[] = [
  ['/approvals', 'release', chooseAndPress(/^Release \d/)],
  ['/approvals', 'reject', chooseAndPress(/^Reject \d/)],
  ['/security', 'end-sessions', press('End all others…')],
  ['/keys', 'new-key', press('New API key…')],
  ['/keys', 'roll', press(/^Roll/)],
  ['/endpoints', 'new-endpoint', press('New endpoint…')],
  ['/deliveries', 'replay', press('Replay many…')],
  ['/members', 'invite', press('Invite a person…')],
  ['/members', 'roles', press(/^Change roles/)],
  ['/policy', 'policy', press(/^Change/)],
];

describeInBrowser('the screens of the console', { timeoutMs: 600_000 }, (testEnv, chromium) => {
  const { inspect } = useInspector('console');
  let person: TestPerson;
  let paths: readonly string[];

  before(async () => {
    const merchantId = testEnv.merchant.id;
    person = await addPerson(testEnv, merchantId, ['owner']);
    const maker = await addPerson(testEnv, merchantId, ['maker', 'developer']);
    await fund(testEnv, testEnv.merchant, 1_000_000);
    const collection = await pay(testEnv, '000');
    await untilState(testEnv, collection, 'succeeded');
    const payout = await requestPayout(testEnv, '000', { amount: 12_500 });
    await requestPayout(testEnv, '001', { amount: 7000 });
    const browser = await logIn(testEnv, maker);
    const idempotencyKey = 'refund';
    const refund = await browser.call('POST', `/v1/console/collections/${collection.id}/reversal`, { idempotencyKey });
    assert.equal(refund.status, 202, refund.text);
    const checkout = await browser.call('POST', '/v1/console/checkouts', {
      idempotencyKey: 'checkout',
      json: { amount: 5000, reference: 'INV-7', description: 'Two bags of maize' },
    });
    assert.equal(checkout.status, 201, checkout.text);
    const [endpoint, delivery, event] = await Promise.all(
      ['endpoints', 'deliveries', 'events'].map(async (table) => {
        const { rows } = await testEnv.db.pool.query<{ id: string }>(`SELECT id FROM ${table} LIMIT 1`);
        return rows[0]!.id;
      }),
    );
    paths = [
      '',
      '/collections',
      `/collections/${collection.id}`,
      '/payouts',
      '/payouts/new',
      '/payouts/file',
      `/payouts/${payout.id}`,
      '/approvals',
      '/refunds',
      `/refunds/${String(refund.json['id'])}`,
      '/checkouts',
      '/checkouts/new',
      `/checkouts/${String(checkout.json['id'])}`,
      '/statement',
      '/requests',
      '/keys',
      '/endpoints',
      `/endpoints/${endpoint}`,
      '/deliveries',
      `/deliveries/${delivery}`,
      '/events',
      `/events/${event}`,
      '/members',
      '/policy',
      '/audit',
      '/security',
    ];
  });
  /** In every view, without loading the page again. */
  async function inspectAll(page: Page, name: string): Promise<string[]> {
    const found: string[] = [];
    for (const [device, viewport] of Object.entries(VIEWS)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
        found.push(...(await inspect(page, `${name}-${device}-${colorScheme}`)));
      }
    }
    return found;
  }

  it('can be used by everybody before they are logged in', async () => {
    const page = await openPage(chromium.browser, `${testEnv.baseUrl}/console`, { reducedMotion: 'reduce' });
    await page.getByLabel('E-mail').waitFor();
    const found = await inspectAll(page, 'log-in');
    for (const place of ['invitation', 'recovery']) {
      await page.goto(`${testEnv.baseUrl}/console/${place}#token=from-a-link`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      found.push(...(await inspectAll(page, place)));
    }
    await closePage(page);
    assert.deepEqual(found, []);
  });

  it('are accessible for a person who must still enrol a second factor', async () => {
    const newcomer = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: false });
    const page = await openConsole(testEnv, chromium.browser, newcomer, { reducedMotion: 'reduce' });
    await page.getByText('One thing first').waitFor();
    const found = await inspectAll(page, 'enrolment');
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByLabel('The code that the app shows').waitFor();
    found.push(...(await inspectAll(page, 'enrolment-secret')));
    await closePage(page);
    assert.deepEqual(found, []);
  });

  it('are accessible when they ask for a confirmation', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const [path, name, ask] of DIALOGS) {
      await page.goto(`${testEnv.baseUrl}/console${path}`);
      await ask(page);
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await dialog.locator(':scope:not(:has([aria-label=Loading]))').waitFor();
      found.push(...(await inspectAll(page, `dialog-${name}`)));
    }
    await closePage(page);
    assert.deepEqual(found, []);
  });

  it('can be used by everybody, in light and dark colours, on a desktop and on a phone', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const path of paths) {
      await page.goto(`${testEnv.baseUrl}/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      // Several parts of a page may load at once.
      await page.locator('main:not(:has([aria-busy=true]))').waitFor();
      const name =
        path === ''
          ? 'home'
          : path
              .slice(1)
              .replace(/\/[a-z]{3}_.*$/, '-one')
              .replace('/', '-');
      found.push(...(await inspectAll(page, name)));
    }
    await closePage(page);
    assert.deepEqual(found, []);
  });
});
