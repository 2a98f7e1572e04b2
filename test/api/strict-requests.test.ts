// Requests must not contain invisible characters, a second spelling of a path, or nested names. The refusal says so.
import assert from 'node:assert/strict';
import { call, collectionFields, type CallOptions } from '../support/api.ts';
import { PASSWORD } from '../support/people.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, issuesOf } from './responses.ts';
import { exchange } from './raw-http.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const PATH = '/v1/api/collections';

describe('a request', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const create = (options: CallOptions) =>
    call(testEnv.baseUrl, 'POST', PATH, { key: testEnv.merchant.key, ...options });
  const get = (path: string) => call(testEnv.baseUrl, 'GET', path, { key: testEnv.merchant.key });
  /** As it is written: `fetch` would put the path in order first. */
  const getAsWritten = (target: string) =>
    exchange(
      testEnv.baseUrl,
      `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testEnv.merchant.key}\r\nConnection: close\r\n\r\n`,
    );

  describe('with text of one line', () => {
    const refused: readonly (readonly [string, string])[] = [
      ['a zero-width space', '\u200b'],
      ['a zero-width joiner', '\u200d'],
      ['a soft hyphen', '\u00ad'],
      ['a byte order mark', '\ufeff'],
      ['a Hangul filler', '\u3164'],
      ['a variation selector', '\ufe0f'],
      ['a right-to-left override', '\u202e'],
      ['a bidirectional isolate', '\u2066'],
      ['a right-to-left mark', '\u200f'],
      ['a noncharacter', '\ufdd0'],
      ['a noncharacter at the end of a plane', '\u{1ffff}'],
      ['a tag character', '\u{e0041}'],
      ['a line separator', '\u2028'],
      ['a control character', '\u0085'],
    ];
    for (const [what, character] of refused) {
      it(`is refused when that contains ${what}`, async () => {
        const text = `INV${character}1`;
        const json = collectionFields({ reference: text, description: text, metadata: { [text]: '1' } });
        const response = await create({ json });
        const issues = issuesOf(response).map((issue) => issue.replace(/metadata\..*/, 'metadata'));
        assert.deepEqual(
          issues,
          ['reference parameter_invalid', 'description parameter_invalid', 'metadata'],
          response.text,
        );
        assert.ok(!response.text.includes(character), 'the response does not repeat it');
      });
    }

    it('is accepted with letters of any script, signs and emoji', async () => {
      for (const reference of ['Grüße № 7', 'رقم ١٢', 'ግብር 4', '發票-9', 'Ọjà 🛒', '1 + 1 < 3 & "x"']) {
        const response = await create({ json: collectionFields({ reference, description: reference }) });
        assert.equal(response.json['reference'], reference, response.text);
      }
    });
  });

  it('is refused when a name in its form nests more than one level', async () => {
    for (const name of ['metadata[a][b]', 'metadata[a[b]]', 'metadata[]', 'metadata[a]b', 'metadata[a']) {
      const body = `phone=256772000100&amount=5000&reference=INV-1&${name}=1`;
      const response = await create({ raw: { type: FORM_TYPE, body } });
      assertError(response, 'parameter_unknown');
      assert.deepEqual(issuesOf(response), [`${name} parameter_unknown`]);
    }
  });

  it('is refused when the escapes of its query are not text in UTF-8', async () => {
    for (const query of ['reference=%FF', 'reference=%C3', 'reference=%ED%A0%80', '%FF=1', 'limit=5&x=%80']) {
      assertError(await get(`${PATH}?${query}`), 'parameter_invalid');
    }
    assert.equal((await get(`${PATH}?reference=%e2%82%ac`)).status, 200);
  });

  it('finds a route under one spelling of its path alone', async () => {
    const id = (await create({ json: collectionFields() })).json['id'] as string;
    const others = [
      '/v1/api/collections/',
      '/v1/api//collections',
      '//v1/api/collections',
      '/V1/api/collections',
      '/v1/api/Collections',
      '/v1/api/%63ollections',
      '/v1%2Fapi/collections',
      '/v1/api/./collections',
      '/v1/api/x/../collections',
      '/v1/api/collections#x',
      '/v1/api\\collections',
      'http://x/v1/api\\collections',
      `/v1/api/collections/${id}/`,
      `/v1/api/collections//${id}`,
      '/docs/',
      '/healthz/',
      '/Healthz',
    ];
    for (const target of others) {
      const text = await getAsWritten(target);
      assert.match(text, /^HTTP\/1\.1 404 /, target);
      assert.match(text, /"route_not_found"/, target);
    }
    for (const spelled of [id.toUpperCase(), id.replace('_', '%5F'), id.replace('c', '%63'), `${id}%2F`, `${id}%00`]) {
      assert.match(await getAsWritten(`${PATH}/${spelled}`), /^HTTP\/1\.1 404 [\s\S]*"collection_not_found"/, spelled);
    }
    assert.match(await getAsWritten(`${PATH}/${id}`), /^HTTP\/1\.1 200 /);
    assert.match(await getAsWritten(`http://x${PATH}/${id}`), /^HTTP\/1\.1 200 /);
  });

  it('is refused in the service’s own sentences, not a validator’s', async () => {
    const asPerson = (path: string, json: unknown) => call(testEnv.baseUrl, 'POST', path, { json });
    const long = 'x'.repeat(2000);
    const responses = [
      await get(`${PATH}?state=nothing&limit=x&created_from=y&phone=1&reference=${long.slice(0, 300)}`),
      await get('/v1/api/payouts?approval_state=nothing&state=1&state=2'),
      await create({ json: { phone: 1, amount: 'x', reference: [], currency: 5, description: {}, metadata: [] } }),
      await create({ json: collectionFields({ currency: 'ugx', metadata: { a: 1, [long]: long } }) }),
      await create({ json: collectionFields({ phone: null, amount: null, metadata: null, currency: null }) }),
      await asPerson('/v1/console/session', { email: 5, password: long, totp: long, merchant_id: true }),
      await asPerson('/v1/console/recovery', { token: long, new_password: 1 }),
      await asPerson('/v1/console/invitations/accept', { token: 1, name: 1, password: PASSWORD, totp: {} }),
    ];
    for (const response of responses) {
      assert.equal(response.status, 400, response.text);
      const errors = response.json.error?.['errors'] as { param: string; message: string }[];
      assert.ok(errors.length > 0);
      for (const { param, message } of errors) {
        assert.doesNotMatch(
          message,
          /expected|received|invalid|input|option|too (big|small)|string|=|\bnull\b/i,
          message,
        );
        assert.match(message, /^\S[^\n]{10,200}\.$/, param);
      }
    }
  });

  it('never gets an error that is larger than a request may be', async () => {
    const names = (name: (n: number) => string, count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), 1])));
    const bodies = [
      JSON.stringify({ ['x'.repeat(65_000)]: 1 }),
      JSON.stringify({ ['\u200b'.repeat(21_000)]: 1 }),
      JSON.stringify({ ['"\\'.repeat(16_000)]: 1 }),
      names((n) => `${'"'.repeat(300)}${n}`, 105),
      names((n) => `${'\u202e'.repeat(200)}${n}`, 105),
      names((n) => `${n}`, 6000),
      JSON.stringify(
        collectionFields({ metadata: JSON.parse(names((n) => `${'\u202e'.repeat(100)}${n}`, 200)) as object }),
      ),
    ];
    for (const body of bodies) {
      assert.ok(body.length < 65_536);
      const response = await create({ raw: { type: 'application/json', body } });
      assert.equal(response.status, 400);
      assert.ok(Buffer.byteLength(response.text) < 65_536, `${Buffer.byteLength(response.text)} bytes`);
    }
  });
});
