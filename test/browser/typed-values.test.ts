// Amounts and phones in a real browser, as people type and paste them: read as they are meant, or refused while they are typed.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { checkoutMaker, type MakeCheckout } from '../api/pay/payer.ts';
import { API_ONLY } from '../api/responses.ts';
import { fund } from '../support/payouts.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { closePage, describeInBrowser, openConsole, openPage } from './chromium.ts';
import { useInspector } from './inspect.ts';

const BOTH = 'This can be read as 1,500.50 or as 150,050.';

describeInBrowser('typed text in the console', API_ONLY, (testEnv, chromium) => {
  let person: TestPerson;
  before(async () => {
    person = await addPerson(testEnv, testEnv.merchant.id, ['owner', 'admin', 'maker']);
    await fund(testEnv, testEnv.merchant, 5_000_000);
  });
  const open = (path: string) => openConsole(testEnv, chromium.browser, person, { path });

  it('is no payout while its amount has two readings, and the one of its phone when it is pasted', async () => {
    const page = await open('/payouts/new');
    await page.getByLabel('Phone of the payee').fill('\u202a+256 (0)772–000 100\u202c');
    await page.getByLabel('Amount in UGX').fill('1500,50');
    await page.getByText(BOTH).waitFor();
    await page.getByLabel('Reference').fill('SAL-1');
    assert.ok(await page.getByRole('button', { name: 'Check it' }).isDisabled());
    await page.getByLabel('Amount in UGX').fill('1 500');
    await page.getByLabel('Phone of the payee').fill('0772 000 10');
    await page.getByText('This is not a mobile number of Uganda.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Check it' }).isDisabled());
    await page.getByLabel('Phone of the payee').fill('\u202a+256 (0)772–000 100\u202c');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('one thousand five hundred UGX').waitFor();
    await page.getByText('256 772 000 100').waitFor();
    await closePage(page);
  });

  it('is no checkout, no limit and no filter while its amount has two readings', async () => {
    const checkout = await open('/checkouts/new');
    await checkout.getByLabel('Amount in UGX').fill('1500,50');
    await checkout.getByText(BOTH).waitFor();
    await checkout.getByLabel('Reference').fill('INV-1');
    await checkout.getByRole('button', { name: 'Make the checkout' }).click();
    assert.equal(new URL(checkout.url()).pathname, '/console/checkouts/new');
    await closePage(checkout);
    const policy = await open('/policy');
    await policy.getByRole('button', { name: /^Change/ }).click();
    await policy.getByLabel('Two approvers above, in UGX').fill('1500,50');
    await policy.getByText(BOTH).waitFor();
    assert.ok(await policy.getByRole('button', { name: 'Change it' }).isDisabled());
    await closePage(policy);
    const list = await open('/payouts');
    await list.getByLabel('From (UGX)').fill('1500,50');
    await list.getByText(BOTH).waitFor();
    await list.getByLabel('From (UGX)').fill('1,500');
    await list.waitForURL(/amount_from=1500$/);
    await list.getByLabel('Phone').fill('0772 000 100');
    await list.waitForURL(/phone=256772000100/);
    await closePage(list);
  });
});

describeInBrowser('a link to the console', API_ONLY, (testEnv, chromium) => {
  let person: TestPerson;
  before(async () => {
    person = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
  });

  it('shows an invalid amount with its refusal instead of an empty window', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/payouts?amount_from=abc' });
    await page.getByLabel('From (UGX)').waitFor();
    assert.equal(await page.getByLabel('From (UGX)').inputValue(), 'abc');
    await page.getByRole('alert').waitFor();
    await page.context().close();
  });

  it('leads to a page that fails, and from there to every other', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/keys' });
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    // No answer that the service gives makes a page fail.
    await page.route('**/v1/console/ledger/entries*', (route) =>
      route.fulfill({ json: { data: [{}], has_more: false } }),
    );
    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await page.context().close();
  });
});

describeInBrowser('a number of two countries at a checkout', API_ONLY, (testEnv, chromium) => {
  const inspector = useInspector('pay', ['best-practice']);
  let make: MakeCheckout;
  before(async () => {
    ({ make } = await checkoutMaker(testEnv, (await testEnv.addMerchant('XOF')).id));
  });

  for (const javaScriptEnabled of [true, false]) {
    it(`is asked about, ${javaScriptEnabled ? 'with' : 'without'} scripts, and paid by the one that is chosen`, async () => {
      const { path } = await make();
      const url = `${testEnv.baseUrl}${path}`;
      const viewport = { width: 320, height: 640 };
      const page = await openPage(chromium.browser, url, { viewport, javaScriptEnabled, locale: 'en-BJ' });
      await pay(page, '01 97 12 34 56');
      await page.getByText('This number exists in more than one country.').waitFor();
      if (javaScriptEnabled) assert.deepEqual(await inspector.inspect(page, 'number-of-two-countries'), []);
      // The browser sends no form without an answer.
      await page.getByRole('button', { name: /^Pay / }).click();
      assert.equal(page.url(), url);
      await page.getByLabel('Benin, +2290197123456').check();
      await page.getByRole('button', { name: /^Pay / }).click();
      await page.waitForURL(/\/pay\/\w{32}\/\w{32}/);
      const { rows } = await testEnv.db.pool.query<{ phone: string }>(
        "SELECT phone FROM payments WHERE kind = 'collection' ORDER BY id DESC",
      );
      assert.deepEqual(rows[0], { phone: '2290197123456' });
      await closePage(page);
    });
  }

  async function pay(page: Page, typed: string): Promise<void> {
    await page.getByLabel('Your mobile-money number').fill(typed);
    await page.getByRole('button', { name: /^Pay / }).click();
  }
});
