// The pages of checkouts in a real browser: with scripts and without, on a phone 320 pixels wide, in light and dark.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { checkoutMaker, type MakeCheckout } from '../api/pay/payer.ts';
import { decideAtSandbox, phoneFor, promptsRaised, sandboxTransactions } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { closePage, openPage, useChromium } from './chromium.ts';

const FOLDER = join(findProjectRoot(), 'var', 'screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const PHONE_SCREEN = { width: 320, height: 640 };

describe('a checkout in a browser', function () {
  this.timeout(400_000);
  const testEnv = useTestEnvironment({
    // A person reads the page meanwhile, on a machine that is busy.
    environment: { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_PROMPT_DEADLINE_MS: '120000' },
  });
  const chromium = useChromium();
  let make: MakeCheckout;
  before(async () => {
    await mkdir(FOLDER, { recursive: true });
    ({ make } = await checkoutMaker(testEnv));
  });

  const open = (path: string, javaScriptEnabled: boolean) =>
    openPage(chromium.browser, `${testEnv.baseUrl}${path}`, {
      viewport: PHONE_SCREEN,
      javaScriptEnabled,
      locale: 'en-UG',
    });

  async function pressPay(page: Page, phone: string): Promise<void> {
    await page.getByLabel('Your mobile-money number').fill(`0${phone.slice(3)}`);
    await page.getByRole('button', { name: /^Pay / }).click();
    await page.waitForURL(/\/pay\/\w{32}\/\w{32}/);
  }

  async function approve(phone: string): Promise<void> {
    const reference = await eventually('the request on the phone', async () => {
      const [transaction] = await sandboxTransactions(testEnv, phone);
      return transaction?.operatorReference;
    });
    await decideAtSandbox(testEnv, 'handset', { reference, choice: 'approve', pin: '1234' });
  }

  /** What somebody who cannot see it, or has a small screen, would stumble over. */
  async function inspect(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(AXE);
      const found = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify({ runOnly: STANDARD })})`);
      const violations = found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
      await page.screenshot({ path: join(FOLDER, `pay-${name}-${colorScheme}.png`), fullPage: true });
      assert.deepEqual(violations, [], `${name} ${colorScheme}`);
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      assert.equal(isWide, false, `${name} scrolls sideways`);
    }
  }

  it('is paid with scripts: the page changes by itself, without being loaded again', async () => {
    const { path } = await make({ description: 'Two bags of maize', return_url: 'https://shop.example/1' });
    const page = await open(path, true);
    await inspect(page, 'form');
    const phone = phoneFor('099');
    await pressPay(page, phone);
    await page.getByRole('heading', { name: 'Approve it on your phone' }).waitFor();
    await page.evaluate('window.isSamePage = true');
    await inspect(page, 'prompted');
    const first = await page.getByRole('timer').textContent();
    await eventually('the countdown to count', async () => (await page.getByRole('timer').textContent()) !== first);
    await approve(phone);
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
    await page.getByRole('link', { name: 'Back to Test merchant' }).waitFor();
    await inspect(page, 'paid');
    await page.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await inspect(page, 'receipt');
    await closePage(page);
  });

  it('is paid without scripts: the page loads itself again, and when a person presses', async () => {
    const { path } = await make();
    const page = await open(path, false);
    await page.getByRole('button', { name: /^Pay / }).waitFor();
    const phone = phoneFor('099');
    await pressPay(page, phone);
    await page.getByRole('heading', { name: 'Approve it on your phone' }).waitFor();
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('heading', { name: 'Approve it on your phone' }).waitFor();
    await approve(phone);
    // Nobody presses anything.
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    assert.equal(await promptsRaised(testEnv, phone), 1);
    await closePage(page);
  });

  for (const hasScripts of [true, false]) {
    it(`is tried again ${hasScripts ? 'with' : 'without'} scripts, and raises one request however often somebody presses`, async () => {
      const { path } = await make({ use: hasScripts ? 'one_time' : 'reusable' });
      const page = await open(path, hasScripts);
      await page.getByLabel('Your mobile-money number').fill('0414');
      await page.getByRole('button', { name: /^Pay / }).click();
      await page.getByRole('alert').waitFor();
      if (hasScripts) await inspect(page, 'wrong-number');
      const phone = phoneFor('002');
      await page.getByLabel('Your mobile-money number').fill(`0${phone.slice(3)}`);
      await page.getByRole('button', { name: /^Pay / }).dblclick();
      await page.getByRole('heading', { name: 'Not paid' }).waitFor();
      if (hasScripts) await inspect(page, 'failed');
      assert.equal(await promptsRaised(testEnv, phone), 1);
      await page.getByRole('button', { name: /^Send a new request/ }).dblclick();
      await eventually('a second request', async () => (await promptsRaised(testEnv, phone)) === 2);
      await page.getByRole('heading', { name: 'Not paid' }).waitFor();
      await page.getByRole('link', { name: 'Use another number' }).click();
      await page.getByRole('link', { name: 'Français' }).click();
      await page.getByLabel('Votre numéro mobile money').fill(`0${phoneFor('000').slice(3)}`);
      await page.getByRole('button', { name: /^Payer / }).click();
      await page.getByRole('heading', { name: 'Payé', exact: true }).waitFor();
      assert.equal(await promptsRaised(testEnv, phone), 2);
      await closePage(page);
    });
  }

  it('says what is the matter where nothing can be paid', async () => {
    const page = await open(`/pay/${'0'.repeat(32)}`, true);
    await page.getByRole('heading', { name: 'There is no such payment page' }).waitFor();
    await inspect(page, 'unknown');
    await closePage(page);
  });
});
