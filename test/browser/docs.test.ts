// The documentation and the sandbox's pages in a real browser: for everybody, from our own origin alone, and what they offer works.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { addressOf, GUIDES } from '../../tools/guides.ts';
import { pay, untilState } from '../support/payments.ts';
import { closePage, describeInBrowser, openPage } from './chromium.ts';
import { SCHEMES, useInspector, VIEWS } from './inspect.ts';

const BALANCE = '/docs/reference#tag/balance/GET/v1/api/balance';

const PATIENT = { timeoutMs: 600_000, environment: { MALIPO_PROMPT_WINDOW_MS: '600000' } };

describeInBrowser('the pages for developers', PATIENT, (testEnv, chromium) => {
  const { inspect, picture } = useInspector('docs');

  /** Collects the addresses of everything that the page asks for from another origin than these. */
  function foreignRequests(page: Page): string[] {
    const own = [testEnv.baseUrl, testEnv.sandbox.url];
    const foreign: string[] = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!own.some((origin) => url.startsWith(`${origin}/`)) && !url.startsWith('data:')) foreign.push(url);
    });
    return foreign;
  }

  /** Opens the pages, and looks at each in every view. It is ready when this is there. */
  async function inspectAll(pages: Readonly<Record<string, string>>, ready: string): Promise<string[]> {
    const findings: string[] = [];
    const page = await openPage(chromium.browser, 'about:blank', { reducedMotion: 'reduce' });
    const foreign = foreignRequests(page);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      for (const [name, url] of Object.entries(pages)) {
        await page.goto(url);
        for (const [device, viewport] of Object.entries(VIEWS)) {
          await page.setViewportSize(viewport);
          await page.locator(ready).first().waitFor();
          // What an anchor scrolls under the page's own bar is pressed elsewhere.
          await page.evaluate('scrollTo(0, 0)');
          findings.push(...(await inspect(page, `${name}-${device}-${colorScheme}`)));
        }
      }
    }
    await closePage(page);
    return [...findings, ...foreign];
  }

  it('are guides that everybody can use, and that load nothing from elsewhere', async () => {
    const pages = GUIDES.map(({ slug }) => [`guide-${slug || 'overview'}`, testEnv.baseUrl + addressOf(slug)] as const);
    assert.deepEqual(await inspectAll(Object.fromEntries(pages), 'h1'), []);
  });

  it('are a reference that everybody can use, and that loads nothing from elsewhere', async () => {
    const pages = { reference: `${testEnv.baseUrl}/docs/reference`, 'reference-balance': testEnv.baseUrl + BALANCE };
    assert.deepEqual(await inspectAll(pages, '#reference h1'), []);
  });

  it('are pages of the sandbox that everybody can use, and that load nothing from elsewhere', async () => {
    const { phone } = await pay(testEnv, '099');
    await untilState(testEnv, await pay(testEnv, '001'), 'failed');
    const sandbox = `${testEnv.sandbox.url}/sandbox`;
    const pages = {
      'sandbox-table': sandbox,
      'sandbox-transactions': `${sandbox}/transactions`,
      'sandbox-phones': `${sandbox}/handset`,
      'sandbox-handset': `${sandbox}/handset?phone=${phone}`,
      'sandbox-operator': `${sandbox}/operator`,
    };
    assert.deepEqual(await inspectAll(pages, 'h1'), []);
  });

  it('copy a block of code at a press, and show it without JavaScript too', async () => {
    const page = await openPage(chromium.browser, `${testEnv.baseUrl}/docs/first-payment`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const block = page.locator('.code').filter({ hasText: '/v1/api/balance' });
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(copied, /^curl -sS "\$MALIPO_BASE_URL\/v1\/api\/balance"/);
    await closePage(page);
    const plain = await openPage(chromium.browser, `${testEnv.baseUrl}/docs/first-payment`, {
      javaScriptEnabled: false,
    });
    await plain.getByText('/v1/api/balance').first().waitFor();
    assert.equal(await plain.getByRole('button').count(), 0);
    await plain.getByRole('link', { name: 'Webhooks' }).first().click();
    await plain.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await closePage(plain);
  });

  it('send a request that works with the key that is typed, without a session, and keep the key nowhere', async () => {
    const page = await openPage(chromium.browser, 'about:blank');
    const foreign = foreignRequests(page);
    // As somebody has it who is logged in to the console: what is tried here must not be done as them.
    await page.context().addCookies([{ name: 'malipo_session', value: 'theirs', url: testEnv.baseUrl }]);
    await page.goto(testEnv.baseUrl + BALANCE);
    await page.getByLabel('Bearer Token').first().fill(testEnv.merchant.key);
    await page.getByRole('button', { name: /^Test Request.*\/v1\/api\/balance/s }).click();
    const sent = page.waitForRequest((request) => request.url() === `${testEnv.baseUrl}/v1/api/balance`);
    const answered = page.waitForResponse((response) => response.url() === `${testEnv.baseUrl}/v1/api/balance`);
    await page.getByRole('button', { name: /^Send/ }).first().click();
    const headers = await (await sent).allHeaders();
    assert.equal(headers['authorization'], `Bearer ${testEnv.merchant.key}`);
    assert.equal(headers['cookie'], undefined);
    assert.equal((await answered).status(), 200);
    await page.getByText('"available"').first().waitFor();
    // Its window for trying requests is not ours.
    await picture(page, 'reference-tried');
    const kept = await page.evaluate<string>(
      '(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, await indexedDB.databases(), location.href]))()',
    );
    assert.ok(!kept.includes(testEnv.merchant.key) && !kept.includes('sk_test'), kept);
    assert.deepEqual(foreign, []);
    await page.reload();
    await page.getByLabel('Bearer Token').first().waitFor();
    assert.equal(await page.getByLabel('Bearer Token').first().inputValue(), '');
    await closePage(page);
  });

  it('let a person approve the payment of a phone that ends in 099, and show it without a reload', async () => {
    const page = await openPage(chromium.browser, `${testEnv.sandbox.url}/sandbox/transactions`);
    await page.evaluate('window.isSamePage = true');
    const payment = await pay(testEnv, '099');
    await untilState(testEnv, payment, 'prompted');
    const row = page.getByRole('row').filter({ hasText: inGroups(payment.phone) });
    await row.getByText('Waits for the payer').waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
    await row.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('status').filter({ hasText: 'paid' }).waitFor();
    await row.getByText('Paid', { exact: true }).waitFor();
    await untilState(testEnv, payment, 'succeeded');
    await closePage(page);
  });

  it('let a person decline one without JavaScript', async () => {
    const payment = await pay(testEnv, '099');
    await untilState(testEnv, payment, 'prompted');
    const page = await openPage(
      chromium.browser,
      `${testEnv.sandbox.url}/sandbox/transactions?phone=${payment.phone}`,
      { javaScriptEnabled: false },
    );
    await page.getByRole('button', { name: /^Decline/ }).click();
    await page.locator('.state').getByText('Not paid').waitFor();
    await untilState(testEnv, payment, 'failed');
    await closePage(page);
  });
});

/** As the sandbox's pages write a phone. */
function inGroups(phone: string): string {
  return phone.replace(/\d{3}(?=\d)/g, '$&\u00a0');
}
