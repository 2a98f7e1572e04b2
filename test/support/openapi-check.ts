// Checks responses against the OpenAPI document that the server under test publishes.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Operation = {
  responses: Record<string, { headers?: Record<string, object>; content?: Record<string, { schema?: object }> }>;
};
export type OpenApi = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

// What a caller acts on.
const DOCUMENTED_HEADERS = [
  'malipo-request-id',
  'idempotent-replayed',
  'retry-after',
  'www-authenticate',
  'allow',
  'set-cookie',
];

type Loaded = {
  /** As this server publishes it. */
  readonly published: OpenApi;
  /** As all servers of this text have it, with the validators that are compiled for it. */
  readonly document: OpenApi;
  readonly ajv: Ajv2020;
};

const loads = new Map<string, Promise<Loaded>>();
const documents = new Map<string, Pick<Loaded, 'document' | 'ajv'>>();

export async function openApiOf(baseUrl: string): Promise<OpenApi> {
  return (await load(baseUrl)).published;
}

/** Fails unless the document has this operation with this status and the body matches its schema. */
export async function checkResponse(
  baseUrl: string,
  received: { method: string; path: string; status: number; body: unknown; headers: Headers },
): Promise<void> {
  const { document, ajv } = await load(baseUrl);
  const pathname = new URL(received.path, baseUrl).pathname;
  // A literal path takes precedence over a template.
  const template = document.paths[pathname]
    ? pathname
    : Object.keys(document.paths).find((path) => matches(path, pathname));
  const operation = template === undefined ? undefined : document.paths[template]?.[received.method.toLowerCase()];
  const where = `${received.method} ${pathname} ${received.status}`;
  if (template === undefined || operation === undefined) {
    assert.ok(received.status === 404 || received.status === 405, `${where}: the document has no such operation`);
    validate(ajv, { $ref: 'openapi#/components/schemas/Error' }, received.body, where);
    return;
  }
  const response = operation.responses[String(received.status)];
  assert.ok(response, `${where}: the document does not name this status`);
  const documented = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of DOCUMENTED_HEADERS.filter((header) => received.headers.has(header))) {
    assert.ok(documented.includes(name), `${where}: the document does not name the header ${name}`);
  }
  const schema = Object.values(response.content ?? {})[0]?.schema;
  if (schema) validate(ajv, rootedOnce(schema), received.body, where);
}

const rootedSchemas = new WeakMap<object, object>();

// Ajv finds a compiled validator by the identity of its schema object, so each schema is converted once.
function rootedOnce(schema: object): object {
  const known = rootedSchemas.get(schema) ?? rooted(schema);
  rootedSchemas.set(schema, known);
  return known;
}

function load(baseUrl: string): Promise<Loaded> {
  let loaded = loads.get(baseUrl);
  if (!loaded) {
    loaded = (async () => {
      const response = await fetch(new URL('/v1/openapi.json', baseUrl));
      const published = (await response.json()) as OpenApi;
      return { published, ...withValidators(published) };
    })();
    loads.set(baseUrl, loaded);
  }
  return loaded;
}

// Compiling takes long, and servers of one run mostly differ in their address alone, which no validator sees.
function withValidators(published: OpenApi): Pick<Loaded, 'document' | 'ajv'> {
  const text = JSON.stringify({ ...published, servers: [] });
  const known = documents.get(text);
  if (known) return known;
  const document = JSON.parse(text) as OpenApi;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Ours are in UTC and have milliseconds, which no format says.
  ajv.addFormat('date-time', /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);
  ajv.addSchema(document, 'openapi');
  documents.set(text, { document, ajv });
  return { document, ajv };
}

function validate(ajv: Ajv2020, schema: object, body: unknown, where: string): void {
  assert.ok(ajv.validate(schema, body), `${where}: ${ajv.errorsText()}\n${JSON.stringify(body)}`);
}

// The document's references are relative to its own root, which ajv knows as `openapi`.
function rooted(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
}

function matches(template: string, pathname: string): boolean {
  return new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}$`).test(pathname);
}
