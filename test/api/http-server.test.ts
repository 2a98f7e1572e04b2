// Below the application: requests that are no requests, connections that are too many, and a stop in the middle of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/dev/ports.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { API_ONLY, assertError, startAnotherServer } from './responses.ts';

/** What comes back on a connection of its own until it ends. */
async function exchange(baseUrl: string, text: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The last answer in what came back. */
function parseAnswer(text: string) {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
  return { status: Number(statusLine.split(' ')[1]), headers, text: body, json: JSON.parse(body) as never };
}

describe('the HTTP server', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
  });
  after(() => testEnv.stop());

  const HEAD = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const unreadable: readonly (readonly [string, string])[] = [
    ['no HTTP', 'Hello?\r\n\r\n'],
    ['a header that is none', `${HEAD}no colon\r\n\r\n`],
    ['headers that are too large', `${HEAD}X-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an expectation that nobody meets', `${HEAD}Expect: a-miracle\r\n\r\n`],
    ['a sound request and then nonsense', `${HEAD}\r\nnonsense\r\n\r\n`],
  ];
  for (const [what, text] of unreadable) {
    it(`answers ${what} with an error like any other, and ends the connection`, async () => {
      const answer = parseAnswer(await exchange(testEnv.baseUrl, text));
      assertError(answer, 'body_malformed');
      assert.equal(answer.headers.get('connection'), 'close');
    });
  }

  it('takes no more connections than it is told', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_HTTP_MAX_CONNECTIONS: '2' });
    const agent = new Agent({ keepAlive: true });
    const held = await Promise.all([ask(baseUrl, agent), ask(baseUrl, agent)]);
    assert.deepEqual(held, [200, 200]);
    await assert.rejects(ask(baseUrl, new Agent()), { code: 'ECONNRESET' });
    agent.destroy();
    await eventually('room', () => ask(baseUrl, new Agent()).catch(() => null));
  });

  it('stops soon, though a caller sends requests on a connection that it keeps', async () => {
    const port = await freePort();
    const server = await testEnv.startServer({ MALIPO_HTTP_PORT: String(port), MALIPO_PUBLIC_URL: 'http://127.0.0.1' });
    const { socket, received, answered } = keptConnection(port);
    socket.write(`${HEAD}\r\n`);
    await answered(1);
    // The second request is under way when the stop begins, and is answered all the same.
    const body = '{"externalId":"0190f5fe-7c00-7a00-8000-000000000000"}';
    socket.write(
      `POST /operators/mtn-momo/callbacks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await sleep(100);
    const beganMs = Date.now();
    const stopped = server.stop();
    await sleep(300);
    socket.write(body);
    await answered(2);
    await stopped;
    assert.ok(Date.now() - beganMs < 10_000, `it took ${Date.now() - beganMs} ms`);
    assert.match(received(), /HTTP\/1\.1 200 OK[\s\S]*HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

async function ask(baseUrl: string, agent: Agent): Promise<number | undefined> {
  const asked = request(new URL('/healthz', baseUrl), { agent });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** A connection that its caller does not close. */
function keptConnection(port: number) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const answered = (count: number) =>
    eventually(`answer ${count}`, () => text.split('HTTP/1.1 ').length > count && text.includes('}'));
  return { socket, received: () => text, answered };
}
