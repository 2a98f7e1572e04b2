// A person of two merchants in a real browser: they choose one, act for it, switch, and never act for one that a page does not show.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { MerchantId } from '../../src/domain/ids.ts';
import { API_ONLY } from '../api/responses.ts';
import { phoneFor } from '../support/payments.ts';
import { fund } from '../support/payouts.ts';
import { addPerson, codeOf, forgetUsedCodes, logIn, type TestPerson } from '../support/people.ts';
import { rewrite } from '../support/attestation.ts';
import { closePage, describeInBrowser, openConsole, openPage } from './chromium.ts';
import { useInspector, VIEWS } from './inspect.ts';
import { countRows } from '../db/rows.ts';

// The longest name that a merchant may have, in one word.
const LONG = `Duka-${'la'.repeat(95)}-Amin`;

describeInBrowser('a person of two merchants in the console', API_ONLY, (testEnv, chromium) => {
  const { inspect } = useInspector('merchants');
  let first: MerchantId;
  let second: MerchantId;
  let person: TestPerson;
  beforeEach(async () => {
    const [here, there] = [await testEnv.addMerchant(), await testEnv.addMerchant()];
    [first, second] = [here.id, there.id];
    await testEnv.db.pool.query(
      'UPDATE merchants SET name = CASE id WHEN $1 THEN $3 ELSE $4 END WHERE id IN ($1, $2)',
      [...[first, second, 'Shop of Kampala', LONG]],
    );
    await fund(testEnv, here, 10_000);
    person = await addPerson(testEnv, first, ['maker']);
    await addPerson(testEnv, second, ['approver'], { email: person.email });
  });

  const header = (page: Page, name: string) => page.getByRole('banner').getByText(name);
  const merchant = (page: Page, id: string) => page.getByRole('button', { name: id });
  async function askToSwitch(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'The maker' }).click();
    await page.getByRole('menuitem', { name: 'Act for another merchant…' }).click();
  }

  for (const [name, viewport] of Object.entries(VIEWS)) {
    it(`chooses one after the log-in, with no second code, on a ${name}`, async () => {
      const page = await openConsole(testEnv, chromium.browser, person, { viewport });
      await page.getByRole('heading', { name: 'Choose the merchant' }).waitFor();
      assert.deepEqual(await inspect(page, `choose-${name}`), []);
      await merchant(page, second).click();
      await header(page, LONG).waitFor();
      await page.getByRole('button', { name: 'The maker' }).click();
      await page.getByText(/approver$/).waitFor();
      await page.keyboard.press('Escape');
      await page.reload();
      await header(page, LONG).waitFor();
      await closePage(page);
    });
  }

  it('switches in the menu: everything shown is of the other merchant, and the code is asked for once the log-in is old', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/payouts?reference=INV-1' });
    await merchant(page, first).click();
    await page.getByRole('heading', { name: 'Payouts' }).waitFor();
    await askToSwitch(page);
    assert.deepEqual(await inspect(page, 'switch'), []);
    assert.equal(await merchant(page, first).count(), 0, 'they are there already');
    await merchant(page, second).click();
    await header(page, LONG).waitFor();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await rewrite(
      testEnv.db,
      `UPDATE sessions SET verified_at = verified_at - interval '6 min', second_factor_at = second_factor_at - interval '6 min'
       WHERE user_id = '${person.id}'`,
    );
    await page.reload();
    await header(page, LONG).waitFor();
    await askToSwitch(page);
    await merchant(page, first).click();
    await forgetUsedCodes(testEnv, person);
    await page.getByLabel('Code of your authenticator app').fill(codeOf(person.totpSecret));
    await page.getByRole('button', { name: 'Go on' }).click();
    await header(page, 'Shop of Kampala').waitFor();
    await closePage(page);
  });

  it('makes nothing at the merchant of another tab by a page that still shows this one', async () => {
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/payouts/new' });
    await merchant(page, first).click();
    await page.getByLabel('Phone of the payee').fill(phoneFor('000'));
    await page.getByLabel('Amount in UGX').fill('500');
    await page.getByLabel('Reference').fill('TAB-1');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByRole('heading', { name: 'Check the payout' }).waitFor();
    await page.getByRole('row', { name: 'Paid by Shop of Kampala' }).waitFor();
    await rewrite(
      testEnv.db,
      `UPDATE members SET roles = '{maker}' WHERE merchant_id = '${second}' AND user_id = '${person.id}'`,
    );
    const other = await page.context().newPage();
    await other.goto(`${testEnv.baseUrl}/console/`);
    await askToSwitch(other);
    await merchant(other, second).click();
    await header(other, LONG).waitFor();
    await page.getByRole('button', { name: 'Make the payout' }).click();
    await page.getByText('Your session is now for another merchant than this page shows.').waitFor();
    assert.equal(await countRows(testEnv.db, `payments WHERE kind = 'payout' AND reference = 'TAB-1'`), 0);
    await page.reload();
    await header(page, LONG).waitFor();
    await closePage(page);
  });

  it('must start again if the merchant removed them during the choice, and need not choose if one is left', async () => {
    const page = await openConsole(testEnv, chromium.browser, person);
    await merchant(page, second).waitFor();
    const owner = await logIn(testEnv, await addPerson(testEnv, second, ['owner']));
    assert.equal((await owner.call('DELETE', `/v1/console/members/${person.id}`)).status, 204);
    await merchant(page, second).click();
    await page.getByText('You may not do this.').waitFor();
    await page.getByRole('button', { name: 'Start again' }).click();
    await header(page, 'Shop of Kampala').waitFor();
    await page.getByRole('button', { name: 'The maker' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Act for another merchant…' }).count(), 0);
    await closePage(page);
  });

  it('learns nothing from a wrong password but that e-mail, password or code is not right', async () => {
    const page = await openPage(chromium.browser, `${testEnv.baseUrl}/console/`);
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill('not the password of anybody');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('E-mail, password or code is not right.').waitFor();
    assert.ok(!(await page.content()).includes(LONG));
    await closePage(page);
  });
});
