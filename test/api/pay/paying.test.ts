// Payers at checkouts, with a browser that runs no script: they pay once, whatever happens, and see how it stands.
import assert from 'node:assert/strict';
import { call } from '../../support/api.ts';
import { phoneFor } from '../../support/payments.ts';
import { promptsRaised } from '../../support/sandbox-operator.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { contextOf, paid, basisFor, countRows } from '../../db/rows.ts';
import { recordTransition } from '../../../src/operations/payments/record-transition.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { attemptKey } from '../../../src/domain/payments/checkout.ts';
import { readAttemptCode } from '../../../src/api/pay/attempt-code.ts';
import { tryLockIdempotencyKey } from '../../../src/db/payments/idempotency-key.ts';
import { newCode } from '../../../src/security/token.ts';
import type { CheckoutId } from '../../../src/domain/ids.ts';
import { API_ONLY } from '../responses.ts';
import { checkoutMaker, openPayer, unescaped, type MakeCheckout, type Payer } from './payer.ts';

/** As a payer in Uganda types it. */
const typed = (phone: string) => `0${phone.slice(3, 6)} ${phone.slice(6)}`;

describe('a payer at a checkout', function () {
  this.timeout(300_000);
  const testEnv = useTestEnvironment({ sandboxTimes: { decisionMs: 1200 } });
  let make: MakeCheckout;
  before(async () => {
    ({ make } = await checkoutMaker(testEnv));
  });

  it('types a number as people do, is asked on the phone once, sees that it is paid, and has a receipt', async () => {
    const { path } = await make({
      amount: 1234567,
      description: 'Two bags of maize',
      return_url: 'https://shop.example/1',
    });
    const payer = openPayer(testEnv);
    const phone = phoneFor('000');
    const form = await payer.open(path);
    assert.match(form.html, /UGX\u00a01,234,567/);
    assert.match(form.html, /Two bags of maize/);
    assert.doesNotMatch(form.html, /shop\.example/);
    const own = await payer.attempt(path, typed(phone));
    const paidPage = await payer.until(own, 'Paid');
    assert.match(paidPage.html, /href="https:\/\/shop\.example\/1"/);
    assert.doesNotMatch(paidPage.html, /http-equiv="refresh"/);
    const receipt = await payer.open(`${own}/receipt`);
    for (const part of [
      'Test merchant',
      'UGX\u00a01,234,567',
      'INV-1',
      'MTN MoMo',
      `••• ${phone.slice(-3)}`,
      '(UTC+03:00)',
    ])
      assert.ok(receipt.html.includes(part), part);
    assert.match(receipt.html, /col_[0-9a-z]{26}/);
    assert.equal(await promptsRaised(testEnv, phone), 1);
    assert.equal((await openPayer(testEnv).open(path)).heading, 'This is paid');
  });

  it('pastes a number with invisible marks, dashes and a zero in brackets', async () => {
    const spellings = [
      (phone: string) => `\u202a+${phone}\u202c`,
      (phone: string) => `+256 (0)${phone.slice(3, 6)} ${phone.slice(6)}`,
      (phone: string) => `256–${phone.slice(3, 6)}—${phone.slice(6)}`,
    ];
    for (const spell of spellings) {
      const { path } = await make();
      const phone = phoneFor('000');
      await openPayer(testEnv).attempt(path, spell(phone));
      assert.equal((await phonesAt(path)).join(), phone);
    }
  });

  it('moved the number from another operator, says so, and is asked again there', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const ported = `25671${phoneFor('000').slice(5)}`;
    const refused = await payer.pay(path, ported);
    assert.match(unescaped(refused.html), /Nobody can pay here from this number/);
    assert.match(refused.html, /<input type="radio" name="operator" value="mtn-momo">/);
    const { status, html } = await payer.post(path, { ...refused.fields, phone: ported, operator: 'mtn-momo' });
    assert.equal(status, 303, html);
    assert.equal((await phonesAt(path)).join(), ported);
  });

  async function phonesAt(path: string): Promise<string[]> {
    const { rows } = await testEnv.db.pool.query<{ phone: string }>(
      `SELECT c.phone FROM payments c JOIN checkout_attempts a ON a.collection_id = c.id
       JOIN checkouts k ON k.id = a.checkout_id WHERE k.code = $1`,
      [path.split('/').at(-1)],
    );
    return rows.map(({ phone }) => phone);
  }

  it('makes one attempt with one form: posted twice at once, again, from two tabs, and with another number', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const phone = phoneFor('099');
    const [{ fields }, other] = [await payer.open(path), await payer.open(path)];
    assert.deepEqual(other.fields, fields);
    const post = (number: string) => payer.post(path, { ...fields, phone: number });
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(typed(phone))));
    const own = `${path}/${fields['attempt']}`;
    assert.deepEqual(new Set(answers.map(({ status, location }) => `${status} ${location}`)), new Set([`303 ${own}`]));
    assert.equal((await post(typed(phone))).location, own);
    assert.equal((await post(typed(phoneFor('000')))).location, own);
    assert.equal((await payer.open(path)).location, own);
    const asked = await payer.until(own, 'Approve it on your phone');
    assert.ok(asked.html.includes(`••• ${phone.slice(-3)}`) && !asked.html.includes(phone.slice(3)));
    assert.match(asked.html, /<noscript><meta http-equiv="refresh" content="5">/);
    assert.match(asked.html, /data-seconds="\d+">0:\d\d</);
    assert.match(asked.html, /\*165#/);
    assert.equal(await promptsRaised(testEnv, phone), 1);
    assert.equal(await countRows(testEnv.db, "payments WHERE kind = 'collection' AND phone = $1", [phone]), 1);
  });

  it('leads to the page of the attempt that another post of the form is making, and from there to the form until it is made', async () => {
    const { id, path } = await make();
    const payer = openPayer(testEnv);
    const { fields } = await payer.open(path);
    const own = `${path}/${fields['attempt']}`;
    const attempt = readAttemptCode(fields['attempt']);
    assert.ok(attempt);
    const key = attemptKey(id as CheckoutId, attempt.sha256);
    await testEnv.db.withTransaction(async (tx) => {
      assert.equal(await tryLockIdempotencyKey(tx, testEnv.merchant.id, key), true);
      assert.equal((await payer.post(path, { ...fields, phone: typed(phoneFor('000')) })).location, own);
      assert.equal((await payer.open(own)).location, path);
    });
    assert.deepEqual((await payer.open(path)).fields, fields);
  });

  it('sends a new request after one that failed, by one press, and to another number', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const phone = phoneFor('002');
    const first = await payer.attempt(path, typed(phone));
    const failed = await payer.until(first, 'Not paid');
    assert.match(unescaped(failed.html), /The PIN was wrong\. Send a new request/);
    assert.notEqual(failed.fields['attempt'], first.split('/').at(-1));
    const again = await payer.post(path, failed.fields);
    assert.equal(again.status, 303);
    assert.equal((await payer.post(path, failed.fields)).location, again.location);
    await payer.until(String(again.location), 'Not paid');
    assert.equal(await promptsRaised(testEnv, phone), 2);
    const third = await payer.attempt(path, typed(phoneFor('000')));
    await payer.until(third, 'Paid');
    const done = await payer.open(first);
    assert.match(done.html, /It is already paid, by another request/);
    assert.deepEqual(done.fields, {});
  });

  it('gets no second request while an attempt is live, and nobody else sees whose it is', async () => {
    const { path } = await make();
    const [payer, stranger] = [openPayer(testEnv), openPayer(testEnv)];
    const theirs = await stranger.open(path);
    const phone = phoneFor('099');
    const own = await payer.attempt(path, typed(phone));
    await payer.until(own, 'Approve it on your phone');
    const seen = await stranger.open(path);
    assert.equal(seen.heading, 'A payment is in progress');
    assert.ok(!seen.html.includes(phone.slice(-3)) && !seen.html.includes(own));
    const other = phoneFor('000');
    const refused = await stranger.post(path, { ...theirs.fields, phone: typed(other) });
    assert.deepEqual([refused.status, refused.heading], [409, 'A payment is in progress']);
    assert.equal(await promptsRaised(testEnv, other), 0);
    const guessed = await stranger.open(`${path}/${newCode()}`);
    assert.equal(guessed.status, 404);
    const noCode = await openPayer(testEnv).open(`${path}/${'u'.repeat(32)}`);
    assert.equal(noCode.status, 404);
    const unused = await stranger.open(`${path}/${theirs.fields['attempt']}`);
    assert.deepEqual([unused.status, unused.location], [303, path]);
  });

  it('pays nothing more for one of which the operator never says how it ended, until it does', async () => {
    const { path } = await make();
    const [payer, other] = [openPayer(testEnv), openPayer(testEnv)];
    const phone = phoneFor('010');
    const own = await payer.attempt(path, typed(phone));
    const doubtful = await payer.until(own, 'It is not known whether you paid');
    assert.deepEqual(doubtful.fields, {});
    assert.equal((await payer.open(path)).location, own);
    assert.equal((await other.open(path)).heading, 'No payment is taken here now');
    const { rows } = await testEnv.db.pool.query<{ id: string }>(
      "SELECT id FROM payments WHERE kind = 'collection' AND phone = $1",
      [phone],
    );
    await late(rows[0]!.id);
    assert.equal((await payer.open(own)).heading, 'Paid');
    assert.equal((await other.open(path)).heading, 'This is paid');
  });

  it('waits after an expired request, and is warned if the first one was paid after all', async () => {
    const { path, id } = await make();
    const payer = openPayer(testEnv);
    const first = await payer.attempt(path, typed(phoneFor('003')));
    const expired = await payer.until(first, 'Not paid');
    if (expired.fields['attempt'] === undefined) assert.match(expired.html, /You can try again from/);
    await untilOffered(payer, first);
    const phone = phoneFor('099');
    const second = await payer.attempt(path, typed(phone));
    await payer.until(second, 'Approve it on your phone');
    const { rows } = await testEnv.db.pool.query<{ id: string }>(
      `SELECT collection_id AS id FROM checkout_attempts WHERE checkout_id = $1 ORDER BY collection_id LIMIT 1`,
      [id],
    );
    await late(rows[0]!.id);
    const warned = await payer.open(second);
    assert.match(warned.html, /Do not approve the request that is on the phone now/);
    assert.equal((await openPayer(testEnv).open(path)).heading, 'This is paid');
  });

  const untilOffered = (payer: Payer, own: string) =>
    eventually(
      'the page to offer another attempt',
      async () => (await payer.open(own)).fields['attempt'] !== undefined,
    );

  /** The operator says that it was paid, after it had expired. */
  async function late(id: string): Promise<void> {
    const ref = { kind: 'collection', id, merchantId: testEnv.merchant.id } as PaymentRef<'collection'>;
    const at = new Date();
    await recordTransition(contextOf(testEnv.db), {
      ref,
      transition: paid(),
      at,
      basis: basisFor(paid(), at),
    });
  }

  it('pays a reusable one again and again, and each phone has one request at a time', async () => {
    const { path } = await make({ use: 'reusable' });
    const [payer, other] = [openPayer(testEnv), openPayer(testEnv)];
    const phone = phoneFor('099');
    const own = await payer.attempt(path, typed(phone));
    assert.equal((await other.pay(path, typed(phone))).heading, 'A payment is in progress');
    const theirs = await other.attempt(path, typed(phoneFor('000')));
    await other.until(theirs, 'Paid');
    const back = await other.open(path);
    assert.match(back.html, new RegExp(`href="${theirs}"`));
    const next = await other.attempt(path, typed(phoneFor('000')));
    assert.notEqual(next, theirs);
    await other.until(next, 'Paid');
    assert.equal((await payer.open(path)).location, own);
  });

  it('reads why nothing can be paid: expired, cancelled, unknown', async () => {
    const payer = openPayer(testEnv);
    const { path, id } = await make();
    const { fields } = await payer.open(path);
    await testEnv.db.pool.query(`ALTER TABLE checkouts DISABLE TRIGGER checkouts_check`);
    await testEnv.db.pool.query(
      `UPDATE checkouts SET created_at = created_at - interval '8 days', expires_at = expires_at - interval '8 days' WHERE id = $1`,
      [id],
    );
    await testEnv.db.pool.query(`ALTER TABLE checkouts ENABLE TRIGGER checkouts_check`);
    for (const page of [await payer.open(path), await payer.post(path, { ...fields, phone: typed(phoneFor('000')) })])
      assert.deepEqual([page.status, page.heading], [410, 'This payment page is closed']);
    for (const unknown of [path.replace(/.$/, (last) => (last === '0' ? '1' : '0')), '/pay/nothing', '/pay/'])
      assert.deepEqual(
        [(await payer.open(unknown)).status, (await payer.open(unknown)).heading],
        [404, 'There is no such payment page'],
        unknown,
      );
    const response = await call(testEnv.baseUrl, 'GET', '/pay');
    assert.equal(response.status, 404);
  });
});

describe('a payer at a checkout in a currency of several countries', function () {
  this.timeout(300_000);
  const testEnv = useTestEnvironment({ ...API_ONLY });

  it('chooses the country of a number that is valid in two, before anybody is prompted', async () => {
    const { id: merchantId } = await testEnv.addMerchant('XOF');
    const { make } = await checkoutMaker(testEnv, merchantId);
    const count = () => countRows(testEnv.db, "payments WHERE kind = 'collection'");
    for (const [country, expected] of [
      ['BJ', '2290197123456'],
      ['BJ', '2290196123456'],
    ] as const) {
      const { path } = await make();
      const payer = openPayer(testEnv);
      const before = await count();
      const national = expected.slice(3).replace(/(..)/g, '$1 ');
      const asked = await payer.pay(path, national);
      assert.deepEqual([asked.status, await count()], [400, before]);
      assert.match(unescaped(asked.html), /This number exists in more than one country/);
      for (const choice of ['BJ', 'CI'])
        assert.match(asked.html, new RegExp(`<input type="radio" name="country" value="${choice}" required>`));
      assert.match(unescaped(asked.html), new RegExp(`Benin, \\+${expected}`));
      // Neither no choice nor one that is not offered decides.
      for (const other of [{}, { country: '' }, { country: 'UG' }]) {
        assert.equal((await payer.post(path, { ...asked.fields, ...other, phone: national })).status, 400);
      }
      assert.equal(await count(), before);
      const { status, html } = await payer.post(path, { ...asked.fields, country, phone: national });
      assert.equal(status, 303, html);
      const { rows } = await testEnv.db.pool.query<{ phone: string }>(
        "SELECT phone FROM payments WHERE kind = 'collection' ORDER BY id DESC",
      );
      assert.equal(rows[0]?.phone, expected);
    }
    // The other country's number is of an operator that this one does not reach.
    const { path } = await make();
    const payer = openPayer(testEnv);
    const { fields } = await payer.open(path);
    const other = await payer.post(path, { ...fields, country: 'CI', phone: '01 97 12 34 56' });
    assert.match(unescaped(other.html), /Nobody can pay here from this number/);
    // The country is not asked for again beside the operator.
    assert.match(other.html, / value="\+2250197123456" aria-describedby/);
    // Neither Benin's nor Côte d'Ivoire's former numbers lead anywhere, and each has its own example.
    for (const [phone, language, text] of [
      [
        '22997123456',
        'en',
        'Mobile numbers of Benin have become longer, and this is a former one. Type it like 01 97 12 34 56.',
      ],
      ['+225 04 12 34 56', 'en', 'Mobile numbers of Côte d’Ivoire have become longer'],
      ['97 12 34 56', 'en', 'Type it like 05 04 12 34 56 or 01 97 12 34 56.'],
      ['97 12 34 56', 'fr', 'comme 05 04 12 34 56 ou 01 97 12 34 56.'],
      ['97 12 34 56', 'sw', 'Namba za simu zimekuwa ndefu zaidi (Cote d’Ivoire au Benin)'],
      ['97 12 34 5', 'en', 'We cannot read this as a mobile number.'],
    ] as const) {
      const refused = await payer.post(path, { ...other.fields, phone, lang: language });
      assert.equal(refused.status, 400);
      const shown = unescaped(refused.html).replaceAll('\u00a0', ' ');
      assert.ok(shown.includes(text), shown.slice(shown.indexOf('id="error"'), shown.indexOf('id="error"') + 300));
    }
    const moved = await payer.post(path, { ...other.fields, phone: '+2250197123456', operator: 'mtn-momo' });
    assert.match(moved.location ?? '', /^\/pay\//);
    const another = await make();
    assert.match((await openPayer(testEnv).pay(another.path, '05 04 12 34 56')).location ?? '', /^\/pay\//);
  });
});
