// The bodies of requests: each is read exactly, to the byte and the digit, or refused.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, issuesOf } from './responses.ts';
import { collectionCreator, JSON_TYPE, FORM_TYPE, SOUND_FORM } from './collection-requests.ts';

describe('the body of a request for a collection', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const create = collectionCreator(testEnv);
  const createFrom = (body: string, type = JSON_TYPE) => create({ raw: { type, body } });

  describe('with a JSON number as the amount', () => {
    const body = (amount: string) => `{"phone":"256772000100","reference":"INV-1","amount":${amount}}`;
    for (const written of ['5000.0', '5e3', '50.00E+2', '50000e-1', '0.05e5']) {
      it(`reads ${written} as 5000`, async () => {
        const response = await createFrom(body(written));
        assert.equal(response.json['amount'], 5000, response.text);
      });
    }
    for (const written of ['9007199254740993', '1e300', '-1e300', '1e400', '-1e400', '0.1', '5000.00001']) {
      it(`is refused with the amount ${written}`, async () => {
        const response = await createFrom(body(written));
        assert.equal(response.status, 400, response.text);
        assert.match(issuesOf(response).join(), /^amount (parameter_invalid|amount_out_of_bounds)$/);
        assert.match(response.text, /"amount must be [^"]*\."/);
      });
    }
    for (const written of ['5000.0000000000000000001', '4999.99999999999999999999', '5000e-400', '1e-400']) {
      it(`is refused with ${written}, which is not rounded`, async () => {
        assertError(await createFrom(body(written)), 'body_malformed');
      });
    }
    for (const written of ['05000', '+5000', '0x1388', '5_000', 'NaN', '5000n', '.5', '5000.']) {
      it(`is refused with ${written}, which is not JSON`, async () => {
        assertError(await createFrom(body(written)), 'body_malformed');
      });
    }
  });

  describe('that is malformed', () => {
    const bodies: readonly (readonly [string, string])[] = [
      ['half an object', '{"phone":"256772000100"'],
      ['text', '"phone"'],
      ['a number', '5000'],
      ['null', 'null'],
      ['true', 'true'],
      ['a list', '[]'],
      ['a list of one request', '[{"phone":"256772000100","amount":5000,"reference":"INV-1"}]'],
      ['two objects', '{}{}'],
      ['a trailing comma', '{"phone":"256772000100",}'],
      ['single quotes', "{'phone':'256772000100'}"],
      ['a field that would change the prototype of all objects', '{"__proto__":{"amount":5000}}'],
      ['such a field inside metadata', '{"metadata":{"__proto__":{"a":"b"}}}'],
      ['a line break within text', '{"reference":"a\nb"}'],
      ['a form declared as JSON', SOUND_FORM],
      ['a field twice', '{"phone":"256772000100","amount":5000,"reference":"INV-1","amount":6000}'],
      ['a field twice with the same value', '{"amount":5000,"amount":5000}'],
      ['a field twice, one of them in escapes', '{"amount":5000,"\\u0061mount":5000}'],
      ['a name twice inside metadata', '{"metadata":{"a":"b","c":"{\\"","a":"d"}}'],
    ];
    for (const [what, body] of bodies) {
      it(`is refused when it holds ${what}`, async () => {
        assertError(await createFrom(body), 'body_malformed');
      });
    }
  });

  it('may repeat a field name in another object, and hold text that looks like a field name', async () => {
    const pairs = '{"phone":"x","amount":"a","reference":"\\"reference\\":","a,":"{\\"a\\":1","[":"]"}';
    const response = await createFrom(
      `{"phone":"256772000100","amount":5000,"reference":"amount","metadata":${pairs}}`,
    );
    assert.equal(response.status, 202, response.text);
    assert.deepEqual(response.json['metadata'], JSON.parse(pairs));
  });

  it('is refused when it is not UTF-8, in JSON or in a form, escaped or not', async () => {
    const bytesIn = (text: string) =>
      Buffer.concat(text.split('?').flatMap((part, n) => [...(n > 0 ? [Buffer.from([0xc3])] : []), Buffer.from(part)]));
    const bodies: readonly (readonly [string, Buffer | string])[] = [
      [JSON_TYPE, bytesIn('{"phone":"256772000100","amount":5000,"reference":"INV-?"}')],
      [FORM_TYPE, bytesIn('phone=256772000100&amount=5000&reference=INV-?')],
      [FORM_TYPE, 'phone=256772000100&amount=5000&reference=INV-%C3'],
      [FORM_TYPE, 'phone=256772000100&amount=5000&reference=%ED%A0%80'],
    ];
    for (const [type, body] of bodies) assertError(await create({ raw: { type, body } }), 'body_malformed');
    const sound = await createFrom(`${SOUND_FORM}&description=100%+of+%e2%82%ac`, FORM_TYPE);
    assert.equal(sound.json['description'], '100% of €', sound.text);
  });

  describe('by its size', () => {
    const ofBytes = (size: number) => {
      const frame = JSON.stringify({ reference: '' });
      return JSON.stringify({ reference: 'x'.repeat(size - frame.length) });
    };
    it('is read to its end at 64 KiB', async () => {
      const response = await createFrom(ofBytes(65_536));
      assert.equal(response.status, 400);
      assert.ok(issuesOf(response).includes('reference parameter_invalid'), response.text);
    });
    it('is refused above 64 KiB, as JSON or as a form', async () => {
      assertError(await createFrom(ofBytes(65_537)), 'body_too_large');
      assertError(await createFrom(ofBytes(5_000_000)), 'body_too_large');
      assertError(await createFrom(`a=${'x'.repeat(65_535)}`, FORM_TYPE), 'body_too_large');
    });
    it('is refused above 64 KiB when the request declares no length', async () => {
      const chunk = Buffer.alloc(10_000, 'x');
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from('{"reference":"'));
          for (let i = 0; i < 10; i++) controller.enqueue(chunk);
          controller.close();
        },
      });
      const response = await fetch(new URL('/v1/api/collections', testEnv.baseUrl), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${testEnv.merchant.key}`,
          'idempotency-key': randomUUID(),
          'content-type': JSON_TYPE,
        },
        body,
        duplex: 'half',
      });
      assert.equal(response.status, 413);
    });
  });
});
