// The pages of checkouts as such: what they show of what people wrote, in which language, how large they are, and what they refuse.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { FAILURE_CODES } from '../../../src/domain/payments/failure.ts';
import { OPERATORS } from '../../../src/domain/payments/operator-catalogue.ts';
import { COUNTRIES } from '../../../src/api/pay/operator-instructions.ts';
import { isUntranslated, languageOf, LANGUAGES, say } from '../../../src/api/pay/texts.ts';
import { type TextKey, ENGLISH } from '../../../src/api/pay/texts-en.ts';
import { amountIn, countdown, timeIn } from '../../../src/api/pay/words.ts';
import { tamper } from '../../db/rows.ts';
import { phoneFor } from '../../support/payments.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { startAnotherServer } from '../responses.ts';
import { checkoutMaker, openPayer, unescaped, type MakeCheckout } from './payer.ts';

const MAX_FIRST_PAINT_BYTES = 14 * 1024;
const KEYS = Object.keys(ENGLISH) as TextKey[];
const newPhone = () => phoneFor('000');

describe('the texts of checkouts', () => {
  it('say in English what happened and what to do next, for every failure code', () => {
    for (const code of FAILURE_CODES) {
      const text = ENGLISH[`failure.${code}`];
      assert.match(text, /^\S.{20,}\.$/, code);
    }
    const coded = KEYS.filter((key) => key.startsWith('failure.'));
    assert.deepEqual(coded.sort(), FAILURE_CODES.map((code) => `failure.${code}`).sort());
  });

  it('say the same in French and Swahili without a gap, and in Luganda as far as we are sure', () => {
    const gaps = LANGUAGES.map((language) => KEYS.filter((key) => isUntranslated(language, key)).length);
    console.log(`      texts without words of their own: ${LANGUAGES.map((tag, i) => `${tag} ${gaps[i]}`).join(', ')}`);
    assert.deepEqual(gaps.slice(0, 3), [0, 0, 0]);
    assert.ok(gaps[3]! < KEYS.length);
  });

  it('name the same things in every language', () => {
    const namesIn = (text: string) => [...new Set(text.match(/\{[a-z]+\}/g))].sort();
    const all = new Proxy({}, { get: () => 'x' }) as Record<string, string>;
    for (const language of LANGUAGES)
      for (const key of KEYS) {
        if (isUntranslated(language, key)) continue;
        const names = KEYS.includes(key) ? namesIn(rawOf(language, key)) : [];
        assert.deepEqual(names, namesIn(ENGLISH[key]), `${language} ${key}`);
        assert.ok(say(language, key, all).length > 0);
      }
  });

  it('have nothing in a sentence of the service that a merchant wrote for the one payment', () => {
    for (const language of LANGUAGES)
      for (const key of KEYS)
        assert.doesNotMatch(rawOf(language, key), /\{(?:reference|description)\}/, `${language} ${key}`);
  });

  // With each name instead of its value.
  function rawOf(language: (typeof LANGUAGES)[number], key: TextKey): string {
    return say(language, key, new Proxy({}, { get: (_, name) => `{${String(name)}}` }));
  }

  it('are in the language of the browser or region, and never in one that there is not', () => {
    assert.deepEqual(['fr', 'fr-CI', 'SW-tz', 'lg', 'en-GB', 'de', '', undefined, ['fr']].map(languageOf), [
      'fr',
      'fr',
      'sw',
      'lg',
      'en',
      null,
      null,
      null,
      null,
    ]);
  });

  it('show every digit of an amount, and each time with its zone', () => {
    const shown = (amountMinor: bigint, currency: 'UGX' | 'KES', language: 'en' | 'fr' = 'en') =>
      amountIn(language, { amountMinor, currency }).replace(/\u00a0/g, ' ');
    assert.equal(shown(9_007_199_254_740_991n, 'UGX'), 'UGX 9,007,199,254,740,991');
    assert.equal(shown(1n, 'KES'), 'KES 0.01');
    assert.equal(shown(123_456_789n, 'KES', 'fr'), 'KES 1 234 567,89');
    assert.match(
      timeIn('en', new Date('2026-01-31T21:30:00Z'), 'Africa/Kampala'),
      /^February 1, 2026 at 12:30:00\sAM \(UTC\+03:00\)$/,
    );
    assert.deepEqual([0, 999, 61_000, 600_000, -5].map(countdown), ['0:00', '0:01', '1:01', '10:00', '0:00']);
  });

  it('know every country of the operators', () => {
    const countries = Object.values(OPERATORS).flatMap(({ markets }) => markets.map(({ country }) => country));
    assert.deepEqual([...new Set(countries)].sort(), Object.keys(COUNTRIES).sort());
  });
});

describe('the pages of checkouts', function () {
  this.timeout(200_000);
  const testEnv = useTestEnvironment();
  let make: MakeCheckout;
  before(async () => {
    ({ make } = await checkoutMaker(testEnv));
  });

  it('are at most 14 kB before the first paint, everything in one response', async () => {
    const description = 'x'.repeat(120);
    const { path } = await make({ description, reference: 'r'.repeat(100) });
    for (const [language, coding] of [
      ['en', 'gzip'],
      ['fr', 'br'],
      ['sw', 'gzip'],
    ] as const) {
      const { bytes, html } = await received(`${path}?lang=${language}`, coding);
      console.log(`      first paint, ${language}, ${coding}: ${bytes} bytes of ${MAX_FIRST_PAINT_BYTES}`);
      assert.ok(bytes <= MAX_FIRST_PAINT_BYTES);
      assert.doesNotMatch(html, /<script|<img|<link(?! rel="icon" href="data:,")|@import|url\(/);
      assert.ok(html.includes(description));
    }
  });

  /** As it comes over the wire, with its headers. */
  async function received(path: string, coding: 'gzip' | 'br'): Promise<{ bytes: number; html: string }> {
    const request = get(new URL(path, testEnv.baseUrl), { headers: { 'accept-encoding': coding } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    assert.equal(response.headers['content-encoding'], coding);
    const head = response.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
    return {
      bytes: head + body.length,
      html: (coding === 'br' ? brotliDecompressSync(body) : gunzipSync(body)).toString(),
    };
  }

  it('show every text of merchants and payers as plain text', async () => {
    const nasty = '"><script>alert(1)</script>';
    await tamper(testEnv.db, 'UPDATE merchants SET name = $1 WHERE id = $2', ['<b>&"\'Shop', testEnv.merchant.id]);
    const { path } = await make({ reference: nasty, description: nasty, return_url: 'https://shop.example/?a="<b>' });
    const payer = openPayer(testEnv);
    const { fields, html } = await payer.open(path);
    const refused = await payer.post(path, { ...fields, phone: nasty });
    assert.equal(refused.status, 400);
    for (const page of [html, refused.html]) {
      assert.doesNotMatch(page, /<script|<b>/);
      assert.ok(unescaped(page).includes(nasty));
    }
    assert.equal(unescaped(/ value="([^"]*)" aria-describedby/.exec(refused.html)?.[1] ?? ''), nasty);
    const own = String((await payer.post(path, { ...fields, phone: newPhone() })).location);
    const paidPage = await payer.until(own, 'Paid');
    assert.doesNotMatch(paidPage.html, /<b>|<script>alert/);
    assert.match(paidPage.html, /href="https:\/\/shop\.example\/\?a=&quot;&lt;b&gt;"/);
    // Each time that the name is shown, it cannot turn the direction of what stands beside it.
    for (const page of [html, refused.html, paidPage.html]) {
      const names = page.replace(/<title>[^]*?<\/title>/, '').split('&lt;b&gt;&amp;&quot;&#39;Shop');
      assert.ok(names.length > 1);
      for (const [index, before] of names.slice(0, -1).entries()) {
        assert.ok(before.endsWith('<bdi>') && names[index + 1]!.startsWith('</bdi>'), before.slice(-80));
      }
    }
    await tamper(testEnv.db, 'UPDATE merchants SET name = $1 WHERE id = $2', ['Test merchant', testEnv.merchant.id]);
  });

  it('name the host to which their link leads', async () => {
    for (const [returnUrl, host] of [
      ['https://shop.example/?order=1', 'shop.example'],
      ['https://shop.example:8443/bank.example', 'shop.example:8443'],
      ['https://SHOP.example./', 'shop.example.'],
    ] as const) {
      const { path } = await make({ return_url: returnUrl });
      const payer = openPayer(testEnv);
      const paid = await payer.until(await payer.attempt(path, newPhone()), 'Paid');
      assert.ok(paid.html.includes(`>Back to <bdi>Test merchant</bdi> (${host})</a>`), paid.html);
    }
  });

  it('are never cached or indexed, and run only our own script', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const own = await payer.attempt(path, newPhone());
    for (const at of [path, own, `${path}?lang=xx`, '/pay/nothing']) {
      const { headers } = await openPayer(testEnv).open(at);
      assert.equal(headers.get('cache-control'), 'no-store', at);
      assert.equal(headers.get('x-robots-tag'), 'noindex, nofollow', at);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', at);
      assert.equal(headers.get('x-frame-options'), 'DENY', at);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'nonce-[\w-]{43}'; img-src data:; /);
      assert.match(
        policy,
        /form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    }
    const { html } = await payer.open(own);
    const script = /<script src="(\/pay\/assets\/refresh\.[0-9a-f]{16}\.js)" defer>/.exec(html)?.[1] ?? '';
    const { status, headers } = await payer.open(script);
    assert.deepEqual([status, headers.get('cache-control')], [200, 'public, max-age=31536000, immutable']);
    const { path: fresh } = await make();
    const cookie = (await openPayer(testEnv).open(fresh)).headers.get('set-cookie') ?? '';
    assert.match(
      cookie,
      new RegExp(`^malipo_attempt=[0-9a-z]{32}; Path=${fresh}; Max-Age=2592000; HttpOnly; SameSite=Lax$`),
    );
  });

  it('take no form of another site, of no site, or without the cookie', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const { fields } = await payer.open(path);
    const form = { ...fields, phone: newPhone() };
    const refusals = [
      await payer.post(path, form, { origin: 'https://evil.example' }),
      await payer.post(path, form, { 'sec-fetch-site': 'cross-site' }),
      await payer.post(path, form, { 'sec-fetch-site': 'same-site', origin: testEnv.baseUrl }),
      await payer.post(path, form, { 'sec-fetch-site': 'none' }),
      await openPayer(testEnv).post(path, form),
      await payer.post(path, { ...form, attempt: '0'.repeat(32) }),
      await payer.post(path, { phone: newPhone() }),
    ];
    for (const { status, heading } of refusals) assert.deepEqual([status, heading], [403, 'This form cannot be used']);
    const { rows } = await testEnv.db.pool.query(
      'SELECT 1 FROM checkout_attempts a JOIN checkouts k ON k.id = a.checkout_id WHERE $1 LIKE $2 || k.code',
      [path, '/pay/'],
    );
    assert.equal(rows.length, 0);
    const headers = { 'content-type': 'application/json' };
    const json = await fetch(new URL(path, testEnv.baseUrl), { method: 'POST', headers, body: '{}' });
    assert.equal(json.status, 415);
    // Our own page, in a browser that hides origins without referrers.
    assert.equal((await payer.post(path, form, { origin: 'null', 'sec-fetch-site': 'same-origin' })).status, 303);
  });

  it('support GET, HEAD and, for a form, POST', async () => {
    const { path } = await make();
    for (const [method, status, allow] of [
      ['HEAD', 200, null],
      ['PUT', 405, 'GET, HEAD, POST'],
    ] as const) {
      const response = await fetch(new URL(path, testEnv.baseUrl), { method });
      assert.deepEqual([response.status, response.headers.get('allow')], [status, allow]);
    }
    const attempt = await fetch(new URL(`${path}/${'0'.repeat(32)}`, testEnv.baseUrl), { method: 'POST' });
    assert.deepEqual([attempt.status, attempt.headers.get('allow')], [405, 'GET, HEAD']);
  });

  it('explain a wrong number beside it, and keep the typed text', async () => {
    const { path } = await make({ amount: 4_000_000 });
    const payer = openPayer(testEnv);
    const { fields } = await payer.open(path);
    for (const [phone, text] of [
      ['', 'Type your mobile-money number.'],
      ['0414 1', 'We cannot read this as a mobile number.'],
      ['254712345678', 'Nobody can pay here from this number.'],
    ] as const) {
      const page = await payer.post(path, { ...fields, phone });
      assert.equal(page.status, 400, phone);
      assert.ok(page.html.includes(text), page.html);
      assert.match(page.html, /aria-describedby="hint pin error" aria-invalid="true" autofocus/);
      assert.ok(page.html.includes(`value="${phone}"`));
      assert.equal(page.fields['attempt'], fields['attempt']);
    }
  });

  it('are in the language that was chosen, from page to page, and otherwise in that of the browser', async () => {
    const { path } = await make();
    const payer = openPayer(testEnv);
    const french = await payer.open(path, { 'accept-language': 'fr-CI, en;q=0.5' });
    assert.equal(french.heading, 'Payer Test merchant');
    assert.match(french.html, /<html lang="fr">/);
    assert.equal(french.headers.get('content-language'), 'fr');
    const swahili = await payer.open(`${path}?lang=sw`, { 'accept-language': 'fr' });
    assert.equal(swahili.heading, 'Lipa Test merchant');
    const posted = await payer.post(path, { ...swahili.fields, phone: newPhone() }, { 'accept-language': 'fr' });
    assert.match(String(posted.location), /\?lang=sw$/);
    const luganda = await payer.until(`${path}/${swahili.fields['attempt']}?lang=lg`, 'Kisasuddwa');
    assert.match(luganda.html, /<p lang="en"><bdi>Test merchant<\/bdi> has your payment/);
    assert.match(luganda.html, /href="[^"]*\/receipt\?lang=lg"/);
    assert.equal((await payer.open('/pay/x', { 'accept-language': 'de' })).heading, 'There is no such payment page');
  });

  it('are pages too when an address asks for too much', async () => {
    const { path } = await make();
    const busy = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '1' });
    const payer = openPayer(busy);
    let page = await payer.open(path);
    while (page.status === 200) page = await payer.open(path);
    assert.deepEqual([page.status, page.heading], [429, 'Too many attempts']);
    assert.match(page.headers.get('retry-after') ?? '', /^[1-9]/);
  });
});
