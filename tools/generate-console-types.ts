// Generates the types of the console's API client from our own OpenAPI document: what a route changes, the compiler finds there.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { ApiDeps } from '../src/api/context.ts';
import { createApp } from '../src/api/app.ts';
import { openApiDocument } from '../src/api/openapi.ts';
import { findProjectRoot } from '../src/dev/project-root.ts';

const PUBLIC_URL = 'http://localhost';
/** The client sends it with every request by itself. */
const SENT_BY_CLIENT = 'Malipo-Console';

type Described = { parameters?: { name?: string }[] };

// No route is called, so what routes depend on may be missing.
const nothing = {
  publicUrl: PUBLIC_URL,
  trustedProxies: 0,
  rateLimitPerSecond: 0,
  operatorRateLimitPerSecond: 0,
  consoleApp: null,
  docsSite: null,
} as ApiDeps;
const { routes } = createApp(nothing);
const document = openApiDocument(routes, PUBLIC_URL);
for (const methods of Object.values(document.paths ?? {})) {
  for (const operation of Object.values(methods) as Described[]) {
    if (!operation.parameters) continue;
    operation.parameters = operation.parameters.filter(({ name }) => name !== SENT_BY_CLIENT);
  }
}
const folder = join(findProjectRoot(), 'console', 'generated');
mkdirSync(folder, { recursive: true });
const types = await openapiTS(document as unknown as OpenAPI3);
writeFileSync(join(folder, 'api.ts'), astToString(types));
