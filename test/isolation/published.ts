// The operations as the server's OpenAPI document lists them: the isolation tests enumerate these.
import assert from 'node:assert/strict';
import { openApiOf } from '../support/openapi-check.ts';
import { operationsOf, type OpenApiDocument, type Operation } from '../api/openapi-structure.ts';

export type PublishedOperation = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The names of the parameters in the path. */
  readonly pathNames: readonly string[];
  readonly queryNames: readonly string[];
  /** It takes an Idempotency-Key. */
  readonly isIdempotent: boolean;
  /** The fields of its body that hold ids. */
  readonly bodyIds: readonly string[];
};

export type Published = {
  readonly operations: readonly PublishedOperation[];
  readonly cookieName: string;
  /** The operation with this id; fails with the id where the document has none. */
  find(operationId: string): PublishedOperation;
};

type Schema = {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

export async function readPublished(baseUrl: string): Promise<Published> {
  const document = (await openApiOf(baseUrl)) as unknown as OpenApiDocument;
  const operations = operationsOf(document).map(({ method, path, operation }): PublishedOperation => {
    const named = (where: string) =>
      (operation.parameters ?? []).filter((parameter) => parameter.in === where).map(({ name }) => name);
    const body = operation.requestBody?.content['application/json']?.schema;
    return {
      operationId: operation.operationId,
      method,
      path,
      operation,
      pathNames: named('path'),
      queryNames: named('query'),
      isIdempotent: named('header').includes('Idempotency-Key'),
      bodyIds: body ? idFieldsOf(document, body) : [],
    };
  });
  const { name } = document.components.securitySchemes['consoleSession'] as { readonly name?: string };
  assert.ok(name !== undefined);
  return {
    operations,
    cookieName: name,
    find(operationId) {
      const found = operations.find((operation) => operation.operationId === operationId);
      assert.ok(found, `the document has no operation ${operationId}`);
      return found;
    },
  };
}

/** The prefix of the id in the path as its pattern gives it. Null: it gives none. */
export function prefixOf({ operation }: PublishedOperation, name: string): string | null {
  const parameter = operation.parameters?.find((candidate) => candidate.in === 'path' && candidate.name === name);
  const { schema } = (parameter ?? {}) as { readonly schema?: { readonly pattern?: string } };
  return /^\^([a-z]{3})_/.exec(schema?.pattern ?? '')?.[1] ?? null;
}

export function looksLikeId(name: string): boolean {
  return /^ids?$|_ids?$/.test(name);
}

function idFieldsOf(document: OpenApiDocument, schema: Schema): string[] {
  if (schema.$ref !== undefined) {
    const target = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
    return target ? idFieldsOf(document, target) : [];
  }
  const own = Object.keys(schema.properties ?? {}).filter(looksLikeId);
  const within = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  return [...own, ...within.flatMap((part) => idFieldsOf(document, part))];
}
