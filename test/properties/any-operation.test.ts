// Every operation of the document: its examples are accepted, and whatever else is sent gets a response that the document has.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { isOperator, OPERATORS } from '../../src/domain/payments/operator-catalogue.ts';
import { messagePath, segmentOf } from '../../src/security/callback-token.ts';
import { ATTESTATION_RING } from '../support/attestation.ts';
import { call, type ApiResponse, type CallOptions } from '../support/api.ts';
import { assertError } from '../api/responses.ts';
import { callerOptions, roleFor, sampleOf } from '../isolation/samples.ts';
import { OPERATIONS } from '../isolation/access.ts';
import type { PublishedOperation } from '../isolation/published.ts';
import { useIsolationEnvironment, type ConsoleSession, type Shop } from '../isolation/tenants.ts';

const RUNS = { numRuns: 3 };
const OPERATIONS_PER_SHOP = 10;
const TIMEOUT_MS = 300_000;
const NOT_AS_DOCUMENTED = [400, 413, 415];
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 200 }));
const anyValue = fc.oneof(anyText, fc.integer(), fc.double(), fc.jsonValue({ maxDepth: 2 }));

type Fields = Readonly<Record<string, unknown>>;

describe('any operation', () => {
  const isolation = useIsolationEnvironment();

  /** Calls it for a new owner of the shop, with everything that must exist for it. */
  function caller({ operationId, method, path, isIdempotent }: PublishedOperation, shop: Shop) {
    const { testEnv, logInAs } = isolation;
    const own = path.startsWith('/v1/api/') ? { key: shop.merchant.key } : {};
    return async (options: CallOptions, query = ''): Promise<ApiResponse> => {
      const session: ConsoleSession = await logInAs(shop, roleFor(operationId), callerOptions(operationId));
      const context = { testEnv, shop, person: session.person };
      const { id = '' } = operationId in OPERATIONS ? await sampleOf(operationId, context) : {};
      return call(testEnv.baseUrl, method, withToken(path).replace('{id}', id) + query, {
        ...(isIdempotent ? {} : { idempotencyKey: null }),
        ...(path.startsWith('/v1/console/') ? { headers: session.headers } : own),
        ...options,
      });
    };
  }

  const withBody = () => isolation.published.operations.filter(({ operation }) => operation.requestBody !== undefined);
  const exampleOf = ({ operation }: PublishedOperation) =>
    operation.requestBody?.content['application/json']?.example as Fields;

  it('accepts the example of its body as JSON and as a form', async () => {
    const shop = await isolation.addShop();
    for (const operation of withBody()) {
      const send = caller(operation, shop);
      const json = await send({ json: exampleOf(operation) });
      assert.ok(!NOT_AS_DOCUMENTED.includes(json.status), `${operation.operationId} ${json.text}`);
      const example = operation.operation.requestBody?.content['application/x-www-form-urlencoded']?.example;
      if (example === undefined) continue;
      const form = await send({ form: formOf(example as Fields) });
      assert.ok(!NOT_AS_DOCUMENTED.includes(form.status), `${operation.operationId} ${form.text}`);
    }
  }).timeout(TIMEOUT_MS);

  it('gives a documented response to every request, and no internal error', async () => {
    let shop: Shop | null = null;
    for (const [index, operation] of isolation.published.operations.entries()) {
      // Another one in time: the objects of a merchant are limited.
      if (shop === null || index % OPERATIONS_PER_SHOP === 0) shop = await isolation.addShop();
      const send = caller(operation, shop);
      const anyRequest = fc.tuple(nearly(exampleOf(operation)), anyQuery(operation.queryNames), fc.boolean());
      const property = fc.asyncProperty(anyRequest, async ([fields, query, isForm]) => {
        const body = fields === undefined ? {} : isForm ? { form: formOf(fields) } : { json: fields };
        // `call` compares it with the document.
        const response = await send(body, query);
        if (response.status < 400) return;
        assert.ok(response.status < 500, `${operation.operationId} ${response.text}`);
        assertError(response, response.json.error?.code as ErrorCode, response.status);
      });
      await fc.assert(property, RUNS);
    }
  }).timeout(TIMEOUT_MS);
});

/** The path of an address for messages, as an operator has it: its token proves that. */
function withToken(path: string): string {
  const [, , operator, segment] = path.split('/');
  if (!isOperator(operator)) return path;
  const purpose = OPERATORS[operator].messages?.purposes.find((each) => segmentOf(each) === segment);
  return purpose === undefined ? path : messagePath(operator, purpose, randomUUID(), ATTESTATION_RING);
}

/** The fields, some of them replaced, left out or added to: most are nearly valid. */
function nearly(example: Fields | undefined): fc.Arbitrary<Fields | undefined> {
  if (example === undefined) return fc.constant(undefined);
  const names = Object.keys(example);
  const anyName = names.length === 0 ? anyText : fc.oneof(fc.constantFrom(...names), anyText);
  const others = fc.dictionary(anyName, anyValue, { maxKeys: 2 });
  return fc.tuple(fc.subarray(names), others).map(([kept, replaced]) => ({
    ...Object.fromEntries(kept.map((name) => [name, example[name]])),
    ...replaced,
  }));
}

function anyQuery(names: readonly string[]): fc.Arbitrary<string> {
  const pairs = fc.array(fc.tuple(fc.constantFrom(...names, 'other'), anyText), { maxLength: 2 });
  return pairs.map((query) => (query.length === 0 ? '' : `?${new URLSearchParams(query).toString()}`));
}

/** As the document says: a list repeats its name, and `metadata[order]` is one pair. */
function formOf(fields: Fields): URLSearchParams {
  const pairs = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (Array.isArray(value)) return value.map((item) => [name, item]);
    if (typeof value !== 'object' || value === null) return [[name, value]];
    return Object.entries(value).map(([key, inner]) => [`${name}[${key}]`, inner]);
  });
  return new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
}
