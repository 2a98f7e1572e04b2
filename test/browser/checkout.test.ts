// The pages of checkouts in a real browser: with scripts and without, on a phone 320 pixels wide, in light and dark.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { makeCheckout } from '../db/payments/checkouts.ts';
import { checkoutMaker, openPayer, type MakeCheckout } from '../api/pay/payer.ts';
import { decideAtSandbox, phoneFor, promptsRaised, sandboxTransactions } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { addPerson } from '../support/people.ts';
import { closePage, openConsole, openPage, useChromium } from './chromium.ts';
import { SCHEMES, useInspector } from './inspect.ts';

const PHONE_SCREEN = { width: 320, height: 640 };

describe('a checkout in a browser', function () {
  this.timeout(400_000);
  const testEnv = useTestEnvironment({
    // A person reads the page meanwhile, on a machine that is busy.
    environment: { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_PROMPT_DEADLINE_MS: '120000' },
  });
  const chromium = useChromium();
  const inspector = useInspector('pay', ['best-practice']);
  let make: MakeCheckout;
  before(async () => {
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

  async function inspect(page: Page, name: string): Promise<void> {
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await inspector.inspect(page, `${name}-${colorScheme}`), []);
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

  it('is followed in the console: made, paid, expired and cancelled without a reload', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    const list = await openConsole(testEnv, chromium.browser, person, { path: '/checkouts?reference=LIVE-1' });
    await list.getByText('No checkout fits.').waitFor();
    const { id, path } = await make({ reference: 'LIVE-1', use: 'reusable' });
    const row = list.getByRole('row', { name: /LIVE-1/ });
    await row.getByText('open').waitFor();
    const details = await openConsole(testEnv, chromium.browser, person, { path: `/checkouts/${id}` });
    await details.getByText('not yet').waitFor();
    const payer = openPayer(testEnv);
    await payer.until(await payer.attempt(path, phoneFor('000')), 'Paid');
    await details.getByText('once', { exact: true }).waitFor();
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    await details.getByRole('link', { name: 'In the list of collections' }).click();
    await details.getByRole('row', { name: /LIVE-1/ }).waitFor();
    assert.equal(await details.getByRole('row').count(), 2, 'the head, and the one collection');
    await details.goBack();
    await list.evaluate('window.isSamePage = true');
    await details.getByRole('button', { name: 'Cancel it…' }).click();
    await details.getByRole('button', { name: 'Cancel the checkout' }).click();
    await row.getByText('cancelled').waitFor();
    // Sooner than anybody may ask for.
    const expiresAt = new Date(Date.now() + 10_000);
    await makeCheckout(testEnv.db, testEnv.merchant.id, person.id, { reference: 'LIVE-1', expiresAt });
    await list
      .getByRole('row', { name: /LIVE-1/ })
      .getByText('expired')
      .waitFor({ timeout: 120_000 });
    assert.equal(await list.evaluate('window.isSamePage'), true);
    await closePage(details);
    await closePage(list);
  });

  it('says what is the matter where nothing can be paid', async () => {
    const page = await open(`/pay/${'0'.repeat(32)}`, true);
    await page.getByRole('heading', { name: 'There is no such payment page' }).waitFor();
    await inspect(page, 'unknown');
    await closePage(page);
  });
});
