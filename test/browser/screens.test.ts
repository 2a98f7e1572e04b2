// Every screen of the console, in both colour schemes, on a desktop and on a phone: nothing that keeps somebody from using it, and a
// picture of each in var/screenshots.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { pay, untilState } from '../support/payments.ts';
import { fund, requestPayout } from '../support/payouts.ts';
import { addPerson, logIn, type TestPerson } from '../support/people.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { closePage, openConsole, openPage, useChromium } from './chromium.ts';

const FOLDER = join(findProjectRoot(), 'var', 'screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const VIEWS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
};

describe('the screens of the console', function () {
  // A browser, on a machine that is busy with other tests.
  this.timeout(600_000);
  const testEnv = useTestEnvironment();
  const chromium = useChromium();
  const pictures: string[] = [];
  let person: TestPerson;
  let paths: readonly string[];

  before(async () => {
    await mkdir(FOLDER, { recursive: true });
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
  after(async () => {
    const images = pictures.map(
      (name) => `<figure><img src="${name}" alt=""><figcaption>${name}</figcaption></figure>`,
    );
    await writeFile(join(FOLDER, 'index.html'), `<!doctype html><title>Screens</title>${images.join('\n')}`);
  });

  async function inspect(page: Page, name: string): Promise<string[]> {
    await page.evaluate(AXE);
    const found = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify({ runOnly: STANDARD })})`);
    pictures.push(`${name}.png`);
    await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
    const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
    return [
      ...found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name}: ${id}: ${html.slice(0, 200)}`)),
      ...(isWide === true ? [`${name}: scrolls sideways`] : []),
    ];
  }

  /** In every view, without loading the page again. */
  async function inspectAll(page: Page, name: string): Promise<string[]> {
    const found: string[] = [];
    for (const [device, viewport] of Object.entries(VIEWS)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
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
    assert.deepEqual(await inspectAll(page, 'log-in'), []);
    await closePage(page);
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
