// Payouts in a real browser: made by one person, released by another, once, whatever goes wrong on the way.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { call } from '../support/api.ts';
import { pay, phoneFor, untilState } from '../support/payments.ts';
import { fund } from '../support/payouts.ts';
import { addPerson, codeOf, forgetUsedCodes, logIn, type TestPerson, ageSecondFactor } from '../support/people.ts';
import { closePage, describeInBrowser, openConsole } from './chromium.ts';
import { countRows } from '../db/rows.ts';

describeInBrowser('payouts in the console', {}, (testEnv, chromium) => {
  let maker: TestPerson;
  let approver: TestPerson;
  before(async () => {
    maker = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    approver = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    await fund(testEnv, testEnv.merchant, 100_000);
  });

  async function makePayout(page: Page, reference: string): Promise<void> {
    await page.getByRole('link', { name: 'Payouts' }).click();
    await page.getByRole('link', { name: 'New payout' }).click();
    await page.getByLabel('Phone of the payee').fill('256 772 000 100');
    await page.getByLabel('Amount in UGX').fill('1,500');
    await page.getByLabel('Reference').fill(reference);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('one thousand five hundred UGX').waitFor();
    await page.getByRole('button', { name: 'Make the payout' }).dblclick();
    await page.getByRole('heading', { name: `Payout “${reference}”` }).waitFor();
  }

  function countOf(reference: string, sent = false): Promise<number> {
    return countRows(
      testEnv.db,
      `payments WHERE kind = 'payout' AND reference = $1 AND ($2 = false OR state = 'succeeded')`,
      [reference, sent],
    );
  }

  it('are made by one person, released by another, and seen paid by both without a reload', async () => {
    const [ofMaker, ofApprover] = await Promise.all([
      openConsole(testEnv, chromium.browser, maker),
      openConsole(testEnv, chromium.browser, approver, { path: '/approvals' }),
    ]);
    await makePayout(ofMaker, 'salary-1');
    assert.equal(await countOf('salary-1'), 1);
    await ofMaker.getByText('You made it, so another person must release it.').waitFor();
    await ofApprover.getByLabel(/^Choose [0-9,]+ UGX to 256[0-9]+: salary-1$/).check();
    await ofApprover.getByRole('button', { name: 'Release 1…' }).click();
    await ofApprover.getByRole('button', { name: 'Release it' }).dblclick();
    await ofApprover.getByRole('dialog').getByText('released', { exact: true }).waitFor();
    await ofApprover.keyboard.press('Escape');
    await ofApprover.getByText('No payout waits for you.').waitFor();
    await ofMaker.getByRole('table', { name: 'The payout' }).getByText('succeeded').waitFor();
    await Promise.all([closePage(ofMaker), closePage(ofApprover)]);
  });

  it('are released once when the answer to the release is lost', async () => {
    const ofMaker = await openConsole(testEnv, chromium.browser, maker);
    await makePayout(ofMaker, 'salary-2');
    await closePage(ofMaker);
    const page = await openConsole(testEnv, chromium.browser, approver, { path: '/approvals' });
    await page.getByLabel(/^Choose [0-9,]+ UGX to 256[0-9]+: salary-2$/).check();
    await page.getByRole('button', { name: 'Release 1…' }).click();
    const keys: (string | undefined)[] = [];
    await page.route('**/v1/console/payouts/release', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Release it' }).click();
    await page.getByText('Malipo did not answer.').waitFor();
    // It was released, and that is what the page shows now: there is nothing left to release.
    const changed = page.getByRole('alert', { name: 'Changed after the list was loaded, and not released' });
    await changed.getByText(/^(released|succeeded)$/).waitFor();
    await changed.getByText('salary-2', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Release 0 payouts' }).isDisabled(), true);
    await page.context().close();
  });

  it('verify the person again if the last proof is older than five minutes', async () => {
    const ofMaker = await openConsole(testEnv, chromium.browser, maker);
    await makePayout(ofMaker, 'salary-3');
    await closePage(ofMaker);
    const page = await openConsole(testEnv, chromium.browser, approver, { path: '/approvals' });
    await ageSecondFactor(testEnv, approver, '6 minutes');
    await page.reload();
    await page.getByLabel(/^Choose [0-9,]+ UGX to 256[0-9]+: salary-3$/).check();
    await page.getByRole('button', { name: 'Release 1…' }).click();
    await page.getByRole('button', { name: 'Release it' }).click();
    await forgetUsedCodes(testEnv, approver);
    await page.getByLabel('Code of your authenticator app').fill(codeOf(approver.totpSecret));
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('dialog').getByText('released', { exact: true }).waitFor();
    await closePage(page);
  });

  it('are ten: a person releases all but the doubtful one and rejects that, in at most eight clicks', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 100_000);
    const person = await addPerson(testEnv, merchant.id, ['approver']);
    const phones = Array.from({ length: 10 }, () => phoneFor('000'));
    const request = async (phone: string, index: number, amount: number) => {
      const json = { phone, amount, reference: `WAGE-${index}` };
      const response = await call(testEnv.baseUrl, 'POST', '/v1/api/payouts', { key: merchant.key, json });
      assert.equal(response.status, 202, response.text);
      return String(response.json['id']);
    };
    const earlier = await Promise.all(phones.map((phone, index) => request(phone, index, 1000)));
    const released = await (
      await logIn(testEnv, person)
    ).call('POST', '/v1/console/payouts/release', { idempotencyKey: 'earlier', json: { ids: earlier } });
    assert.equal(released.status, 200, released.text);
    // The third has a new number.
    await Promise.all(phones.map((phone, index) => request(index === 2 ? phoneFor('000') : phone, index, 1001)));

    const page = await openConsole(testEnv, chromium.browser, person);
    const startedMs = Date.now();
    let clicks = 0;
    const press = async (locator: Locator) => {
      clicks += 1;
      await locator.click();
    };
    await press(page.getByRole('link', { name: '10 payouts to release' }));
    await press(page.getByRole('button', { name: 'Choose the 9 without a warning' }));
    await press(page.getByRole('button', { name: 'Release 9…' }));
    await page.getByText('nine thousand and nine UGX').waitFor();
    await press(page.getByRole('button', { name: 'Release 9 payouts' }));
    await page.getByText('9 payouts released: 9,009 UGX').waitFor();
    await press(page.getByRole('button', { name: 'Close' }).last());
    await page.getByText('The last payout with this reference went to another number').waitFor();
    await press(page.getByLabel(/^Choose [0-9,]+ UGX to 256[0-9]+: WAGE-2$/));
    await press(page.getByRole('button', { name: 'Reject 1…' }));
    await page.getByLabel('Reason').fill('They have no new number.');
    await press(page.getByRole('button', { name: 'Reject it' }));
    await page.getByText('One payout rejected: 1,001 UGX').waitFor();
    process.stdout.write(`      ${clicks} clicks, ${((Date.now() - startedMs) / 1000).toFixed(1)} s\n`);
    assert.ok(clicks <= 8, `${clicks} clicks`);
    const { rows } = await testEnv.db.pool.query<{ reference: string; rejectionReason: string }>(
      `SELECT reference, rejection_reason AS "rejectionReason" FROM payments
       WHERE kind = 'payout' AND merchant_id = $1 AND state = 'rejected'`,
      [merchant.id],
    );
    assert.deepEqual(rows, [{ reference: 'WAGE-2', rejectionReason: 'They have no new number.' }]);
    await closePage(page);
  });

  it('are cancelled by their maker after a confirmation that shows them, and so are refunds', async () => {
    const page = await openConsole(testEnv, chromium.browser, maker);
    await makePayout(page, 'cancelled-1');
    const stateOf = async (kind: 'payout' | 'reversal') => {
      const { rows } = await testEnv.db.pool.query<{ state: string }>(
        'SELECT state FROM payments WHERE kind = $1 ORDER BY created_at DESC LIMIT 1',
        [kind],
      );
      return rows[0]!.state;
    };
    await page.getByRole('button', { name: 'Cancel the payout…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel' });
    await dialog.getByText('one thousand five hundred UGX').waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await stateOf('payout'), 'queued');
    await page.getByRole('button', { name: 'Cancel the payout…' }).click();
    await dialog.getByRole('button', { name: 'Cancel it' }).click();
    // The results stay readable after the page behind them knows them.
    await page.getByRole('table', { name: 'The payout' }).getByText('cancelled').waitFor();
    await page.getByText('One payout cancelled: 1,500 UGX').waitFor();
    assert.equal(await stateOf('payout'), 'cancelled');

    const collection = await pay(testEnv, '000');
    await untilState(testEnv, collection, 'succeeded');
    await page.goto(`${testEnv.baseUrl}/console/collections/${collection.id}`);
    await page.getByRole('button', { name: 'Request a refund…' }).click();
    await page.getByRole('button', { name: 'Request it' }).click();
    await page.getByRole('button', { name: 'Cancel the refund…' }).click();
    await page.getByRole('dialog', { name: 'Cancel the refund' }).getByText('five thousand UGX').waitFor();
    assert.equal(await stateOf('reversal'), 'queued');
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByRole('table', { name: 'The refund' }).getByText('cancelled').waitFor();
    await closePage(page);
  });

  it('are rejected several at once, also when one of them is decided meanwhile', async () => {
    const ofMaker = await openConsole(testEnv, chromium.browser, maker);
    for (const reference of ['several-1', 'several-2', 'several-3']) await makePayout(ofMaker, reference);
    const page = await openConsole(testEnv, chromium.browser, approver, { path: '/approvals' });
    await page.getByRole('checkbox', { name: 'Choose all' }).check();
    await page.getByRole('button', { name: 'Reject 3…' }).click();
    await page.getByText('four thousand five hundred UGX').waitFor();
    await page.getByLabel('Reason').fill('Not this month.');
    // After the dialog was shown, and before it is confirmed.
    await ofMaker.getByRole('button', { name: 'Cancel the payout…' }).click();
    await ofMaker.getByRole('button', { name: 'Cancel it' }).click();
    await ofMaker.getByText('One payout cancelled: 1,500 UGX').waitFor();
    await page.getByRole('button', { name: 'Reject 3 payouts' }).dblclick();
    await page.getByText('2 payouts rejected: 3,000 UGX').waitFor();
    await page.locator('tr', { hasText: 'several-3' }).getByText('This payout is cancelled').waitFor();
    await Promise.all([closePage(page), closePage(ofMaker)]);
  });
});
