// People in a real browser: invited, enrolled, thrown out and back, and told apart from other origins.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeCollection, countRows } from '../db/rows.ts';
import { API_ONLY } from '../api/responses.ts';
import { addPerson, codeOf, logIn, PASSWORD, type TestPerson, enter } from '../support/people.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { closePage, describeInBrowser, logInByHand, openConsole, openPage } from './chromium.ts';

const NEW_PASSWORD = 'seven quiet herons at the ford';

describeInBrowser('people in the console', API_ONLY, (testEnv, chromium) => {
  const stranger = useFixture(
    () => startStranger(testEnv),
    (server) => Promise.resolve(server.close()),
  );
  let admin: TestPerson;
  before(async () => {
    admin = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
  });

  it('see nothing but the enrolment until a role’s second factor is enrolled', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['approver'], { hasSecondFactor: false });
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/approvals' });
    await page.getByText('One thing first').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Payouts' }).count(), 0);
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByRole('img', { name: 'Secret of the second factor as a QR code' }).waitFor();
    const secret = await page.locator('code').innerText();
    await page.getByLabel('The code that the app shows').fill(codeOf(secret));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    await closePage(page);
  });

  it('accept an invitation by its link, whose token no server and no history gets', async () => {
    const browser = await logIn(testEnv, admin);
    const json = { email: 'grace@shop.example', roles: ['viewer'] };
    const { json: invitation } = await browser.call('POST', '/v1/console/invitations', { json });
    const link = new URL(String(invitation['url']));
    const page = await openPage(chromium.browser, `${testEnv.baseUrl}${link.pathname}${link.hash}`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel('Your name').fill('Grace');
    await page.getByRole('textbox', { name: 'Password' }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Become a member' }).click();
    await page.getByText('You are a member').waitFor();
    const token = link.hash.split('=')[1]!;
    assert.ok(![page.url(), ...asked].some((url) => url.includes(token)));
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('E-mail').fill(json.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(NEW_PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await closePage(page);
  });

  it('come back to the same place when their session ended meanwhile', async () => {
    const page = await openConsole(testEnv, chromium.browser, admin, { path: '/payouts?reference=INV-1' });
    await page.getByRole('heading', { name: 'Payouts' }).waitFor();
    await testEnv.db.pool.query('DELETE FROM sessions WHERE user_id = $1', [admin.id]);
    // Nobody touches the page: it notices by itself.
    await logInByHand(testEnv, page, admin);
    await page.getByRole('heading', { name: 'Payouts' }).waitFor();
    assert.equal(await page.getByLabel('Reference').inputValue(), 'INV-1');
    await closePage(page);
  });

  it('end sessions of theirs after a question', async () => {
    const page = await openConsole(testEnv, chromium.browser, admin, { path: '/security' });
    const count = async () => {
      return countRows(testEnv.db, 'sessions WHERE user_id = $1', [admin.id]);
    };
    for (const [button, question, act, left] of [
      ['End it…', 'End this session?', 'End it', (before: number) => before - 1],
      ['End all others…', 'End all your other sessions?', 'End them', () => 1],
    ] as const) {
      await logIn(testEnv, admin);
      await page.reload();
      const before = await count();
      const dialog = page.getByRole('dialog', { name: question });
      await page.getByRole('button', { name: button }).first().click();
      await dialog.getByRole('button', { name: 'Back' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal(await count(), before, 'nothing ended yet');
      await page.getByRole('button', { name: button }).first().click();
      await dialog.getByRole('button', { name: act }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal(await count(), left(before));
    }
    await closePage(page);
  });

  it('see a key once', async () => {
    const page = await openConsole(testEnv, chromium.browser, admin, { path: '/keys' });
    await page.getByRole('button', { name: /^New API key/ }).click();
    await page.getByLabel('Name').fill('Shop server');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Make the key' }).click();
    const key = await page.getByText(/^sk_test_\w{36}$/).innerText();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByText(key).count(), 1, 'only its button closes it');
    await page.getByRole('dialog').getByRole('button').last().click();
    await page.getByText('Shop server').waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.reload();
    await page.getByText('Shop server').waitFor();
    assert.ok(!(await page.content()).includes(key));
    await closePage(page);
  });

  it('withdraw only their own proposed change of the policy', async () => {
    const { id } = await testEnv.addMerchant();
    const [one, two] = [await addPerson(testEnv, id, ['owner']), await addPerson(testEnv, id, ['admin'])];
    const browser = await logIn(testEnv, one);
    for (const limit of [1, 2])
      await browser.call('PATCH', '/v1/console/policy', { json: { approver_daily_limit: limit } });
    const ofTwo = await openConsole(testEnv, chromium.browser, two, { path: '/policy' });
    await ofTwo.getByRole('button', { name: 'Approve…' }).waitFor();
    assert.equal(await ofTwo.getByRole('button', { name: 'Withdraw…' }).count(), 0);
    await closePage(ofTwo);
    const page = await openConsole(testEnv, chromium.browser, one, { path: '/policy' });
    await page.getByRole('button', { name: 'Withdraw…' }).click();
    assert.equal(await page.getByRole('button', { name: 'Approve…' }).count(), 0);
    await page.getByRole('button', { name: 'Withdraw it' }).click();
    await page.getByRole('heading', { name: 'Waiting for a second person' }).waitFor({ state: 'detached' });
    await closePage(page);
  });

  it('are known by the e-mail address of the account, whatever name they chose', async () => {
    const { id } = await testEnv.addMerchant();
    const one = await addPerson(testEnv, id, ['owner'], { name: 'the service' });
    const two = await addPerson(testEnv, id, ['owner']);
    const changed = await addPerson(testEnv, id, ['viewer'], { name: two.email });
    const browser = await logIn(testEnv, one);
    const proposed = await browser.call('PATCH', `/v1/console/members/${changed.id}`, {
      json: { roles: ['approver'] },
    });
    assert.equal(proposed.status, 202, proposed.text);
    assert.deepEqual(
      [proposed.json['proposed_by'], proposed.json['waits_for']],
      [{ id: one.id, name: 'the service', email: one.email }, [{ id: two.id, name: 'The owner', email: two.email }]],
    );
    const page = await openConsole(testEnv, chromium.browser, two, { path: '/members' });
    const proposal = page.getByRole('region', { name: `Roles of ${changed.email}` });
    await proposal.getByText(one.email).waitFor();
    await proposal.getByText(changed.email).waitFor();
    await proposal.getByRole('button', { name: 'Approve…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(one.email).waitFor();
    await dialog.getByText(changed.email).waitFor();
    await closePage(page);
  });

  it('read in the audit log other people’s texts as plain text, never as ids or links', async () => {
    const { id } = await testEnv.addMerchant();
    const { person, browser } = await enter(testEnv, id, ['owner'], { name: 'Grace Nakato' });
    const names = [person.id, '2026-01-31T12:00:00.000Z', `pay_${'0'.repeat(26)}`, 'old → new', 'none'];
    for (const name of names) {
      const made = await browser.call('POST', '/v1/console/keys', { json: { name, scopes: ['balance:read'] } });
      assert.equal(made.status, 201, made.text);
    }
    const page = await openConsole(testEnv, chromium.browser, person, { path: '/audit?action=api_key.created' });
    const log = page.getByRole('table', { name: 'Audit log' });
    for (const name of names) {
      const after = log.getByRole('definition').filter({ hasText: `After: ${name}` });
      await after.first().waitFor();
      assert.equal(await after.locator('a, time').count(), 0, name);
    }
    // What the service itself says for want of a value is in another type than the text `none`.
    const none = log.getByRole('definition').filter({ hasText: /^After: none$/ });
    assert.equal(await none.locator('bdi').count(), 1);
    assert.ok((await none.locator('em').count()) > 0);
    await closePage(page);
  });

  it('export the rows of a list as a file, and see the reason of a refusal', async () => {
    const reference = 'Maïs';
    await makeCollection(testEnv.db, testEnv.merchant.id, 'succeeded', { reference });
    await makeCollection(testEnv.db, testEnv.merchant.id, 'failed', { reference: 'other' });
    const page = await openConsole(testEnv, chromium.browser, admin, { path: '/collections?states=succeeded' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const file = await downloading;
    assert.match(file.suggestedFilename(), /^collections-[0-9-]{10}\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    assert.ok(text.startsWith('\uFEFFid,created_at,'), text);
    assert.ok(text.includes(reference) && !text.includes('other'), text);
    await page.goto(`${testEnv.baseUrl}/console/collections?checkout_id=INV-1`);
    await page.getByRole('button', { name: 'Export CSV' }).click();
    // The list and the export say the same.
    await page.getByText('checkout_id must be an id that begins with chk_.').nth(1).waitFor();
    await closePage(page);
  });

  it('cannot be framed, or acted for, by a page of another origin', async () => {
    const page = await openConsole(testEnv, chromium.browser, admin);
    // Another port is another origin and the same site: the browser sends the cookie along.
    await page.goto(stranger.url);
    const call = `fetch('${testEnv.baseUrl}/v1/console/sessions', {
      method: 'DELETE', credentials: 'include', headers: { 'Malipo-Console': '1' } })`;
    assert.equal(await page.evaluate<string>(`${call}.then(() => 'answered', () => 'refused')`), 'refused');
    const answer = page.waitForResponse((response) => response.url().endsWith('/recovery-codes'));
    await page.evaluate('document.forms[0].submit()');
    assert.equal((await answer).status(), 403);
    await page.waitForURL(/recovery-codes$/);
    await page.goto(stranger.url);
    const framed = page.frames().find((frame) => frame.url().startsWith(testEnv.baseUrl));
    assert.ok(framed === undefined || (await framed.getByRole('heading').count()) === 0);
    await page.goto(`${testEnv.baseUrl}/console`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.context().close();
  });
});

/** A page of somebody else, with a form that acts at the service and a frame that shows it. */
async function startStranger(testEnv: TestEnvironment) {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(
      `<form method="post" action="${testEnv.baseUrl}/v1/console/session/recovery-codes"></form>` +
        `<iframe src="${testEnv.baseUrl}/console"></iframe>`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}
