// A real Temporal server as a child process.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { freePort } from '../../src/engines/process/ports.ts';
import { startOfProcess } from '../../src/engines/process/process-identity.ts';
import { resolveTemporalBinary } from '../../src/engines/temporal/binary.ts';
import {
  startTemporalServer,
  type TemporalServer,
  type TemporalServerOptions,
} from '../../src/engines/temporal/server.ts';
import { throwaway, writeScript } from './throwaway.ts';
import { clientOf, NAMESPACE } from './temporal-clients.ts';

describe('the embedded Temporal server', () => {
  const { folder, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  let binary: string;
  before(async () => {
    binary = await resolveTemporalBinary({ env: process.env, report: console.log });
  });

  async function start(options: Partial<TemporalServerOptions> = {}): Promise<TemporalServer> {
    const server = await startTemporalServer({
      binary,
      host: '127.0.0.1',
      port: await freePort(),
      namespaces: [NAMESPACE],
      logFile: join(folder(), 'temporal.log'),
      ...options,
    });
    defer(() => server.stop());
    return server;
  }

  function startNothing(client: Client, workflowId: string): Promise<unknown> {
    return client.workflow.start('nothing', { workflowId, taskQueue: 'nobody', args: [] });
  }

  it('keeps its workflows in its file over a restart', async () => {
    const databaseFile = join(folder(), 'temporal', 'temporal.db');
    const first = await start({ databaseFile, synchronous: 'off' });
    await startNothing(await clientOf(first, defer), 'collection/mer_1/key one');
    await first.stop();
    assert.equal(startOfProcess(first.pid), undefined);
    const second = await start({ databaseFile, synchronous: 'off' });
    const { status } = await (await clientOf(second, defer)).workflow.getHandle('collection/mer_1/key one').describe();
    assert.equal(status.name, 'RUNNING');
  });

  it('forgets its workflows without a file, and serves its web UI on request', async () => {
    const uiPort = await freePort();
    const server = await start({ uiPort });
    assert.equal(server.uiUrl, `http://127.0.0.1:${uiPort}`);
    assert.equal((await fetch(server.uiUrl)).status, 200);
    const client = await clientOf(server, defer);
    await assert.rejects(client.workflow.getHandle('collection/mer_1/key one').describe(), /not found/i);
  });

  it('fires short timers in time', async () => {
    const client = await clientOf(await start(), defer);
    const taskQueue = { name: 'delayed' };
    const tookMs: number[] = [];
    for (let count = 1; count <= 5; count++) {
      const startedAtMs = performance.now();
      const options = { workflowId: `delayed-${count}`, taskQueue: taskQueue.name, startDelay: 20, args: [] };
      await client.workflow.start('nothing', options);
      const poll = (): Promise<{ workflowExecution?: { workflowId?: string | null } | null }> =>
        client.workflowService.pollWorkflowTaskQueue({ namespace: NAMESPACE, taskQueue });
      const task = await client.withDeadline(Date.now() + 10_000, poll);
      assert.equal(task.workflowExecution?.workflowId, `delayed-${count}`);
      tookMs.push(performance.now() - startedAtMs);
    }
    // With the server's default setting it would be a second for each, and the quickest counts: the machine may have been busy.
    assert.ok(Math.min(...tookMs) < 900, `took ${tookMs.join(', ')} ms`);
  });

  it('has one partition for each task queue', async () => {
    const client = await clientOf(await start(), defer);
    const { activityTaskQueuePartitions } = await client.workflowService.listTaskQueuePartitions({
      namespace: NAMESPACE,
      taskQueue: { name: 'any' },
    });
    assert.equal(activityTaskQueuePartitions.length, 1);
  });

  it('reports its process at once, and its end when it is killed', async () => {
    const spawned: number[] = [];
    const server = await start({ onSpawn: (pid) => spawned.push(pid) });
    assert.deepEqual(spawned, [server.pid]);
    process.kill(server.pid, 'SIGKILL');
    assert.deepEqual(await server.exited, { code: null, signal: 'SIGKILL' });
    await server.stop();
  });

  it('fails with the port when it is taken', async () => {
    const first = await start();
    const port = Number(first.address.split(':')[1]);
    await assert.rejects(
      start({ port }),
      new RegExp(`port ${port} on 127\\.0\\.0\\.1 for the Temporal server is taken`),
    );
  });

  it('fails with the end of the log when the server ends, and when it never responds', async () => {
    const failing = writeScript(join(folder(), 'temporal'), ['echo "Error: no room left"', 'exit 1']);
    await assert.rejects(start({ binary: failing }), /did not start: it ended with code 1[^]*no room left/);
    const mute = writeScript(join(folder(), 'temporal'), ['echo "thinking"', 'exec sleep 60']);
    const spawned: number[] = [];
    const waiting = start({ binary: mute, readyLimitMs: 500, onSpawn: (pid) => spawned.push(pid) });
    await assert.rejects(waiting, /did not start: not within 0\.5 s[^]*thinking/);
    assert.equal(startOfProcess(spawned[0] ?? 0), undefined, 'it is not left behind');
  });

  it('moves a file aside that a killed first start left without tables', async () => {
    const databaseFile = join(folder(), 'temporal.db');
    writeFileSync(databaseFile, '');
    await start({ databaseFile, synchronous: 'off' });
    assert.equal(existsSync(`${databaseFile}.unfinished`), true);
  });
});
