// A server on a database of another version: it says so, does nothing, and works as soon as the database fits.
import assert from 'node:assert/strict';
import { freePort } from '../../src/engines/process/ports.ts';
import { compareSchema, readSchemaFiles, schemaFault, schemaFile } from '../../src/db/platform/schema-files.ts';
import { assertError } from '../api/responses.ts';
import { makeCollection } from '../db/rows.ts';
import { call, collectionFields } from '../support/api.ts';
import { pay, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { scrape } from '../support/scrape.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironmentPerCase } from '../support/use-test-environment.ts';

const LATER = '999-later.sql';

describe('a server', () => {
  const testEnv = useTestEnvironmentPerCase({ startsServer: false });
  let lastFile = '';
  before(async () => {
    lastFile = (await readSchemaFiles()).at(-1)?.name ?? '';
  });

  const sql = (text: string, values: readonly unknown[] = []) => testEnv.db.pool.query(text, [...values]);
  const addLater = (oldestServers: string | null) =>
    sql("INSERT INTO schema_migrations VALUES ($1, '', now(), $2)", [LATER, oldestServers]);
  const readiness = async () => {
    const { status, json } = await call(testEnv.baseUrl, 'GET', '/readyz').catch(() => ({ status: 0, json: {} }));
    return { status, json: json as { status?: string; reason?: string; parts?: { database?: string } } };
  };
  const untilUnready = (reason: RegExp) =>
    eventually('it to say why it is not ready', async () => {
      const { status, json } = await readiness();
      return (
        status === 503 &&
        json.status === 'down' &&
        json.parts?.database === 'other_schema' &&
        reason.test(json.reason ?? '')
      );
    });

  /** It answers for its health alone, and none of its roles works. */
  async function assertDoesNothing(metricsPort: number): Promise<void> {
    const { baseUrl, merchant, db } = testEnv;
    const open = await makeCollection(db, merchant.id, 'initiated');
    assert.equal((await call(baseUrl, 'GET', '/healthz')).status, 200);
    const { key } = merchant;
    for (const [method, path, json] of [
      ['POST', '/v1/api/collections', collectionFields()],
      ['GET', '/v1/api/balance', undefined],
      ['POST', '/operators/mtn-momo/callbacks', {}],
    ] as const)
      assertError(await call(baseUrl, method, path, { key, json }), 'service_unavailable');
    await eventually('the dispatcher to listen for nothing', async () => {
      const listening =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'malipo-listener'";
      return (await sql(listening)).rowCount === 0;
    });
    await eventually('the workers to ask for nothing', async () => {
      const polling = (await scrape(metricsPort)).samples.filter(({ name }) => name === 'temporal_num_pollers');
      return polling.every(({ value }) => value === 0);
    });
    const shown = await scrape(metricsPort);
    for (const role of ['api', 'worker', 'dispatcher']) assert.equal(shown.valueOf('malipo_process_role', { role }), 0);
    assert.equal(await promptsRaised(testEnv, open.phone), 0);
  }

  async function assertPays(): Promise<void> {
    assert.equal((await readiness()).json.status, 'ready');
    await untilState(testEnv, await pay(testEnv, '000'), 'succeeded');
  }

  it('waits for a database that lacks a schema file, and works without a restart once it is migrated', async () => {
    const { rows } = await sql('DELETE FROM schema_migrations WHERE name = $1 RETURNING *', [lastFile]);
    const metricsPort = await freePort();
    const started = testEnv.startServer({ MALIPO_METRICS_PORT: String(metricsPort) });
    await untilUnready(new RegExp(`^the database is older than this version needs: it lacks ${lastFile} `));
    await assertDoesNothing(metricsPort);
    const { name, sha256 } = rows[0] as Readonly<Record<string, string>>;
    await sql('INSERT INTO schema_migrations VALUES ($1, $2, now())', [name, sha256]);
    await started;
    await assertPays();
  });

  it('waits where a later file says that only later servers may run', async () => {
    await addLater(null);
    const metricsPort = await freePort();
    const started = testEnv.startServer({ MALIPO_METRICS_PORT: String(metricsPort) });
    await untilUnready(/^the database is newer than this version can use, .* 999-later\.sql$/);
    await assertDoesNothing(metricsPort);
    await sql('UPDATE schema_migrations SET oldest_servers = $1 WHERE name = $2', [lastFile, LATER]);
    await started;
    await assertPays();
  });

  it('stops all its roles when the database becomes one of another version, and starts them when it fits again', async () => {
    const metricsPort = await freePort();
    await testEnv.startServer({ MALIPO_METRICS_PORT: String(metricsPort) });
    await assertPays();
    await addLater(null);
    await untilUnready(/ 999-later\.sql$/);
    await assertDoesNothing(metricsPort);
    await sql('DELETE FROM schema_migrations WHERE name = $1', [LATER]);
    await eventually('it to be ready', async () => (await readiness()).status === 200);
    await assertPays();
    const { rows } = await sql("SELECT id FROM payments WHERE state <> 'succeeded'");
    for (const { id } of rows as { id: string }[]) {
      await eventually('what waited to go on', async () => {
        const found = await sql("SELECT FROM payments WHERE id = $1 AND state <> 'initiated'", [id]);
        return found.rowCount === 1;
      });
    }
  });
});

describe('the schema of a database', () => {
  const files = ['010-a.sql', '190-b.sql', '200-c.sql'].map((name) => schemaFile(name, `-- ${name}`));
  const later = (name: string, oldestServers: string | null) => ({ name, sha256: '', oldestServers });
  const fault = (...others: readonly ReturnType<typeof later>[]) =>
    schemaFault(compareSchema(files, [...files, ...others]));

  it('fits a version whose files it has, and none that lacks one', () => {
    assert.equal(fault(), null);
    assert.match(schemaFault(compareSchema(files, files.slice(0, 1))) ?? '', /lacks 190-b\.sql and 1 more/);
  });

  it('fits an earlier version as long as each later file serves it', () => {
    assert.equal(fault(later('210-d.sql', '190-b.sql'), later('220-e.sql', '200-c.sql')), null);
    assert.match(fault(later('210-d.sql', '190-b.sql'), later('220-e.sql', '210-d.sql')) ?? '', /changed 220-e\.sql$/);
    assert.match(fault(later('210-d.sql', null)) ?? '', /changed 210-d\.sql$/);
  });

  it('fits no version that knows a file with another content, or a file between its own that it does not know', () => {
    const altered = [...files.slice(0, 2), { ...files[2]!, sha256: 'other' }];
    assert.match(schemaFault(compareSchema(files, altered)) ?? '', /changed 200-c\.sql$/);
    assert.match(fault(later('195-x.sql', '190-b.sql')) ?? '', /changed 195-x\.sql$/);
  });
});
