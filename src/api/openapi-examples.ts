// Gives every parameter, body and response in the OpenAPI document an example, composed from those of its fields.
type Schema = Readonly<Record<string, unknown>>;
type Components = Readonly<Record<string, unknown>>;

// Examples for texts by the name of their field, if the schema itself has none.
const TEXTS: Readonly<Record<string, string>> = {
  address: '203.0.113.7',
  approval_token: 'vJ0c4m1kq2n8s6t3u7w5x9y1z0a2b4c6d8e0f1g3h5i',
  body: '{"id":"evt_01j9z3k5m7n9p1q3r5s7t9v1w3","type":"collection.succeeded"}',
  code: '482913',
  currency: 'UGX',
  current_password: 'correct horse battery staple',
  description: 'Shop server',
  email: 'amina@shop.example',
  error: 'the connection was refused',
  hint: 'sk_test_…a1B2',
  id: '1042',
  last_address: '203.0.113.9',
  key: 'sk_test_3vJ0c4m1kq2n8s6t3u7w5x9y1z0a2b4kQ9x1Z',
  merchant_id: 'mer_01j9z3k5m7n9p1q3r5s7t9v1w3',
  message: 'The payer cancelled the prompt.',
  name: 'Amina',
  needs_step_up: 'changePassword',
  new_password: 'a better horse and its battery',
  object_id: 'col_01j9z3k5m7n9p1q3r5s7t9v1w3',
  openapi: '3.1.0',
  otpauth_url: 'otpauth://totp/Malipo:amina%40shop.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Malipo',
  param: 'amount',
  password: 'correct horse battery staple',
  replaced_by: 'key_01j9z3k5m7n9p1q3r5s7t9v1w3',
  request_id: 'req_01j9z3k5m7n9p1q3r5s7t9v1w3',
  response_body: 'ok',
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  staff: 'otieno',
  subject_id: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3',
  token: 'vJ0c4m1kq2n8s6t3u7w5x9y1z0a2b4c6d8e0f1g3h5i',
  totp: '287082',
  url: 'https://shop.example/webhooks',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
};

/** An example that fits the schema. A text without an example gets the one of its name, or a plain one. */
export function exampleOf(schema: Schema, components: Components, name = ''): unknown {
  const nested = (inner: unknown, innerName = name) => exampleOf(inner as Schema, components, innerName);
  if ('example' in schema) return schema['example'];
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (typeof schema['$ref'] === 'string') return nested(components[schema['$ref'].split('/').at(-1) ?? '']);
  if (Array.isArray(schema['type'])) return nested({ ...schema, type: (schema['type'] as unknown[])[0] });
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'];
  // A union of objects also declares that it is an object.
  const isChoice = schema['type'] === undefined || schema['oneOf'] !== undefined;
  if (Array.isArray(choices) && isChoice) return nested(choices[0]);
  if (schema['type'] === 'object') return exampleObject(schema, nested);
  if (schema['type'] === 'array') return [nested(schema['items'])];
  if (schema['type'] === 'boolean') return true;
  if (schema['type'] === 'integer' || schema['type'] === 'number') return Math.max(1, Number(schema['minimum'] ?? 1));
  return TEXTS[name] ?? 'text';
}

function exampleObject(schema: Schema, nested: (inner: unknown, name: string) => unknown): object {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, unknown>);
  return Object.fromEntries(properties.map(([name, property]) => [name, nested(property, name)]));
}

type Content = Record<string, { schema?: Schema; example?: unknown; examples?: unknown }>;
type Part = { name?: string; schema?: Schema; example?: unknown; content?: Content };
type Operation = { parameters?: Part[]; requestBody?: Part; responses?: Record<string, Part> };
type Document = {
  paths?: object | undefined;
  webhooks?: object | undefined;
  components?: { schemas?: object | undefined } | undefined;
};

/** Adds an example to every place in the document that has none. */
export function addExamples<Given extends Document>(document: Given): Given {
  const components = (document.components?.schemas ?? {}) as Components;
  const operations = [document.paths, document.webhooks]
    .flatMap((paths) => Object.values((paths ?? {}) as Record<string, object>))
    .flatMap((path) => Object.values(path) as Operation[]);
  for (const { parameters = [], requestBody, responses = {} } of operations) {
    for (const parameter of parameters)
      parameter.example ??= exampleOf(parameter.schema ?? {}, components, parameter.name);
    for (const { content = {} } of [requestBody ?? {}, ...Object.values(responses)]) {
      for (const media of Object.values(content)) {
        if (media.examples === undefined) media.example ??= exampleOf(media.schema ?? {}, components);
      }
    }
  }
  for (const [type, path] of Object.entries((document.webhooks ?? {}) as Record<string, { post: Operation }>)) {
    for (const media of Object.values(path.post.requestBody?.content ?? {})) asReported(media.example, type);
  }
  return document;
}

// The object of an event is in the state that the type of the event names.
function asReported(example: unknown, type: string): void {
  const { data } = example as { data: { object: Record<string, unknown>; previous_state?: string } };
  if (data.previous_state === undefined) return;
  const [noun, state] = type.split('.');
  data.object['state'] = state;
  data.previous_state = noun === 'collection' ? (state === 'prompted' ? 'initiated' : 'prompted') : 'queued';
}
