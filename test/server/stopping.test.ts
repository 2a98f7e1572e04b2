// How a server stops while requests come in, and what happens to one whose port is taken.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort } from '../../src/engines/process/ports.ts';
import type { RunningServer } from '../../src/server/assemble-server.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { exchange } from '../api/raw-http.ts';
import { API_ONLY } from '../api/responses.ts';
import { call, collectionFields } from '../support/api.ts';
import { build, builtFile } from '../support/build.ts';
import { SOUND } from '../settings/sound-settings.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

describe('a server that stops', () => {
  const testEnv = useTestEnvironment({ startsServer: false });
  let goOn: () => void = () => undefined;
  let pausedForMs: number[] = [];

  async function start(settings: Readonly<Record<string, string>>): Promise<RunningServer> {
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    pausedForMs = [];
    return testEnv.startServer(
      { MALIPO_UNREADY_BEFORE_CLOSE_MS: '7000', ...settings },
      {
        pause: (ms) => {
          pausedForMs.push(ms);
          return gate;
        },
      },
    );
  }

  it('says that it is not ready, and serves on before it closes, each response the last of its connection', async () => {
    const metricsPort = await freePort();
    const server = await start({ MALIPO_METRICS_PORT: String(metricsPort) });
    const { baseUrl, merchant } = testEnv;
    assert.equal((await call(baseUrl, 'GET', '/readyz')).json['status'], 'ready');

    const stopped = server.stop();
    assert.deepEqual(pausedForMs, [7000]);
    const readiness = await call(baseUrl, 'GET', '/readyz');
    assert.deepEqual([readiness.status, readiness.json['status']], [503, 'stopping']);
    const created = await call(baseUrl, 'POST', '/v1/api/collections', { key: merchant.key, json: collectionFields() });
    assert.equal(created.status, 202);
    // It ends with the connection, which the request does not ask to be closed.
    assert.match(
      await exchange(baseUrl, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      /^HTTP\/1\.1 200 .*Connection: close/s,
    );
    assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status, 200);

    goOn();
    await stopped;
    for (const url of [baseUrl, `http://127.0.0.1:${metricsPort}`]) await assert.rejects(fetch(`${url}/healthz`));
  });

  it('serves on for so short a time that it ends before it counts as hung', () => {
    const set = (ms: string) =>
      loadConfig({ ...SOUND, MALIPO_UNREADY_BEFORE_CLOSE_MS: ms }).clocks.unreadyBeforeCloseMs;
    assert.deepEqual([set('0'), set('15000')], [0, 15_000]);
    assert.throws(() => set('15001'), /MALIPO_UNREADY_BEFORE_CLOSE_MS: must be milliseconds, from 0 to 15000$/);
  });

  it('closes at once where nobody sends it requests', async () => {
    const server = await start({ MALIPO_ROLES: 'dispatcher' });
    await server.stop();
    assert.deepEqual(pausedForMs, []);
  });
});

describe('a server whose port is taken', () => {
  const testEnv = useTestEnvironment({ startsServer: false, ...API_ONLY });
  let taken: Server;
  let port: number;
  before(async () => {
    await build();
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    ({ port } = taken.address() as { port: number });
  });
  after(() => taken.close());

  for (const setting of ['MALIPO_METRICS_PORT', 'MALIPO_HTTP_PORT']) {
    it(`says so in one line, and ends, where it is ${setting}`, async () => {
      const child = fork(builtFile('dist/src/server/entries/server.js'), [], {
        execArgv: [],
        env: { ...testEnv.environment, [setting]: String(port) },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      const [exit, said] = await Promise.all([once(child, 'exit'), text(child.stderr!), text(child.stdout!)]);
      assert.deepEqual(exit, [1, null]);
      assert.equal(
        said,
        `server cannot start: ${setting}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
      );
    });

    it(`leaves nothing open, where it is ${setting}`, async () => {
      await assert.rejects(testEnv.startServer({ [setting]: String(port) }), { message: /EADDRINUSE/ });
      await assert.rejects(fetch(testEnv.baseUrl));
      await testEnv.startServer().then((server) => server.stop());
    });
  }
});
