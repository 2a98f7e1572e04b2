// Temporal's production server on a real PostgreSQL.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { freePort } from '../../src/engines/process/ports.ts';
import { startPostgresServer, TEMPORAL, type PostgresServer } from '../../src/engines/postgres/server.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { startTemporalOnPostgres } from '../../src/engines/temporal/on-postgres.ts';
import type { TemporalServer } from '../../src/engines/temporal/server.ts';
import { prepareTemporal } from '../../src/temporal/setup.ts';
import { temporalPrograms } from '../support/engines.ts';
import { throwaway } from './throwaway.ts';
import { queryAt } from '../support/one-client.ts';
import { clientOf, NAMESPACE } from './temporal-clients.ts';

describe('the production server of Temporal on PostgreSQL', () => {
  const { folder, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  async function startPostgres(): Promise<PostgresServer> {
    const dataDir = folder();
    const server = await startPostgresServer({
      dataDir,
      port: await freePort(),
      settings: { fsync: 'off' },
      logFile: join(dataDir, 'postgres.log'),
    });
    defer(() => server.stop());
    return server;
  }

  /** With an account that has no rights but on Temporal's own databases. */
  async function start(postgres: PostgresServer, password?: string): Promise<TemporalServer> {
    const { host, port } = postgres;
    await postgres.ensureAccounts('malipo', 'temporal');
    const { username, password: known } = new URL(postgres.urlFor('temporal', TEMPORAL));
    const own = folder();
    const server = await startTemporalOnPostgres({
      programs: await temporalPrograms(),
      postgres: { host, port, user: username, password: password ?? known },
      folder: own,
      host: '127.0.0.1',
      port: await freePort(),
      logFile: join(own, 'temporal.log'),
    });
    defer(() => server.stop());
    return server;
  }

  /** The part that hands work to workers is reached by others than the one that takes requests. */
  async function untilHandsOutWork({ connection }: Client): Promise<void> {
    const queue = { namespace: 'temporal-system', taskQueue: { name: 'nobody' } };
    while (!(await connection.workflowService.describeTaskQueue(queue).catch(() => null))) await sleep(100);
  }

  it('keeps namespace, search attributes and workflows over a kill and a restart', async () => {
    const postgres = await startPostgres();
    const first = await start(postgres);
    await prepareTemporal({ address: first.address, namespace: NAMESPACE });
    const workflowId = 'collection/mer_1/key one';
    const options = { workflowId, taskQueue: 'nobody', args: [] };
    await (await clientOf(first, defer)).workflow.start('nothing', options);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await start(postgres);
    await prepareTemporal({ address: second.address, namespace: NAMESPACE });
    const { status } = await (await clientOf(second, defer)).workflow.getHandle(workflowId).describe();
    assert.equal(status.name, 'RUNNING');
    await second.stop();
    assert.equal(startOfProcess(second.pid), undefined);
  });

  it('forgets the members of a server that was killed, for which it would wait', async () => {
    const postgres = await startPostgres();
    const url = new URL(postgres.adminUrl);
    url.pathname = '/temporal';
    const members = async (): Promise<string[]> => {
      const rows = await queryAt(url.href, `SELECT encode(host_id, 'hex') AS id FROM cluster_membership`);
      return rows.map(({ id }) => String(id));
    };
    const first = await start(postgres);
    await untilHandsOutWork(await clientOf(first, defer));
    const dead = await members();
    assert.notEqual(dead.length, 0);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await start(postgres);
    const known = await members();
    assert.deepEqual(
      known.filter((id) => dead.includes(id)),
      [],
    );
    await untilHandsOutWork(await clientOf(second, defer));
  });

  it('fails with the reason if the database refuses it', async () => {
    await assert.rejects(
      start(await startPostgres(), 'wrong'),
      /the database temporal could not be prepared for Temporal: .*no usable database connection/,
    );
  });
});
