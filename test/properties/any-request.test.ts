// Whatever is sent to the API, the response is one that the contract knows, and never an internal error.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../support/api.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../api/responses.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';

const RUNS = { numRuns: 100 };
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 200 }));
const anyValue = fc.oneof(anyText, fc.integer(), fc.double(), fc.jsonValue({ maxDepth: 2 }));

// Valid fields, some of them replaced, left out or added to: most requests are nearly valid.
const nearlyValid = fc
  .tuple(
    fc.dictionary(fc.constantFrom('phone', 'amount', 'reference', 'currency', 'description', 'metadata'), anyValue, {
      maxKeys: 2,
    }),
    fc.dictionary(anyText, anyValue, { maxKeys: 2 }),
    fc.subarray(['phone', 'amount', 'reference'], { maxLength: 1 }),
  )
  .map(([replaced, added, left]) => {
    const fields = { ...collectionFields(), ...replaced, ...added };
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.includes(name)));
  });

const anyBody: fc.Arbitrary<CallOptions> = fc.oneof(
  { weight: 4, arbitrary: nearlyValid.map((json) => ({ json })) },
  { weight: 1, arbitrary: fc.jsonValue().map((json) => ({ json })) },
  {
    weight: 2,
    arbitrary: fc.array(fc.tuple(anyText, anyText), { maxLength: 8 }).map((pairs) => ({
      form: new URLSearchParams([['phone', '256772000100'], ['amount', '5000'], ...pairs]),
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('application/json', 'application/x-www-form-urlencoded'),
        fc.uint8Array({ maxLength: 300 }),
      )
      .map(([type, bytes]) => ({ raw: { type, body: Buffer.from(bytes) } })),
  },
);

const PARAMETERS = ['limit', 'cursor', 'state', 'reference', 'phone', 'created_from', 'created_to', 'other'];
const anyQuery = fc.array(
  fc.tuple(fc.constantFrom(...PARAMETERS), fc.oneof(anyText, fc.constantFrom('1', 'prompted'))),
  {
    maxLength: 4,
  },
);

describe('any request', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  function assertKnown(response: ApiResponse, success: number): void {
    if (response.status === success) return;
    assert.ok(response.status >= 400 && response.status < 500, response.text);
    assertError(response, response.json.error?.code as ErrorCode);
  }

  it('for a new collection is accepted or refused with an error code', async () => {
    const path = '/v1/api/collections';
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        assertKnown(await call(testEnv.baseUrl, 'POST', path, { key: testEnv.merchant.key, ...body }), 202);
      }),
      RUNS,
    );
  });

  it('for a list of collections is served or refused with an error code', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, async (pairs) => {
        const query = new URLSearchParams(pairs);
        const path = `/v1/api/collections?${query.toString()}`;
        assertKnown(await call(testEnv.baseUrl, 'GET', path, { key: testEnv.merchant.key }), 200);
      }),
      RUNS,
    );
  });

  it('for an arbitrary id of a collection is refused as not found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), async (text) => {
        const id = encodeURIComponent(text);
        fc.pre(!/^(\.|%2e){1,2}$/i.test(id));
        const response = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${id}`, { key: testEnv.merchant.key });
        assertError(response, 'collection_not_found');
      }),
      RUNS,
    );
  });

  it('with a callback is accepted or refused with an error code', async () => {
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const options = { idempotencyKey: null, ...body };
        assertKnown(await call(testEnv.baseUrl, 'POST', '/operators/mtn-momo/callbacks', options), 200);
      }),
      RUNS,
    );
  });
});
