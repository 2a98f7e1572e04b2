// Tests single attempts at receivers that answer correctly, wrongly, partly, endlessly or not at all.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { AttemptResult } from '../../src/domain/webhooks/delivery.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import type { Serve } from '../support/counted-listener.ts';
import { urlOf, useSenders } from '../support/webhook-senders.ts';
import { assertSigned } from '../support/foreign-hmac.ts';
import { eventually } from '../support/test-environment.ts';

const STORED_BYTES = 16 * 1024;
const TIMEOUT_MS = 400;
const { open, listen } = useSenders();

/** The result of one attempt at a receiver that serves each request this way. */
async function attempt(serve: Serve, attemptTimeoutMs?: number): Promise<AttemptResult> {
  const listener = await listen({ serve });
  const sender = open(attemptTimeoutMs === undefined ? {} : { attemptTimeoutMs });
  const { result } = await sender.try(urlOf(listener));
  assert.equal(listener.connections(), 1);
  return result;
}

const reply = (text: string) => (socket: Socket) => void socket.end(text, 'latin1');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** Each byte in a packet of its own, as far as the network keeps them apart. */
const replyByteByByte = (text: string) => (socket: Socket) => {
  socket.setNoDelay(true);
  const send = (index: number): void => {
    if (socket.destroyed) return;
    if (index >= text.length) socket.end();
    else socket.write(text.charAt(index), 'latin1', () => setImmediate(send, index + 1));
  };
  send(0);
};
/** Leaves the connection open. */
const replyOpen = (text: string) => (socket: Socket) => void socket.write(text, 'latin1');

async function answered(serve: Serve): Promise<Extract<AttemptResult, { kind: 'answered' }>> {
  const result = await attempt(serve);
  assert.ok(result.kind === 'answered', JSON.stringify(result));
  return result;
}

async function failed(serve: Serve, attemptTimeoutMs?: number): Promise<string> {
  const result = await attempt(serve, attemptTimeoutMs);
  assert.ok(result.kind === 'no_answer', JSON.stringify(result));
  return result.error;
}

describe('a response', () => {
  it('is accepted with its status, headers and body', async () => {
    const text = 'HTTP/1.1 202 Fine\r\nX-One: a\r\nX-Two: b\r\nx-two: c\r\nContent-Length: 5\r\n\r\nhello';
    const { statusCode, headers, body, retryAfterMs } = await answered(replyOpen(text));
    assert.deepEqual([statusCode, body.toString(), retryAfterMs], [202, 'hello', null]);
    assert.deepEqual(headers, { 'x-one': 'a', 'x-two': 'b, c', 'content-length': '5' });
  });

  const WHOLE = [
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n', 200, 'abc'],
    ['in HTTP/1.0, which ends with its connection', 'HTTP/1.0 200 OK\r\n\r\nabc', 200, 'abc'],
    ['without a length, which ends with its connection', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc', 200, 'abc'],
    ['with status 204 and no body', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['with status 204 and a length that HTTP ignores', 'HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n', 204, ''],
    ['with status 204, a length and bytes', 'HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok', 204, ''],
    ['with status 204 and a chunked body', 'HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 204, ''],
    [
      'with status 304 and the length of what it does not send',
      'HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n',
      304,
      '',
    ],
    ['with status 205 and a body', 'HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nok', 205, 'ok'],
    ['after 100 (Continue)', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, 200, ''],
    ['after an early hint', `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`, 200, ''],
    [
      'after several interim responses',
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 199 Soon\r\n\r\n${OK}`,
      200,
      '',
    ],
    ['with a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n\t b\r\nContent-Length: 2\r\n\r\nab', 200, 'ab'],
    ['with lines that end in LF alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nab', 200, 'ab'],
    [
      'with lower-case names and no reason',
      'HTTP/1.1 200\r\ncontent-length:2\r\nconnection:CLOSE\r\n\r\nab',
      200,
      'ab',
    ],
    ['with trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: y\r\n\r\n', 200, 'ab'],
    ['with a non-standard status', 'HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n', 799, ''],
  ] as const;
  for (const [what, text, status, expected] of WHOLE) {
    it(`is accepted ${what}`, async () => {
      for (const serve of [reply(text), replyByteByByte(text)]) {
        const { statusCode, body } = await answered(serve);
        assert.deepEqual([statusCode, body.toString()], [status, expected]);
      }
    });
  }

  it('is accepted after 100 (Continue) at every request of a connection', async () => {
    const listener = await listen({ serve: replyOpen(`HTTP/1.1 100 Continue\r\n\r\n${OK}`) });
    const sender = open();
    for (let count = 0; count < 5; count += 1) {
      const { result } = await sender.try(urlOf(listener));
      assert.equal(result.kind === 'answered' && result.statusCode, 200, JSON.stringify(result));
    }
    assert.ok(listener.connections() < 5, `${listener.connections()} connections`);
  });

  it('is not taken from the bytes behind the response before, however they look', async () => {
    let requests = 0;
    const listener = await listen({
      serve: (socket) => {
        requests += 1;
        const text = requests === 1 ? `HTTP/1.1 204 No\r\nContent-Length: 40\r\n\r\n${OK}` : OK.replace('200', '500');
        socket.write(text);
      },
    });
    const sender = open();
    const statuses = [];
    for (let count = 0; count < 2; count += 1) {
      const { result } = await sender.try(urlOf(listener));
      statuses.push(result.kind === 'answered' && result.statusCode);
    }
    assert.deepEqual(statuses, [204, 500]);
  });

  it('is stored with its bytes as received, compressed or not', async () => {
    const packed = gzipSync('hello');
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`;
    assert.deepEqual((await answered(reply(head + packed.toString('latin1')))).body, packed);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const raw = `HTTP/1.1 200 OK\r\nContent-Length: 256\r\n\r\n${bytes.toString('latin1')}`;
    assert.deepEqual((await answered(reply(raw))).body, bytes);
  });

  it('is read only as far as it is stored, and then the connection is closed', async () => {
    let isClosed = false;
    const { statusCode, body } = await answered((socket) => {
      socket.on('close', () => (isClosed = true));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const chunk = Buffer.alloc(64 * 1024, 'y');
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk));
        if (!socket.destroyed) socket.once('drain', pour);
      };
      pour();
    });
    assert.deepEqual([statusCode, body.toString()], [200, 'y'.repeat(STORED_BYTES)]);
    await eventually('the connection to be closed', () => isClosed);
  });

  it('is stored with its first hundred headers', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `X-${index}: ${index}\r\n`).join('');
    const { headers } = await answered(reply(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${lines}\r\n`));
    assert.equal(Object.keys(headers).length, 100);
    assert.equal(headers['x-98'], '98');
  });

  it('is parsed for a Retry-After in seconds or as a date, and nothing else', async () => {
    const retryAfterOf = async (value: string) =>
      (await answered(reply(`HTTP/1.1 503 No\r\nRetry-After: ${value}\r\nContent-Length: 0\r\n\r\n`))).retryAfterMs;
    assert.equal(await retryAfterOf('120'), 120_000);
    assert.equal(await retryAfterOf('0'), 0);
    for (const value of ['soon', '-5', '1.5', '2 s', '2026-01-01', 'May 2027', '1e3', ''])
      assert.equal(await retryAfterOf(value), null);
    assert.equal(await retryAfterOf('Wed, 21 Oct 2015 07:28:00 GMT'), 0);
    const inAnHour = new Date(Date.now() + 3_600_000);
    const obsolete = `Sunday, ${inAnHour
      .toUTCString()
      .slice(5, 16)
      .replaceAll(' ', '-')
      .replace(/-20(..)$/, '-$1')}`;
    for (const date of [inAnHour.toUTCString(), `${obsolete}${inAnHour.toUTCString().slice(16)}`]) {
      const waitMs = (await retryAfterOf(date)) ?? 0;
      assert.ok(waitMs > 3_500_000 && waitMs <= 3_600_000, `${date}: ${waitMs}`);
    }
  });

  it('is not followed when it is a redirect', async () => {
    const elsewhere = await listen();
    for (const status of [301, 302, 303, 307, 308]) {
      const location = urlOf(elsewhere);
      const text = `HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
      const { statusCode, headers } = await answered(reply(text));
      assert.deepEqual([statusCode, headers['location']], [status, location]);
    }
    assert.equal(elsewhere.connections(), 0);
  });
});

describe('an attempt without a complete response', () => {
  const NOT_HTTP = 'the answer is not valid HTTP';
  const SWITCHED = 'the receiver changed to another protocol (101)';
  const FLOOD = 'the receiver sent too many interim answers';
  const CLOSED = 'the connection was closed before an answer arrived';
  const ENDED = 'the answer ended before it was complete';
  const CASES: readonly (readonly [what: string, serve: Serve, error: string])[] = [
    ['the bytes are not HTTP', reply('220 mail.example ESMTP\r\n'), NOT_HTTP],
    ['the status is below 100', reply('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n'), NOT_HTTP],
    ['the status is not a number', reply('HTTP/1.1 OK\r\n\r\n'), NOT_HTTP],
    ['a header contains a null byte', reply('HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n'), NOT_HTTP],
    [
      'the response has two lengths',
      reply('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      NOT_HTTP,
    ],
    [
      'the receiver upgrades the connection',
      replyOpen('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      SWITCHED,
    ],
    ['101 comes before a response', reply(`HTTP/1.1 101 Go\r\n\r\n${OK}`), SWITCHED],
    ['101 comes after 100', reply(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Go\r\n\r\n${OK}`), SWITCHED],
    ['only 100 comes', reply('HTTP/1.1 100 Continue\r\n\r\n'), CLOSED],
    [
      'the response has a length and is chunked, which can be two responses to two readers',
      reply('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n'),
      NOT_HTTP,
    ],
    [
      'the headers are larger than the limit',
      replyOpen(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      'the headers of the answer are larger than 16 KiB',
    ],
    ['interim responses do not end', replyOpen('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)), FLOOD],
    ['100 comes again and again', replyOpen('HTTP/1.1 100 Continue\r\n\r\n'.repeat(10_000)), FLOOD],
    [
      'an interim response is larger than the limit',
      replyOpen(`HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      'the headers of the answer are larger than 16 KiB',
    ],
    ['the receiver closes the connection', (socket) => void socket.end(), CLOSED],
    ['the receiver resets the connection', (socket) => void socket.resetAndDestroy(), CLOSED],
    ['the head breaks off', reply('HTTP/1.1 200 OK\r\nConte'), CLOSED],
    [
      'a body of known length breaks off',
      reply('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello'),
      `${ENDED}: status 200 and 5 bytes of its body arrived`,
    ],
    [
      'a body of known length breaks off on a connection marked to close',
      reply('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhello'),
      `${ENDED}: status 200 and 5 bytes of its body arrived`,
    ],
    [
      'a chunked body breaks off',
      reply('HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwor'),
      `${ENDED}: status 500 and 8 bytes of its body arrived`,
    ],
    [
      'a chunked body breaks off on a connection marked to close',
      reply('HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'),
      `${ENDED}: status 200 and 5 bytes of its body arrived`,
    ],
  ];
  for (const [what, serve, error] of CASES) {
    it(`fails when ${what}`, async () => {
      assert.equal(await failed(serve), error);
    });
  }

  it('fails when the connection ends before anything is sent', async () => {
    const listener = await listen({ greet: (socket) => void socket.resetAndDestroy() });
    const { result } = await open().try(urlOf(listener));
    assert.deepEqual(result, { kind: 'no_answer', error: CLOSED });
  });

  it('fails when nothing listens on the port', async () => {
    const { result } = await open().try(`http://127.0.0.1:${await freePort()}/`);
    assert.deepEqual(result, { kind: 'no_answer', error: 'the connection was refused' });
    const both = await open().try(`http://localhost:${await freePort()}/`);
    assert.deepEqual(both.result, { kind: 'no_answer', error: 'the connection was refused' });
  });

  const trickling = (head: string) => (socket: Socket) => {
    socket.write(head);
    const drip = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => {
      clearInterval(drip);
    });
  };
  const LATE = 'no complete answer within 0.4 s';
  const SLOW: readonly (readonly [what: string, serve: Serve, error: RegExp])[] = [
    ['the receiver is silent', () => undefined, RegExp(`^${LATE}$`)],
    ['the receiver is silent after the start of a response', replyOpen('HTTP/1.1 200 OK\r\n'), RegExp(`^${LATE}$`)],
    ['the head arrives byte by byte', trickling('HTTP/1.1 200 OK\r\nX: '), RegExp(`^${LATE}$`)],
    [
      'the body arrives byte by byte',
      trickling('HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n'),
      RegExp(`^${LATE}: status 200 and \\d+ bytes of its body arrived$`),
    ],
    [
      'only the head arrives',
      replyOpen('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'),
      RegExp(`^${LATE}: status 200 and 0 bytes of its body arrived$`),
    ],
  ];
  for (const [what, serve, error] of SLOW) {
    it(`fails after the attempt’s time limit when ${what}`, async () => {
      assert.match(await failed(serve, TIMEOUT_MS), error);
    });
  }

  it('lasts as long as the time limit, and records when it began', async () => {
    const listener = await listen({ serve: () => undefined });
    const before = new Date();
    const { startedAt, durationMs } = await open({ attemptTimeoutMs: TIMEOUT_MS }).try(urlOf(listener));
    assert.ok(startedAt >= before && startedAt <= new Date());
    assert.ok(durationMs >= TIMEOUT_MS - 5, `${durationMs} ms`);
    await eventually('the connection to be closed', () => listener.open() === 0);
  });
});

describe('the signature', () => {
  it('is valid over the raw bytes for each secret in force, the newest first', async () => {
    const requests: string[] = [];
    const serve: Serve = (socket, head) => {
      requests.push(head);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    };
    const listener = await listen({ serve });
    const body = '{"name":"Ĩtũũra 😀","tab":"\\t"}';
    for (const secrets of [['whsec_one'], ['whsec_new', 'whsec_old']] as const) {
      const sentAt = Math.floor(Date.now() / 1000);
      assert.equal((await open().try(urlOf(listener), { secrets, body })).result.kind, 'answered');
      const [head = '', rawBody = ''] = requests.at(-1)?.split('\r\n\r\n') ?? [];
      const header = /^malipo-signature: (.*)$/im.exec(head)?.[1];
      const raw = Buffer.from(rawBody, 'latin1');
      assert.equal(raw.toString('utf8'), body);
      assertSigned(header, raw, secrets);
      const at = Number(header?.slice(2, header.indexOf(',')));
      assert.ok(at >= sentAt && at <= Math.floor(Date.now() / 1000));
    }
  });
});
