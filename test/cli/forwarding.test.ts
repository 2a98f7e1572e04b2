// Tests that each attempt of `malipo listen` and `malipo resend` has a result, whatever the receiver sends, and the service's own.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { createForwarder, type Attempt } from '../../src/cli/forwarder.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Serve } from '../support/counted-listener.ts';
import { urlOf, useSenders } from '../support/webhook-senders.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const { open, listen } = useSenders();

const reply = (text: string) => (socket: Socket) => void socket.end(text);
const replyOpen = (text: string) => (socket: Socket) => void socket.write(text);

/** The first attempt at a receiver that serves requests this way. */
async function firstAttempt(serve: Serve): Promise<Attempt> {
  const url = new URL(urlOf(await listen({ serve })));
  const stop = new AbortController();
  const attempts: Attempt[] = [];
  const forwarder = createForwarder({ url, secret: 'whsec_test', stop: stop.signal });
  await forwarder.forward({ id: newId('evt'), body: '{}' }, (attempt) => {
    attempts.push(attempt);
    stop.abort();
  });
  assert.equal(attempts.length, 1);
  return attempts[0]!;
}

describe('a forwarded event', () => {
  const ACCEPTED: readonly (readonly [what: string, serve: Serve, status: number])[] = [
    ['after 100 (Continue)', reply(`HTTP/1.1 100 Continue\r\n\r\n${OK}`), 200],
    ['after early hints', reply(`HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}`), 200],
    ['with status 204 and a length', reply('HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok'), 204],
    ['with a body that does not end', replyOpen(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(20_000)}`), 200],
  ];
  for (const [what, serve, statusCode] of ACCEPTED) {
    it(`is accepted ${what}, as by the service`, async () => {
      const attempt = await firstAttempt(serve);
      assert.deepEqual([attempt.statusCode, attempt.error, attempt.outcome], [statusCode, null, 'accepted']);
      const { result } = await open().try(urlOf(await listen({ serve })));
      assert.equal(result.kind === 'answered' && result.statusCode, statusCode);
    });
  }

  const FAILED: readonly (readonly [what: string, serve: Serve, error: RegExp])[] = [
    [
      'the connection changes to another protocol',
      replyOpen('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      /another protocol/,
    ],
    ['101 comes without a protocol', reply('HTTP/1.1 101 Go\r\n\r\n'), /another protocol/],
    ['only 100 comes', reply('HTTP/1.1 100 Continue\r\n\r\n'), /socket hang up/],
    ['the connection ends', (socket) => void socket.end(), /socket hang up/],
    ['the answer is not HTTP', reply('220 mail.example ESMTP\r\n'), /Parse Error/],
    [
      'the body breaks off',
      reply('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok'),
      /^the answer ended before it was complete$/,
    ],
  ];
  for (const [what, serve, error] of FAILED) {
    it(`is not accepted when ${what}, as by the service`, async () => {
      const attempt = await firstAttempt(serve);
      assert.deepEqual([attempt.statusCode, attempt.outcome], [null, 'retrying']);
      assert.match(attempt.error ?? '', error);
      const { result } = await open().try(urlOf(await listen({ serve })));
      assert.equal(result.kind, 'no_answer');
    });
  }
});
