// Compares what the isolation tests know of the API with the server's own document, so that no route can be forgotten.
import assert from 'node:assert/strict';
import { ROLES } from '../../src/domain/accounts/member.ts';
import {
  API_SCOPES,
  BEFORE_A_SESSION,
  BEHIND_A_SESSION,
  BODY_IDS,
  CONSOLE_ROLES,
  isRead,
  WITHOUT_AUTHENTICATION,
  PATH_IDS,
  QUERY_IDS,
  OPERATIONS,
} from './access.ts';
import { NOT_FOUND } from './operation.ts';
import { looksLikeId, prefixOf, type PublishedOperation } from './published.ts';
import { useIsolationEnvironment } from './tenants.ts';

describe('the operations in the isolation tests', () => {
  const isolation = useIsolationEnvironment();

  const namesOf = (isWanted: (operation: PublishedOperation) => boolean) =>
    isolation.published.operations
      .filter(isWanted)
      .map(({ operationId }) => operationId)
      .sort();

  it('are exactly those that the document publishes', () => {
    const called = [...BEHIND_A_SESSION, ...BEFORE_A_SESSION];
    const known = [...called, ...WITHOUT_AUTHENTICATION];
    const published = namesOf(() => true);
    const without = (names: readonly string[], others: readonly string[]) =>
      names.filter((name) => !others.includes(name));
    assert.deepEqual(without(published, known), [], 'operations that no test of isolation calls');
    assert.deepEqual(without(known, published), [], 'operations that no longer exist');
    assert.deepEqual(without(called, Object.keys(OPERATIONS)), [], 'operations without a sample');
  });

  it('are under /v1/console, under /v1/api, or open to anybody, as the contract has them', () => {
    const console = [...Object.keys(CONSOLE_ROLES), ...BEFORE_A_SESSION];
    const found = namesOf(({ path }) => path.startsWith('/v1/console/'));
    assert.deepEqual(found, console.sort());
    const ofApi = namesOf(({ path }) => path.startsWith('/v1/api/'));
    assert.deepEqual(ofApi, Object.keys(API_SCOPES).sort());
    const open = namesOf(({ operation }) => operation.security?.length === 0);
    assert.deepEqual(open, [...BEFORE_A_SESSION, ...WITHOUT_AUTHENTICATION].sort());
  });

  it('are documented with the roles of the contract', () => {
    for (const [operationId, roles] of Object.entries(CONSOLE_ROLES)) {
      const documented = isolation.published.find(operationId).operation['x-roles'] ?? ROLES;
      assert.deepEqual([...documented].sort(), [...roles].sort(), operationId);
    }
    const elsewhere = namesOf(
      ({ operationId, operation }) => operation['x-roles'] !== undefined && !CONSOLE_ROLES[operationId],
    );
    assert.deepEqual(elsewhere, []);
  });

  it('are documented with the scopes of the contract', () => {
    for (const [operationId, scope] of Object.entries(API_SCOPES)) {
      const { description } = isolation.published.find(operationId).operation as { description?: string };
      assert.deepEqual(/Scope `([a-z:]+)`/.exec(description ?? '')?.[1], scope, operationId);
    }
  });

  it('have ids of known nouns in their paths, and other ids only if these tests know them', () => {
    for (const operation of isolation.published.operations) {
      const { operationId, pathNames, queryNames, bodyIds } = operation;
      const noun = PATH_IDS[operationId];
      // A token names no object: the operator has it of us.
      const ids = pathNames.filter((name) => name !== 'token');
      assert.deepEqual(ids, noun === undefined ? [] : ['id'], `${operationId}: ids in its path`);
      if (noun !== undefined) assert.equal(prefixOf(operation, 'id'), noun, `${operationId}: the noun of its id`);
      const narrowed = Object.keys(QUERY_IDS[operationId] ?? {});
      assert.deepEqual(queryNames.filter(looksLikeId), narrowed, `${operationId}: ids in its query`);
      const field = BODY_IDS[operationId]?.field;
      // What operators call back with is theirs.
      if (WITHOUT_AUTHENTICATION.includes(operationId)) continue;
      assert.deepEqual(bodyIds, field === undefined ? [] : [field], `${operationId}: ids in its body`);
    }
  });

  it('document the error code for an unknown id', () => {
    for (const [operationId, noun] of Object.entries(PATH_IDS)) {
      const { responses } = isolation.published.find(operationId).operation;
      assert.ok(responses['404']?.description.includes(`\`${NOT_FOUND[noun]}\``), operationId);
    }
  });

  it('are named as reads exactly when they read', () => {
    const behind = (operation: PublishedOperation) => BEHIND_A_SESSION.includes(operation.operationId);
    const reads = namesOf((operation) => behind(operation) && operation.method === 'GET');
    assert.deepEqual(reads, BEHIND_A_SESSION.filter(isRead).sort());
  });
});
