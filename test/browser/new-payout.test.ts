// Making a payout in a real browser: it is checked by the service before anything is made, and nothing that was written is lost on the way.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { API_ONLY } from '../api/responses.ts';
import { phoneFor } from '../support/payments.ts';
import { fund } from '../support/payouts.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { closePage, describeInBrowser, openConsole } from './chromium.ts';
import { useInspector } from './inspect.ts';
import { countRows } from '../db/rows.ts';

const FIELDS = ['Phone of the payee', 'Name of the payee', 'Amount in UGX', 'Reference', 'Description'] as const;
type Written = Readonly<Record<(typeof FIELDS)[number], string>>;

describeInBrowser('a new payout', API_ONLY, (testEnv, chromium) => {
  const { inspect } = useInspector('new-payout');
  let maker: TestPerson;
  before(async () => {
    maker = await addPerson(testEnv, testEnv.merchant.id, ['maker']);
    await fund(testEnv, testEnv.merchant, 100_000);
  });

  const written = (fields: Partial<Written> = {}): Written => ({
    'Phone of the payee': phoneFor('000'),
    'Name of the payee': 'Jane Nakato',
    'Amount in UGX': '1,500',
    Reference: 'salary-1',
    Description: 'For November',
    ...fields,
  });
  async function write(page: Page, fields: Written): Promise<void> {
    for (const label of FIELDS) await page.getByLabel(label).fill(fields[label]);
    await page.getByRole('button', { name: 'Check it' }).click();
  }
  const make = async (page: Page, fields: Written) => {
    await write(page, fields);
    await page.getByRole('button', { name: 'Make the payout' }).click();
    await page.getByRole('heading', { name: `Payout “${fields.Reference}”` }).waitFor();
  };
  const open = () => openConsole(testEnv, chromium.browser, maker, { path: '/payouts/new' });
  const again = (page: Page) => page.goto(`${testEnv.baseUrl}/console/payouts/new`);
  const countOf = async (reference: string) => {
    return countRows(testEnv.db, "payments WHERE kind = 'payout' AND reference = $1", [reference]);
  };

  it('is refused by “Check it” for a number that no operator serves, beside its field, and every field stays', async () => {
    const page = await open();
    const fields = written({ 'Phone of the payee': '256712123456' });
    await write(page, fields);
    await page.getByText(/no available operator/).waitFor();
    assert.equal(await page.getByLabel('Phone of the payee').getAttribute('aria-invalid'), 'true');
    for (const label of FIELDS) assert.equal(await page.getByLabel(label).inputValue(), fields[label], label);
    await write(page, written({ 'Amount in UGX': '99,000,000' }));
    await page.getByText(/amount must be/).waitFor();
    assert.equal(await countOf('salary-1'), 0);
    assert.deepEqual(await inspect(page, 'refused'), []);
    await closePage(page);
  });

  /** The form with the fields of a payout that was made. */
  async function writeAgain(reference: string) {
    const page = await open();
    const fields = written({ Reference: reference });
    await make(page, fields);
    await again(page);
    await write(page, fields);
    return { page, fields };
  }

  it('warns its maker of the same payout within a day, and of a reference that went to another number', async () => {
    const { page } = await writeAgain('rent-1');
    await page.getByText('The same amount to the same number within a day').waitFor();
    assert.deepEqual(await inspect(page, 'warned'), []);
    assert.equal(await countOf('rent-1'), 1);
    await closePage(page);
  });

  it('keeps every field for “Change it”, and the page with them while the other payout is looked at', async () => {
    const { page, fields } = await writeAgain('rent-2');
    const opening = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'the other one' }).click();
    const other = await opening;
    await other.getByRole('heading', { name: 'Payout “rent-2”' }).waitFor();
    await other.close();
    await page.getByRole('button', { name: 'Change it' }).click();
    for (const label of FIELDS) assert.equal(await page.getByLabel(label).inputValue(), fields[label], label);
    await page.getByLabel('Amount in UGX').fill('1,600');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('one thousand six hundred UGX').waitFor();
    assert.equal(await page.getByText('The same amount to the same number within a day').count(), 0);
    await page.getByRole('button', { name: 'Change it' }).click();
    assert.equal(await page.getByLabel('Amount in UGX').inputValue(), '1,600');
    await closePage(page);
  });

  it('is warned of in a file of payouts, before any of them is made', async () => {
    const page = await open();
    const fields = written({ Reference: 'rent-4' });
    await make(page, fields);
    await page.goto(`${testEnv.baseUrl}/console/payouts/file`);
    const rows = ['phone,amount,reference', `${fields['Phone of the payee']},1500,rent-4`];
    await page.locator('input[type=file]').setInputFiles({
      name: 'rents.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(rows.join('\n')),
    });
    const table = page.getByRole('table', { name: 'Rows to be made' });
    await table.getByText('The same amount to the same number within a day').waitFor();
    assert.deepEqual(await inspect(page, 'file'), []);
    await closePage(page);
  });

  it('is found if it was created and the answer was lost, and is not created twice', async () => {
    const page = await open();
    const fields = written({ Reference: 'rent-3' });
    await page.route('**/v1/api/payouts', async (route) => {
      await route.fetch();
      await route.fulfill({ status: 502 });
    });
    await write(page, fields);
    await page.getByRole('button', { name: 'Make the payout' }).click();
    await page.getByText('The server answered with status 502 and no reason.').waitFor();
    await page.unroute('**/v1/api/payouts');
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('This payout was made already').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Make the payout' }).count(), 0);
    assert.deepEqual(await inspect(page, 'made-already'), []);
    assert.equal(await countOf('rent-3'), 1);
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('The same amount to the same number within a day').waitFor();
    await page.getByRole('button', { name: 'Make the payout' }).click();
    await page.getByRole('heading', { name: 'Payout “rent-3”' }).waitFor();
    assert.equal(await countOf('rent-3'), 2);
    await closePage(page);
  });

  it('says why the operators are not known, and takes a number with its country code meanwhile', async () => {
    const page = await openConsole(testEnv, chromium.browser, maker);
    // No server of ours fails at this one route alone.
    await page.route('**/v1/console/operators', (route) => route.fulfill({ status: 500, body: '' }));
    await page.goto(`${testEnv.baseUrl}/console/payouts/new`);
    await page.getByRole('alert').first().waitFor({ timeout: 60_000 });
    await page.getByLabel('Phone of the payee').fill('0772 123 456');
    await page.getByText(/Write it with its country code/).waitFor();
    await page.getByLabel('Phone of the payee').fill('+256 772 123 456');
    await page.getByLabel('Amount in UGX').fill('1000');
    await page.getByLabel('Reference').fill('INV-11');
    assert.equal(await page.getByRole('button', { name: 'Check it' }).isEnabled(), true);
    await page.context().close();
  });
});
