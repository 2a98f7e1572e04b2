// The OpenAPI document satisfies linters and generators: no generated client fails on the service’s responses.
import assert from 'node:assert/strict';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiDocument } from '../../src/api/openapi.ts';
import { apiRoutes } from '../../tools/api-routes.ts';
import { operationsOf, webhooksOf, type OpenApiDocument } from './openapi-structure.ts';

const MAX_INT32 = 2 ** 31 - 1;

describe('the OpenAPI document, for linters and generators', () => {
  const publicUrl = 'https://pay.example';
  let text: string;
  let document: OpenApiDocument & { readonly tags: readonly { readonly name: string; readonly description: string }[] };

  before(() => {
    text = JSON.stringify(openApiDocument(apiRoutes(publicUrl), publicUrl));
    document = JSON.parse(text) as typeof document;
  });

  /** Every object of the document but examples, which are no schemas. */
  function nodes(node: unknown = document): Record<string, unknown>[] {
    if (Array.isArray(node)) return node.flatMap(nodes);
    if (typeof node !== 'object' || node === null) return [];
    const own = Object.entries(node).filter(([name]) => !['example', 'examples'].includes(name));
    return [node as Record<string, unknown>, ...own.flatMap(([, inner]) => nodes(inner))];
  }

  it('has nothing that the recommended rules of Redocly warn of', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  it('says in every operation what it is for, under a tag that the document describes, and by a name of its own', () => {
    const all = [...operationsOf(document), ...webhooksOf(document)];
    const names = all.map(({ operation }) => operation.operationId);
    assert.equal(new Set(names).size, names.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of all) {
      const { operationId, description } = operation as typeof operation & { readonly description?: string };
      assert.ok(description !== undefined && description !== '', operationId);
      for (const tag of operation.tags) assert.ok(tags.includes(tag), `${operationId}: ${tag}`);
      assert.ok(
        Object.keys(operation.responses).some((status) => status.startsWith('4')),
        operationId,
      );
    }
    const used = new Set(all.flatMap(({ operation }) => operation.tags));
    assert.deepEqual(
      tags,
      tags.filter((tag) => used.has(tag)),
    );
  });

  it('names its contact and its licence', () => {
    const { contact, license } = document.info as Record<string, unknown>;
    assert.deepEqual(contact, { name: 'The operator of this deployment' });
    assert.deepEqual(license, { name: 'Apache License 2.0', identifier: 'Apache-2.0' });
  });

  it('uses every component that it has', () => {
    const refs = new Set(nodes().map(({ $ref }) => $ref));
    for (const node of nodes()) {
      // Examples refer to others by their names.
      for (const { $ref } of Object.values((node['examples'] ?? {}) as Record<string, { $ref?: string }>))
        refs.add($ref);
    }
    const { schemas, examples } = document.components as unknown as Record<string, Record<string, unknown>>;
    const unused = Object.entries({ schemas, examples }).flatMap(([kind, own]) =>
      Object.keys(own ?? {}).filter((name) => !refs.has(`#/components/${kind}/${name}`)),
    );
    assert.deepEqual(unused, []);
  });

  it('has no pattern beside a format, which a client checks against a value that is no text any more', () => {
    const both = nodes().filter(({ format, pattern }) => typeof format === 'string' && typeof pattern === 'string');
    assert.deepEqual(both, []);
    assert.ok(nodes().filter(({ format }) => format === 'date-time').length > 100);
  });

  it('has no constant in a parameter, for which a generator leaves the operation out', () => {
    const parameters = operationsOf(document).flatMap(({ operation }) => operation.parameters ?? []);
    const constants = parameters.filter(({ schema }) => 'const' in schema);
    assert.deepEqual(constants, []);
    const markers = parameters.filter(({ name, required }) => name === 'Malipo-Console' && required === true);
    assert.ok(markers.length > 40);
    for (const { schema } of markers) assert.deepEqual((schema as { enum?: unknown }).enum, ['1']);
  });

  it('says of every whole number that is too large for 32 bits that it has 64', () => {
    const integers = nodes().filter(({ type }) => type === 'integer');
    const large = integers.filter(({ maximum }) => typeof maximum === 'number' && maximum > MAX_INT32);
    assert.ok(large.length > 100);
    for (const integer of large) assert.equal(integer['format'], 'int64', JSON.stringify(integer));
    assert.ok(integers.some(({ format }) => format === undefined));
  });

  it('gives a form another schema than JSON, so that a client sees which of them a body is', () => {
    let count = 0;
    for (const { operation } of operationsOf(document)) {
      const { 'application/json': json, 'application/x-www-form-urlencoded': form } =
        operation.requestBody?.content ?? {};
      if (!json || !form) continue;
      count += 1;
      assert.notDeepEqual(form.schema, json.schema, operation.operationId);
      // Without one, the module that openapi-python-client writes for the operation cannot be loaded.
      assert.ok(
        operation.parameters?.some(({ required }) => required !== true),
        operation.operationId,
      );
    }
    assert.ok(count > 20);
  });
});
