// How many connections a client may have open: of one address, without a request, and in all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { freePort } from '../../src/engines/process/ports.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, startAnotherServer } from './responses.ts';

const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('the connections of the API', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const opened: Socket[] = [];
  afterEach(() => {
    for (const socket of opened.splice(0)) socket.destroy();
  });

  /** A connection that is open until the server ends it. */
  async function open(baseUrl: string, localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1', localAddress });
    opened.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  /** Whether the server answers a request on it, or ends the connection. */
  async function isServed(socket: Socket): Promise<boolean> {
    const answered = once(socket, 'data').then(([data]) => String(data).startsWith('HTTP/1.1 200'));
    const ended = once(socket, 'close').then(() => false);
    if (socket.destroyed) return false;
    socket.write(REQUEST);
    return Promise.race([answered, ended]);
  }

  async function openServed(baseUrl: string, count: number, localAddress?: string): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let n = 0; n < count; n++) {
      const socket = await open(baseUrl, localAddress);
      assert.ok(await isServed(socket));
      sockets.push(socket);
    }
    return sockets;
  }

  it('are limited for one address, and not for another one meanwhile', async function () {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '3' });
    const [first] = await openServed(baseUrl, 3);
    assert.equal(await isServed(await open(baseUrl)), false);
    // The machine's other loopback addresses: macOS has none.
    if (process.platform === 'linux') await openServed(baseUrl, 3, '127.0.0.2');
    first?.destroy();
    await eventually('a free connection', async () => ((await isServed(await open(baseUrl))) ? true : null));
  });

  it('are limited for one address before they send anything', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '3' });
    for (let n = 0; n < 3; n++) await open(baseUrl);
    assert.equal(await isServed(await open(baseUrl)), false);
  });

  it('are not limited by address behind a trusted proxy: all are the proxy’s', async () => {
    const settings = { MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '3', MALIPO_TRUSTED_PROXIES: '1' };
    const { baseUrl } = await startAnotherServer(testEnv, settings);
    await openServed(baseUrl, 6);
  });

  it('are closed, oldest first, if too many have sent no request, and no others are', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS: '10' });
    const served = await openServed(baseUrl, 4);
    const [oldest, second] = [await open(baseUrl), await open(baseUrl)];
    const ended = once(oldest, 'close');
    const third = await open(baseUrl);
    await ended;
    for (const socket of [...served, second, third]) assert.ok(await isServed(socket));
  });

  it('are limited in all', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS: '2' });
    const [first] = await openServed(baseUrl, 2);
    assert.equal(await isServed(await open(baseUrl)), false);
    first?.destroy();
    await eventually('a free connection', async () => ((await isServed(await open(baseUrl))) ? true : null));
  });

  it('do not affect health checks on the metrics port, however many there are', async () => {
    const port = await freePort();
    const settings = { MALIPO_HTTP_MAX_CONNECTIONS: '2', MALIPO_METRICS_PORT: String(port) };
    const { baseUrl } = await startAnotherServer(testEnv, settings);
    await openServed(baseUrl, 2);
    const health = await fetch(`http://127.0.0.1:${port}/healthz`);
    assert.deepEqual([health.status, await health.json()], [200, { status: 'up' }]);
  });
});
