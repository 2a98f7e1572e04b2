// Holds what the isolation tests know of the API against the server's own document, so that no route can be forgotten.
import assert from 'node:assert/strict';
import { ROLES } from '../../src/domain/accounts/member.ts';
import {
  API_SCOPES,
  BEFORE_A_SESSION,
  BEHIND_A_SESSION,
  BODY_IDS,
  CONSOLE_ROLES,
  isRead,
  NOT_FOUND,
  OPEN_TO_ALL,
  PATH_IDS,
  QUERY_IDS,
} from './access.ts';
import { looksLikeId, prefixOf, type PublishedOperation } from './published.ts';
import { SAMPLES } from './samples.ts';
import { startIsolationEnvironment, type IsolationEnvironment } from './tenants.ts';

describe('the operations that isolation is proved of', () => {
  let isolation: IsolationEnvironment;
  before(async () => {
    isolation = await startIsolationEnvironment();
  });
  after(() => isolation.testEnv.stop());

  const namesOf = (isWanted: (operation: PublishedOperation) => boolean) =>
    isolation.published.operations
      .filter(isWanted)
      .map(({ operationId }) => operationId)
      .sort();

  it('are all that there are: none is unknown, and none is gone', () => {
    const called = [...BEHIND_A_SESSION, ...BEFORE_A_SESSION];
    const known = [...called, ...OPEN_TO_ALL];
    const published = namesOf(() => true);
    const without = (names: readonly string[], others: readonly string[]) =>
      names.filter((name) => !others.includes(name));
    assert.deepEqual(without(published, known), [], 'operations that no test of isolation calls');
    assert.deepEqual(without(known, published), [], 'operations that there are no more');
    assert.deepEqual(without(called, Object.keys(SAMPLES)), [], 'operations that there is no sample of');
  });

  it('are on the side that their path says', () => {
    const console = [...Object.keys(CONSOLE_ROLES), ...BEFORE_A_SESSION];
    assert.deepEqual(
      namesOf(({ path }) => path.startsWith('/v1/console/')),
      console.sort(),
    );
    assert.deepEqual(
      namesOf(({ path }) => path.startsWith('/v1/api/')),
      Object.keys(API_SCOPES).sort(),
    );
    assert.deepEqual(
      namesOf(({ operation }) => operation.security?.length === 0),
      [...BEFORE_A_SESSION, ...OPEN_TO_ALL].sort(),
    );
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

  it('have ids of known nouns in their paths, and nowhere else but where it is known', () => {
    for (const operation of isolation.published.operations) {
      const { operationId, pathNames, queryNames, bodyIds } = operation;
      const noun = PATH_IDS[operationId];
      assert.deepEqual(pathNames, noun === undefined ? [] : ['id'], `${operationId}: ids in its path`);
      if (noun !== undefined) assert.equal(prefixOf(operation, 'id'), noun, `${operationId}: the noun of its id`);
      const narrowed = Object.keys(QUERY_IDS[operationId] ?? {});
      assert.deepEqual(queryNames.filter(looksLikeId), narrowed, `${operationId}: ids in its query`);
      const field = BODY_IDS[operationId]?.field;
      assert.deepEqual(bodyIds, field === undefined ? [] : [field], `${operationId}: ids in its body`);
    }
  });

  it('name the code for an id that is unknown', () => {
    for (const [operationId, noun] of Object.entries(PATH_IDS)) {
      const { responses } = isolation.published.find(operationId).operation;
      assert.ok(responses['404']?.description.includes(`\`${NOT_FOUND[noun]}\``), operationId);
    }
  });

  it('are named for reading exactly when they read', () => {
    const behind = (operation: PublishedOperation) => BEHIND_A_SESSION.includes(operation.operationId);
    assert.deepEqual(
      namesOf((operation) => behind(operation) && operation.method === 'GET'),
      BEHIND_A_SESSION.filter(isRead).sort(),
    );
  });
});
