// The HTTP server below the application: unreadable requests, too many connections, and a stop during requests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/dev/ports.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, startAnotherServer } from './responses.ts';

/** Sends the text on a new connection and returns everything that comes back until the connection ends. */
async function exchange(baseUrl: string, text: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The last response in the text. */
function parseLastResponse(text: string) {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
  return { status: Number(statusLine.split(' ')[1]), headers, text: body, json: JSON.parse(body) as never };
}

describe('the HTTP server', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const HEAD = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const unreadable: readonly (readonly [string, string])[] = [
    ['bytes that are not HTTP', 'Hello?\r\n\r\n'],
    ['a header line without a colon', `${HEAD}no colon\r\n\r\n`],
    ['headers that are too large', `${HEAD}X-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['two Content-Length headers', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a request without a Host header', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an Expect header that it cannot meet', `${HEAD}Expect: a-miracle\r\n\r\n`],
    ['nonsense after a valid request', `${HEAD}\r\nnonsense\r\n\r\n`],
  ];
  for (const [what, text] of unreadable) {
    it(`answers ${what} with a regular error response and closes the connection`, async () => {
      const response = parseLastResponse(await exchange(testEnv.baseUrl, text));
      assertError(response, 'body_malformed');
      assert.equal(response.headers.get('connection'), 'close');
    });
  }

  it('accepts no more connections than its limit allows', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS: '2' });
    const agent = new Agent({ keepAlive: true });
    const statuses = await Promise.all([getHealth(baseUrl, agent), getHealth(baseUrl, agent)]);
    assert.deepEqual(statuses, [200, 200]);
    await assert.rejects(getHealth(baseUrl, new Agent()), { code: 'ECONNRESET' });
    agent.destroy();
    await eventually('a free connection', () => getHealth(baseUrl, new Agent()).catch(() => null));
  });

  it('stops soon even though a caller keeps its connection open and sends requests on it', async () => {
    const port = await freePort();
    const server = await testEnv.startServer({ MALIPO_HTTP_PORT: String(port), MALIPO_PUBLIC_URL: 'http://127.0.0.1' });
    const { socket, received, responded } = openConnection(port);
    socket.write(`${HEAD}\r\n`);
    await responded(1);
    // The second request is in progress when the stop begins, and still gets its response.
    const body = '{"externalId":"0190f5fe-7c00-7a00-8000-000000000000"}';
    socket.write(
      `POST /operators/mtn-momo/callbacks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await sleep(100);
    const beganMs = Date.now();
    const stopped = server.stop();
    await sleep(300);
    socket.write(body);
    await responded(2);
    await stopped;
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.match(received(), /HTTP\/1\.1 200 OK[\s\S]*HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

async function getHealth(baseUrl: string, agent: Agent): Promise<number | undefined> {
  const sent = request(new URL('/healthz', baseUrl), { agent });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/** A connection that stays open until the test closes it. */
function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const responded = (count: number) =>
    eventually(`response ${count}`, () => text.split('HTTP/1.1 ').length > count && text.includes('}'));
  return { socket, received: () => text, responded };
}
