// The HTTP server below the application: unreadable requests, bodies that are too large or late, and a stop during requests.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpServer } from '../../src/api/http-server.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { closeServer, HTTP_LIMITS, listenOn } from '../../src/server/http-listener.ts';
import { collectionFields } from '../support/api.ts';
import { testLog } from '../support/engines.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { exchange } from './raw-http.ts';
import { API_ONLY, assertError } from './responses.ts';

/** The last response in the text. */
function parseLastResponse(text: string) {
  const [head = '', body = ''] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
  return { status: Number(statusLine.split(' ')[1]), headers, text: body, json: JSON.parse(body) as never };
}

function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, status]) => Number(status));
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
    ['two Host headers', `${HEAD}Host: y\r\n\r\n`],
    ['two Host headers that are the same', `${HEAD}Host: x\r\n\r\n`],
    ['two Authorization headers', `${HEAD}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`],
    ['two Authorization headers that are the same', `${HEAD}Authorization: a\r\nauthorization: a\r\n\r\n`],
    ['two Content-Type headers', `${HEAD}Content-Type: application/json\r\nContent-Type: text/xml\r\n\r\n`],
    ['two Idempotency-Key headers', `${HEAD}Idempotency-Key: a\r\nIdempotency-Key: a\r\n\r\n`],
    ['a request for a tunnel', 'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n'],
    ['an Expect header that it cannot meet', `${HEAD}Expect: a-miracle\r\n\r\n`],
  ];
  for (const [what, text] of unreadable) {
    it(`answers ${what} with a regular error response and closes the connection`, async () => {
      const response = parseLastResponse(await exchange(testEnv.baseUrl, text));
      assertError(response, 'body_malformed');
      assert.equal(response.headers.get('connection'), 'close');
    });
  }

  describe('with a request in progress', () => {
    const FIELDS = JSON.stringify(collectionFields());
    const creation = (body: string, framing = `Content-Length: ${body.length}`, key = testEnv.merchant.key) =>
      `POST /v1/api/collections HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: ${randomUUID()}\r\n` +
      `Content-Type: application/json\r\n${framing}\r\n\r\n${body}`;
    const CHUNKED = 'Transfer-Encoding: chunked';

    it('gives that request its response when bytes follow that are not HTTP, and closes the connection', async () => {
      const text = await exchange(testEnv.baseUrl, `${creation(FIELDS)}and more\r\n\r\n`);
      assert.deepEqual(statusesIn(text), [202]);
      assert.equal(parseLastResponse(text).headers.get('connection'), 'close');
    });

    it('gives every request before such bytes its response, in their order', async () => {
      const requests = `${creation(FIELDS)}${HEAD}\r\n${creation('{}')}nonsense\r\n\r\n`;
      assert.deepEqual(statusesIn(await exchange(testEnv.baseUrl, requests)), [202, 200, 400]);
    });

    it('refuses a body that breaks off or cannot be read, once', async () => {
      const broken = await exchange(testEnv.baseUrl, creation(`5\r\n{"pho\r\nzz\r\n\r\n`, CHUNKED));
      assert.deepEqual(statusesIn(broken), [400]);
      assertError(parseLastResponse(broken), 'body_malformed');
      const cut = creation(FIELDS, `Content-Length: ${FIELDS.length + 1}`);
      const half = await exchange(testEnv.baseUrl, cut, { isLast: true });
      assert.deepEqual(statusesIn(half), [400]);
      assertError(parseLastResponse(half), 'body_malformed');
    });

    it('gives one response to a request that is refused before its body turns out unreadable', async () => {
      const { socket, received, responded } = openConnection(Number(new URL(testEnv.baseUrl).port));
      const closed = once(socket, 'close');
      socket.write(creation(`5\r\n{"pho\r\n`, CHUNKED, 'no key of ours'));
      await responded(1);
      socket.write('zz\r\n\r\n');
      await closed;
      assert.deepEqual(statusesIn(received()), [401]);
    });

    it('gives a route that reads no body its response although the body cannot be read', async () => {
      const text = await exchange(testEnv.baseUrl, `${HEAD}${CHUNKED}\r\n\r\nzz\r\n\r\n`);
      assert.deepEqual(statusesIn(text), [200]);
    });

    it('closes the connection after a request for another protocol, because Node loses the following bytes', async () => {
      const upgrade = `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
      const text = await exchange(testEnv.baseUrl, `${upgrade}${creation(FIELDS)}`);
      assert.deepEqual(statusesIn(text), [200]);
      assert.equal(parseLastResponse(text).headers.get('connection'), 'close');
    });

    it('gives a client that ends its half of the connection its response', async () => {
      const text = await exchange(testEnv.baseUrl, creation(FIELDS), { isLast: true });
      assert.deepEqual(statusesIn(text), [202]);
      const two = await exchange(testEnv.baseUrl, `${HEAD}\r\n${creation(FIELDS)}`, { isLast: true });
      assert.deepEqual(statusesIn(two), [200, 202]);
    });
  });

  describe('before the body has arrived', () => {
    const MUCH = 400 * 1024 * 1024;
    const post = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}`;
    const authorized = `Authorization: Bearer $KEY\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n`;
    const cases: readonly (readonly [string, string, number])[] = [
      ['a body that says it is too large', post('/v1/api/collections', `${authorized}Content-Length: ${MUCH}`), 413],
      ['one that turns out too large', post('/v1/api/collections', `${authorized}Transfer-Encoding: chunked`), 413],
      ['one of a caller without a key', post('/v1/api/payouts', `Content-Length: ${MUCH}`), 401],
      ['one that belongs to no route', post('/v1/api/nothing', `Content-Length: ${MUCH}`), 404],
      ['one of a callback', post('/operators/mtn-momo/callbacks', `Content-Length: ${MUCH}`), 413],
    ];
    for (const [what, head, status] of cases) {
      it(`refuses ${what}, closes the connection and reads nothing more`, async () => {
        const socket = connect(Number(new URL(testEnv.baseUrl).port), '127.0.0.1');
        // The client still writes when the connection ends.
        socket.on('error', () => undefined);
        let text = '';
        socket.on('data', (data: Buffer) => (text += data.toString()));
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.write(`${head.replace('$KEY', testEnv.merchant.key)}\r\n\r\n`);
        const piece = Buffer.alloc(64 * 1024, 'x');
        const chunk = head.includes('chunked')
          ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
          : piece;
        let sent = 0;
        const more = (): void => {
          while (sent < MUCH && socket.writable) {
            sent += piece.length;
            if (!socket.write(chunk)) return;
          }
        };
        socket.on('drain', more);
        more();
        await closed;
        assert.deepEqual(statusesIn(text), [status]);
        assert.equal(parseLastResponse(text).headers.get('connection'), 'close');
        assert.ok(sent < MUCH / 2, `${sent} bytes were sent`);
      });
    }
  });

  it('handles nothing that follows the last response of a connection', async () => {
    const open = 'POST /v1/api/nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n';
    const { socket, received, responded } = openConnection(Number(new URL(testEnv.baseUrl).port));
    const closed = once(socket, 'close');
    socket.write(open);
    await responded(1);
    socket.write(`0\r\n\r\n${HEAD}\r\n`);
    await closed;
    assert.deepEqual(statusesIn(received()), [404]);
  });

  it('keeps the connection after a refusal of a request that arrived whole', async () => {
    const refused = `POST /v1/api/payouts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
    const text = await exchange(testEnv.baseUrl, `${refused}${HEAD}Connection: close\r\n\r\n`);
    assert.deepEqual(statusesIn(text), [401, 200]);
  });

  it('ends a request whose head or body does not arrive in time', async () => {
    const handle: RequestListener = (_request, response) => void response.end('{}');
    const limits = { ...HTTP_LIMITS, requestTimeout: 300, headersTimeout: 200, connectionsCheckingInterval: 20 };
    const server = createHttpServer({ limits, handle: onceWhole(handle), headers: {}, log: testLog });
    const port = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'a port' }, () => undefined);
    const baseUrl = `http://127.0.0.1:${port}`;
    for (const begun of [HEAD, 'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{}']) {
      assert.deepEqual(statusesIn(await exchange(baseUrl, begun)), [400]);
    }
    await closeServer(server);
    // As docs/security.md says: at 30 seconds, and a second later at the latest.
    assert.deepEqual([HTTP_LIMITS.requestTimeout, HTTP_LIMITS.headersTimeout], [30_000, 10_000]);
    assert.equal(HTTP_LIMITS.connectionsCheckingInterval, 1000);
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
      `POST /operators/mtn-momo/callbacks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await eventually('the request to be in progress', () => received().includes('100 Continue'));
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

/** Handles a request once all of it is here, and refuses one that breaks off. */
function onceWhole(handle: RequestListener): RequestListener {
  return (request, response) => {
    request.resume();
    request.once('end', () => {
      handle(request, response);
    });
    request.once('error', () => response.writeHead(400).end());
  };
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
