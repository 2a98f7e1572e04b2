// A day's work in a real browser: releases that need two, a file of payouts, a refund, a replay, a passkey, the keyboard, and a server
// that dies in the middle of a release.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { freePort } from '../../src/engines/process/ports.ts';
import { phoneFor, pay, untilState } from '../support/payments.ts';
import { rewrite } from '../support/attestation.ts';
import { fund, requestPayout, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { addPerson, PASSWORD, type TestPerson } from '../support/people.ts';
import { startServerChild } from '../support/server-child.ts';
import { eventually } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { closePage, openConsole, useChromium } from './chromium.ts';

describe('a day’s work in the console', function () {
  // A browser, on a machine that is busy with other tests.
  this.timeout(240_000);
  const port = useFixture(async () => ({ number: await freePort() }));
  // By name: browsers use no passkeys for a site that is an IP address.
  const urlOf = () => `http://localhost:${port.number}`;
  const testEnv = useTestEnvironment(() => ({
    startsServer: false,
    environment: {
      MALIPO_HTTP_PORT: String(port.number),
      MALIPO_PUBLIC_URL: urlOf(),
      // The deadline decides nothing here: a payout that no server could send in time would fail.
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '60000',
    },
  }));
  const chromium = useChromium();
  let maker: TestPerson;
  let approver: TestPerson;
  before(async () => {
    maker = await addPerson(testEnv, testEnv.merchant.id, ['maker', 'developer']);
    approver = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    await fund(testEnv, testEnv.merchant, 5_000_000);
  });
  const open = (person: TestPerson, path: string) =>
    openConsole({ db: testEnv.db, baseUrl: urlOf() }, chromium.browser, person, { path });

  // First: every other case needs the server that is started here after the one that dies.
  it('shows the outcome of a release whose server died after recording it, and releases once', async () => {
    const doomed = await startServerChild(testEnv, {
      crashPoint: { moment: 'after', commitOf: 'approval_insert' },
    });
    const payout = await requestPayout(testEnv, '000', { amount: 700 });
    const page = await open(approver, '/approvals');
    await page.getByRole('checkbox', { name: 'Choose all' }).check();
    await page.getByRole('button', { name: 'Release 1…' }).click();
    await page.getByRole('button', { name: 'Release it' }).click();
    await doomed.dies();
    await page.getByText('Malipo did not answer.').waitFor();
    await testEnv.startServer();
    // It was released, and the page finds that out by itself.
    await page.getByText('Changed after the list was loaded, and not released').waitFor();
    await page
      .getByRole('alert')
      .getByText(/^(released|succeeded)$/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No payout waits for you.').waitFor();
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
    // The broken connections are in the page's own log: no other entries are checked.
    await page.context().close();
  });

  async function releaseOnly(person: TestPerson): Promise<Page> {
    const page = await open(person, '/approvals');
    await page.getByRole('checkbox', { name: 'Choose all' }).check();
    await page.getByRole('button', { name: 'Release 1…' }).click();
    await page.getByRole('button', { name: 'Release it' }).click();
    return page;
  }

  it('leaves a payout that needs two approvers waiting after the first, and sends it after the second', async () => {
    const second = await addPerson(testEnv, testEnv.merchant.id, ['approver']);
    const setPolicy = (above: number | null) =>
      rewrite(
        testEnv.db,
        `INSERT INTO policies (merchant_id, two_approvers_above_minor, updated_at) VALUES ($1, $2, now())
         ON CONFLICT (merchant_id) DO UPDATE SET two_approvers_above_minor = $2`,
        [testEnv.merchant.id, above],
      );
    await setPolicy(5000);
    const payout = await requestPayout(testEnv, '000', { amount: 5001 });
    await setPolicy(null);
    const ofFirst = await releaseOnly(approver);
    await ofFirst.getByText('Approved by you; it waits for another person.').waitFor();
    await ofFirst.getByRole('button', { name: 'Close' }).last().click();
    await ofFirst.getByText('No payout waits for you.').waitFor();
    assert.equal(await transfersAccepted(testEnv, payout), 0);
    const ofSecond = await releaseOnly(second);
    await ofSecond.getByRole('dialog').getByText('released', { exact: true }).waitFor();
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.equal(await transfersAccepted(testEnv, payout), 1);
    await ofFirst.getByRole('tab', { name: 'Decided' }).click();
    await ofFirst.locator(`tr[data-row=${payout.id}]`).getByText('succeeded').waitFor();
    await Promise.all([closePage(ofFirst), closePage(ofSecond)]);
  });

  describe('with a file of 200 payouts, 7 of them wrong', () => {
    const lines = ['phone,amount,reference,description'];
    for (let i = 1; i <= 200; i++) lines.push(`256772${String(i).padStart(3, '0')}000,${1000 + i},FILE-${i},Salary`);
    const wrong: readonly (readonly [row: number, line: string])[] = [
      [11, '077200010,1000,FILE-10,a digit short'],
      [21, '256712000100,1000,FILE-20,another operator'],
      [31, '256772000100,10.5,FILE-30,a fraction'],
      [41, '256772000100,99999999,FILE-40,too much'],
      [51, lines[49]!],
      [61, '256772000100,1000,=1+1,a formula'],
      [71, '2.56772E+11,1000,FILE-70,shortened'],
    ];
    for (const [row, line] of wrong) lines[row - 1] = line;
    const file = (content: readonly string[]) => ({
      name: 'salaries.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`\uFEFF${content.join('\r\n')}\r\n`),
    });
    const count = async () => {
      const { rows } = await testEnv.db.pool.query<{ count: number; sum: number }>(
        `SELECT count(*)::int AS count, sum(amount_minor)::int AS sum FROM payments WHERE kind = 'payout' AND reference LIKE 'FILE-%'`,
      );
      return [rows[0]!.count, rows[0]!.sum];
    };
    const sumOfGood = lines
      .slice(1)
      .filter((line, index) => !wrong.some(([row]) => row === index + 2) && line !== '')
      .reduce((sum, line) => sum + Number(line.split(',')[1]), 0);

    async function load(page: Page, content: readonly string[]): Promise<void> {
      await page.locator('input[type=file]').setInputFiles(file(content));
    }

    it('names the wrong rows, makes the others once, also after an answer was lost and a page closed, and no row twice', async () => {
      const page = await open(maker, '/payouts/file');
      await load(page, lines);
      await page.getByRole('heading', { name: '7 rows cannot be made' }).waitFor();
      const bad = page.getByRole('table', { name: 'Rows that cannot be made' });
      for (const [row] of wrong) assert.equal(await bad.locator(`tr[data-row="${row}"]`).count(), 1, `row ${row}`);
      await page
        .getByRole('table', { name: 'The file' })
        .getByText(`193 payouts: ${sumOfGood.toLocaleString('en')} UGX`)
        .first()
        .waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download them with the reasons' }).click();
      assert.equal((await downloading).suggestedFilename(), 'payouts-with-problems.csv');
      await page.getByRole('button', { name: 'Make the 193 payouts that can be made…' }).click();
      assert.deepEqual((await count())[0], 0, 'nothing is made before it is confirmed');
      // Answers are lost, the API asks for patience, and in the middle of it the page is closed.
      let requests = 0;
      await page.route('**/v1/api/payouts', async (route) => {
        requests++;
        if (requests === 5) {
          await route.fetch();
          await route.abort('connectionreset');
        } else if (requests === 9) {
          await route.fulfill({
            status: 429,
            headers: { 'Retry-After': '1' },
            json: { error: { code: 'rate_limited' } },
          });
        } else await route.continue();
      });
      await page.getByRole('button', { name: 'Make them' }).click();
      await eventually('some are made', async () => ((await count())[0] ?? 0) > 20);
      await page.context().close();

      const again = await open(maker, '/payouts/file');
      await load(again, lines);
      await again.getByRole('heading', { name: 'Made before, and not made again' }).waitFor();
      await again.getByRole('button', { name: /^Make the \d+ payouts that can be made…$/ }).click();
      await again.getByRole('button', { name: 'Make them' }).click();
      await again.getByText('All are made').waitFor();
      assert.deepEqual(await count(), [193, sumOfGood]);

      // Mended, the file makes what was wrong, and nothing else.
      const mended = lines.with(10, '256772000100,1000,FILE-10,country added');
      await again.getByRole('button', { name: 'Choose another file' }).click();
      await load(again, mended);
      await again.getByRole('button', { name: 'Make the one payout that can be made…' }).click();
      await again.getByRole('button', { name: 'Make them' }).click();
      await again.getByText('All are made').waitFor();
      assert.deepEqual(await count(), [194, sumOfGood + 1000]);
      await closePage(again);
    });
  });

  it('makes the same rows once more when the person names another payment run', async () => {
    const page = await open(maker, '/payouts/file');
    const content = `phone;amount;reference\n${phoneFor('000')};900;RUN-1\n`;
    const made = async () =>
      (await testEnv.db.pool.query(`SELECT 1 FROM payments WHERE kind = 'payout' AND reference = 'RUN-1'`)).rowCount ??
      0;
    for (const [paymentRun, expected] of [
      [null, 1],
      ['December', 2],
      ['December', 2],
    ] as const) {
      await page.reload();
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
      if (paymentRun !== null) {
        await page.getByLabel('Pay these rows once more, as the payment run').fill(paymentRun);
        await page.getByRole('button', { name: 'Check them for this payment run' }).click();
        await page.getByText(`payment run “${paymentRun}”`).waitFor();
      }
      const make = page.getByRole('button', { name: /^Make / });
      if ((await made()) < expected) {
        await make.click();
        await page.getByRole('button', { name: 'Make them' }).click();
        await page.getByText('All are made').waitFor();
      } else assert.equal(await make.isDisabled(), true);
      assert.equal(await made(), expected);
    }
    await closePage(page);
  });

  it('gives a refund back that one person requested and another released', async () => {
    const collection = await pay(testEnv, '000', { fields: { amount: 4000 } });
    await untilState(testEnv, collection, 'succeeded');
    const ofMaker = await open(maker, `/collections/${collection.id}`);
    await ofMaker.getByRole('button', { name: 'Request a refund…' }).click();
    await ofMaker.getByRole('dialog').getByText('four thousand UGX').waitFor();
    await ofMaker.getByRole('button', { name: 'Request it' }).dblclick();
    await ofMaker.getByText('You made it, so another person must release it.').waitFor();
    const ofApprover = await open(approver, '/approvals');
    await ofApprover.getByRole('table', { name: 'Waiting refunds' }).getByRole('link').first().click();
    await ofApprover.getByRole('button', { name: 'Release…' }).click();
    await ofApprover.getByRole('button', { name: 'Release it' }).dblclick();
    await ofMaker.getByRole('table', { name: 'The refund' }).getByText('succeeded').waitFor();
    await untilState(testEnv, collection, 'reversed');
    await Promise.all([closePage(ofMaker), closePage(ofApprover)]);
  });

  it('replays a delivery whose attempts all failed, once its receiver works again', async () => {
    testEnv.receiver.answerWith(testEnv.merchant.id, (_, response) => response.writeHead(500).end());
    const collection = await pay(testEnv, '000');
    const delivery = await eventually('a delivery is given up', async () => {
      const { rows } = await testEnv.db.pool.query<{ id: string }>(
        `SELECT d.id FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE d.state = 'dead_lettered' AND e.payment_id = $1 LIMIT 1`,
        [collection.id],
      );
      return rows[0];
    });
    const page = await open(maker, `/deliveries/${delivery.id}`);
    await page.getByRole('table', { name: 'The delivery' }).getByText('dead lettered').waitFor();
    testEnv.receiver.answerWith(testEnv.merchant.id, null);
    await page.getByRole('button', { name: 'Replay it' }).click();
    await page.getByRole('table', { name: 'The delivery' }).getByText('delivered').waitFor();
    await closePage(page);
  });

  // Whatever the registration asks for, it is asked for here.
  async function registerPasskey(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the passkey').fill('My telephone');
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('table', { name: 'Passkeys' }).getByText('My telephone').waitFor();
  }

  it('logs a person in with the passkey that they registered', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer'], { hasSecondFactor: true });
    const page = await open(person, '/security');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await registerPasskey(page);
    await page.getByRole('button', { name: 'The viewer' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Your security' }).waitFor();
    await closePage(page);
  });

  it('is done by keys alone: through a list, into a row, to the search, and never while somebody writes', async () => {
    const references = ['KEY-1', 'KEY-2'];
    for (const reference of references) {
      const page = await open(maker, '/payouts/new');
      await page.getByLabel('Phone of the payee').fill(phoneFor('000'));
      await page.getByLabel('Amount in UGX').fill('500');
      await page.getByLabel('Reference').fill(reference);
      await page.getByRole('button', { name: 'Check it' }).click();
      await page.getByRole('button', { name: 'Make the payout' }).click();
      await page.getByRole('heading', { name: `Payout “${reference}”` }).waitFor();
      await closePage(page);
    }
    const page = await open(approver, '/approvals');
    const rowOf = (reference: string) => page.locator('tr[data-row]', { hasText: reference });
    await rowOf('KEY-2').waitFor();
    const here = () => page.evaluate(`document.activeElement.closest('tr')?.dataset.row ?? ''`);
    const first = await page.locator('tr[data-row]').first().getAttribute('data-row');
    await page.keyboard.press('j');
    assert.equal(await here(), first);
    await page.keyboard.press('k');
    assert.equal(await here(), first, 'there is none before it');
    await page.keyboard.press('j');
    assert.notEqual(await here(), first);
    await page.keyboard.press('k');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Release 1…' }).waitFor();
    await page.keyboard.press('x');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('jk?x/');
    const search = page
      .getByRole('textbox', { name: 'Search' })
      .or(page.getByRole('combobox', { name: 'Search' }))
      .first();
    assert.equal(await search.inputValue(), 'jk?x/');
    await search.fill('');
    await page.keyboard.press('Escape');
    await search.blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Payout / }).waitFor();
    await closePage(page);
  });
});
