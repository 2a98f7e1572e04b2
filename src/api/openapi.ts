// The OpenAPI 3.1 document, generated from the routes and the schemas that validate requests.
import type { z } from 'zod';
import { createDocument } from 'zod-openapi';
import { ERROR_CODES } from '../domain/errors.ts';
import { CURRENCIES, exponentOf } from '../domain/money.ts';
import { addExamples } from './openapi-examples.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';
import { TAGS } from './openapi-tags.ts';
import type { Route } from './route.ts';
import { liveUpdateSchema, streamReadySchema } from './schemas/live-update.ts';
import { errorExample } from './schemas/error-example.ts';
import { sessionCookieName } from './session-cookie.ts';

const listOf = (exponent: number) => CURRENCIES.filter((code) => exponentOf(code) === exponent).join(', ');

const DESCRIPTION = `Mobile-money collections, payouts, balance and signed webhooks.

Every response carries \`Malipo-Request-Id\`. Amounts are whole numbers in the currency's smallest unit: the hundredth of ${listOf(2)},
and the whole unit of ${listOf(0)}. An operator may take multiples of a larger step only; another amount is refused and never rounded. Errors carry a
stable \`code\`; finer codes may be added, so treat a code you do not know as its \`type\`.

Bodies come as JSON or as a form. In a form a list repeats its name, \`metadata[order]=1042\` is one pair, and an empty value stands for null.
\`null\` for an optional field means the same as leaving the field out, also where its schema has no null. Where the schema has null, its description says what null means.
A route refuses what it does not read: unknown fields and parameters, and the fields of any body if the route takes none.

The routes under \`/v1/console\` are for people with a session. \`x-roles\` names the roles that may call a route; without \`x-roles\`, any role may.
The roles \`owner\`, \`admin\`, \`maker\` and \`approver\` require a second factor: until the person has enrolled one, their session can call only
\`/v1/console/session\` and the routes under it. \`x-step-up\` marks operations that need a log-in or step-up within the last five minutes.`;

// The code that no operation has: it is returned if no operation matches.
const EXAMPLE_CODES = ERROR_CODES.filter((code) => code !== 'route_not_found');
const MAX_INT32 = 2 ** 31 - 1;

export function openApiDocument(routes: readonly Route[], publicUrl: string) {
  const paths: Record<string, Record<string, Route['operation']>> = {};
  for (const { path, method, operation } of routes) paths[path] = { ...paths[path], [method]: operation };
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Malipo',
        version: '1.0.0',
        description: DESCRIPTION,
        contact: { name: 'The operator of this deployment' },
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      servers: [{ url: publicUrl }],
      // The default for operations: a key, or the session of a person whose roles have the scope.
      security: [{ apiKey: [] }, { consoleSession: [] }],
      paths,
      webhooks: openApiWebhooks(),
      components: {
        schemas: { LiveUpdate: liveUpdateSchema, StreamReady: streamReadySchema },
        examples: Object.fromEntries(EXAMPLE_CODES.map((code) => [code, { value: errorExample(code) }])),
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'A secret key of the merchant, `sk_test_…` or `sk_live_…`. For servers only.',
          },
          consoleSession: {
            type: 'apiKey',
            in: 'cookie',
            name: sessionCookieName(publicUrl),
            description:
              'The session of a person, from `POST /v1/console/session`. A request that changes something also needs the ' +
              'header `Malipo-Console: 1` and the `Origin` of this service. A read with the header `Malipo-Background: 1`, ' +
              'which no person asked for, does not count as use of the session. A request with the header `Malipo-Merchant` is ' +
              'refused unless the session is for the merchant with this id.',
          },
        },
      },
    },
    { override: withFormat },
  );
  return addExamples(document);
}

// Without the format, generated clients of many languages read a number into 32 bits.
function withFormat({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { type, maximum = 0 } = jsonSchema;
  if (type === 'integer' && maximum > MAX_INT32) jsonSchema.format = 'int64';
}
