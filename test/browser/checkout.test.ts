// The pages of checkouts in a real browser: with scripts and without, on a phone 320 pixels wide, in light and dark.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { makeCheckout } from '../db/payments/checkouts.ts';
import { checkoutMaker, openPayer, type MakeCheckout } from '../api/pay/payer.ts';
import { decideAtSandbox, promptsRaised, sandboxTransactions } from '../support/sandbox-operator.ts';
import { phoneFor } from '../support/payments.ts';
import { eventually } from '../support/test-environment.ts';
import { addPerson } from '../support/people.ts';
import { closePage, describeInBrowser, openConsole, openPage } from './chromium.ts';
import { SCHEMES, useInspector } from './inspect.ts';

const PHONE_SCREEN = { width: 320, height: 640 };

type ShownFigure = { readonly text: string; readonly lines: number; readonly isWithin: boolean };
/** For every figure: the number of its lines, and whether it is visible. */
const FIGURES_SCRIPT = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (const text of FIGURES)
      for (let at = node.data.indexOf(text); at >= 0; at = node.data.indexOf(text, at + 1)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + text.length);
        const boxes = [...range.getClientRects()];
        const isWithin = boxes.every(({ left, right }) => left >= 0 && right <= innerWidth);
        found.push({ text, lines: new Set(boxes.map(({ top }) => top)).size, isWithin });
      }
  return found;
})()`;

const PATIENT = {
  timeoutMs: 400_000,
  // A person reads the page meanwhile, on a machine that is busy.
  environment: { MALIPO_PROMPT_WINDOW_MS: '120000', MALIPO_PROMPT_DEADLINE_MS: '120000' },
};

describeInBrowser('a checkout in a browser', PATIENT, (testEnv, chromium) => {
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
    await page.getByRole('link', { name: 'Back to Test merchant (shop.example)' }).waitFor();
    await inspect(page, 'paid');
    await page.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await inspect(page, 'receipt');
    await closePage(page);
  });

  it('keeps every figure on one line, and the merchant’s words apart, however long they are and however large the letters', async () => {
    const words = { reference: `INVOICE-${'0'.repeat(92)}`, description: 'W'.repeat(120) };
    const { path } = await make({ amount: 4_999_999, ...words });
    const phone = phoneFor('099');
    const masked = `••• ${phone.slice(-3)}`;
    const page = await open(path, true);
    const check = async (name: string, figures: readonly string[]) => {
      for (const fontSize of ['', '200%']) {
        await page.evaluate(`document.documentElement.style.fontSize = '${fontSize}'`);
        const shown = await page.evaluate<ShownFigure[]>(FIGURES_SCRIPT.replace('FIGURES', JSON.stringify(figures)));
        assert.deepEqual(
          shown.filter(({ lines, isWithin }) => lines !== 1 || !isWithin),
          [],
          `${name} ${fontSize}`,
        );
        for (const figure of figures)
          assert.ok(
            shown.some(({ text }) => text === figure),
            `${name} shows ${figure}`,
          );
        assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, name);
      }
      await page.evaluate(`document.documentElement.style.fontSize = ''`);
    };
    const ofMerchant = page.getByRole('region', { name: 'Written by Test merchant' });
    const checkWords = async () => {
      for (const text of Object.values(words)) {
        assert.equal(await ofMerchant.getByText(text).count(), 1);
        assert.equal(await page.locator('main').getByText(text).count(), 1);
      }
    };
    await check('the form', ['UGX\u00a04,999,999', '0772 123456']);
    await inspector.picture(page, 'long-form');
    await checkWords();
    await pressPay(page, phone);
    await page.getByRole('heading', { name: 'Approve it on your phone' }).waitFor();
    await check('the prompt', ['UGX\u00a04,999,999', masked, '*165#']);
    await page.getByRole('link', { name: 'Français' }).click();
    await page.getByRole('heading', { name: 'Approuvez sur votre téléphone' }).waitFor();
    await check('the prompt in French', ['UGX\u00a04\u00a0999\u00a0999', masked]);
    await page.getByRole('link', { name: 'English' }).click();
    await approve(phone);
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    await check('paid', ['UGX\u00a04,999,999']);
    await page.getByRole('link', { name: 'Receipt' }).click();
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    await check('the receipt', ['UGX\u00a04,999,999', masked]);
    await checkWords();
    await inspector.picture(page, 'long-receipt');
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
    await list.getByText('No checkout matches.').waitFor();
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

  it('explains why nothing can be paid', async () => {
    const page = await open(`/pay/${'0'.repeat(32)}`, true);
    await page.getByRole('heading', { name: 'There is no such payment page' }).waitFor();
    await inspect(page, 'unknown');
    await closePage(page);
  });
});
