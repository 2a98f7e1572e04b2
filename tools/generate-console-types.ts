// Generates the types of the console's API client from the OpenAPI document: the compiler finds changes of routes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { readArguments } from '../src/arguments.mjs';
import { openApiDocument } from '../src/api/openapi.ts';
import { apiRoutes } from './api-routes.ts';
import { findProjectRoot } from '../src/project-root.ts';

const PUBLIC_URL = 'http://localhost';
/** The client itself sends it with every request. */
const SENT_BY_CLIENT = 'Malipo-Console';

type Described = { parameters?: { name?: string }[] };

readArguments({
  usage: 'usage: node --import=tsx/esm tools/generate-console-types.ts\n\nWrites the types of the API for the console.',
});
const document = openApiDocument(apiRoutes(PUBLIC_URL), PUBLIC_URL);
for (const methods of Object.values(document.paths ?? {})) {
  for (const operation of Object.values(methods) as Described[]) {
    if (!operation.parameters) continue;
    operation.parameters = operation.parameters.filter(({ name }) => name !== SENT_BY_CLIENT);
  }
}
const folder = join(findProjectRoot(), 'console', 'generated');
mkdirSync(folder, { recursive: true });
const types = await openapiTS(document as unknown as OpenAPI3);
const [file, text] = [join(folder, 'api.ts'), astToString(types)];
// An up-to-date file stays untouched: the linter may be reading it.
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
