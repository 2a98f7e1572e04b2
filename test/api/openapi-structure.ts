// Checks that our document is valid OpenAPI 3.1: structure, references, parameters and schemas.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ROLES } from '../../src/domain/accounts/member.ts';

export type Content = Readonly<
  Record<string, { readonly schema: object; readonly example?: unknown; readonly examples?: object }>
>;
export type Parameter = {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: object;
  readonly example?: unknown;
};
type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: object }>>;
  readonly content?: Content;
};
export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly 'x-roles'?: readonly string[];
  readonly 'x-step-up'?: true;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: object }>>;
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme?: string }>>;
  };
};

// The shape of the document itself, from the OpenAPI 3.1.0 specification: required and allowed fields.
const named = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (value: object) => ({ type: 'object', additionalProperties: value });
const TEXT = { type: 'string', minLength: 1 };
const SCHEMA = { type: ['object', 'boolean'] };
const HEADERS = mapOf(named({ schema: SCHEMA, description: TEXT, required: { type: 'boolean' } }, ['schema']));
const CONTENT = mapOf(
  named({ schema: SCHEMA, encoding: { type: 'object' }, example: {}, examples: { type: 'object' } }, ['schema']),
);
const OPERATION = named(
  {
    operationId: TEXT,
    tags: { type: 'array', items: TEXT, minItems: 1 },
    summary: TEXT,
    description: TEXT,
    security: { type: 'array', items: { type: 'object' } },
    parameters: {
      type: 'array',
      items: named(
        {
          in: { enum: ['query', 'header', 'path', 'cookie'] },
          name: TEXT,
          required: { type: 'boolean' },
          description: TEXT,
          schema: SCHEMA,
          example: {},
        },
        ['in', 'name', 'schema'],
      ),
    },
    'x-roles': { type: 'array', items: { enum: ROLES }, minItems: 1, uniqueItems: true },
    'x-step-up': { const: true },
    requestBody: named({ required: { type: 'boolean' }, description: TEXT, content: CONTENT }, ['content']),
    responses: {
      type: 'object',
      patternProperties: {
        '^[1-5]([0-9][0-9]|XX)$': named({ description: TEXT, headers: HEADERS, content: CONTENT }, ['description']),
      },
      additionalProperties: false,
      minProperties: 1,
    },
  },
  ['operationId', 'responses', 'summary', 'tags'],
);
const METHODS = Object.fromEntries(
  ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'].map((m) => [m, OPERATION]),
);
const DOCUMENT = named(
  {
    openapi: { type: 'string', pattern: '^3\\.1\\.[0-9]+$' },
    info: named(
      {
        title: TEXT,
        version: TEXT,
        description: TEXT,
        contact: named({ name: TEXT }),
        license: named({ name: TEXT, identifier: TEXT }, ['name']),
      },
      ['title', 'version'],
    ),
    servers: { type: 'array', minItems: 1, items: named({ url: { type: 'string', format: 'uri' } }, ['url']) },
    security: { type: 'array', items: { type: 'object' } },
    paths: {
      type: 'object',
      patternProperties: { '^/': named(METHODS) },
      additionalProperties: false,
      minProperties: 1,
    },
    webhooks: { type: 'object', additionalProperties: named({ post: OPERATION }, ['post']) },
    components: named({
      examples: mapOf(named({ value: {} }, ['value'])),
      schemas: mapOf(SCHEMA),
      securitySchemes: {
        type: 'object',
        additionalProperties: {
          oneOf: [
            named({ type: { const: 'http' }, scheme: TEXT, description: TEXT }, ['type', 'scheme']),
            named(
              { type: { const: 'apiKey' }, in: { enum: ['query', 'header', 'cookie'] }, name: TEXT, description: TEXT },
              ['type', 'in', 'name'],
            ),
          ],
        },
      },
    }),
    tags: { type: 'array', items: named({ name: TEXT, description: TEXT }, ['name']) },
  },
  ['openapi', 'info', 'paths'],
);

export function operationsOf(document: OpenApiDocument): { method: string; path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** The webhooks in the form of operations. */
export function webhooksOf(document: OpenApiDocument): { method: string; path: string; operation: Operation }[] {
  return Object.entries(document.webhooks).map(([path, { post }]) => ({ method: 'WEBHOOK', path, operation: post }));
}

const validators = new WeakMap<OpenApiDocument, { ajv: Ajv2020; known: Map<string, ValidateFunction> }>();

/** What checks values against a schema of the document. Compiling is slow, so equal schemas share one. */
export function validatorOf(document: OpenApiDocument, schema: object): ValidateFunction {
  let entry = validators.get(document);
  if (!entry) {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'openapi', components: document.components });
    entry = { ajv, known: new Map() };
    validators.set(document, entry);
  }
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
  const validate = entry.known.get(text) ?? entry.ajv.compile(JSON.parse(text) as object);
  entry.known.set(text, validate);
  return validate;
}

/** Fails unless the document is valid. */
export function assertValidDocument(document: OpenApiDocument): void {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  assert.ok(ajv.validate(DOCUMENT, document), ajv.errorsText());
  assertReferencesResolve(document);
  assertSchemasCompile(document);
  assertOperationsAreComplete(document);
}

function assertReferencesResolve(document: OpenApiDocument): void {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!);
  assert.ok(references.length > 0);
  for (const reference of references) {
    const [, part, name] = /^#\/components\/(schemas|examples)\/(\w+)$/.exec(reference) ?? [];
    const parts = part === 'examples' ? document.components.examples : document.components.schemas;
    assert.ok(name !== undefined && parts[name], `${reference} leads nowhere`);
  }
}

// OpenAPI 3.1 requires each schema to be valid JSON Schema 2020-12 by its own meta-schema.
function assertSchemasCompile(document: OpenApiDocument): void {
  const own = Object.keys(document.components.schemas).map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const used = [...operationsOf(document), ...webhooksOf(document)].flatMap(({ operation }) => schemasOf(operation));
  for (const schema of [...own, ...used]) validatorOf(document, schema);
}

function schemasOf({ parameters, requestBody, responses }: Operation): object[] {
  const ofContent = (content: Content = {}) => Object.values(content).map(({ schema }) => schema);
  return [
    ...(parameters ?? []).map(({ schema }) => schema),
    ...ofContent(requestBody?.content),
    ...Object.values(responses).flatMap(({ headers, content }) => [
      ...Object.values(headers ?? {}).map(({ schema }) => schema),
      ...ofContent(content),
    ]),
  ];
}

function assertOperationsAreComplete(document: OpenApiDocument): void {
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  for (const { method, path, operation } of operations) {
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(declared.map(({ name }) => name).sort(), written.sort(), `${method} ${path}`);
    assert.ok(declared.every(({ required }) => required === true));
    const schemes = (operation.security ?? document.security).flatMap(Object.keys);
    for (const scheme of schemes) assert.ok(document.components.securitySchemes[scheme], scheme);
  }
}
