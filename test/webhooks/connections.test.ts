// Tests the connections of attempts: how many there are, which of them are reused, and to which address they lead.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { Serve } from '../support/counted-listener.ts';
import { eventually } from '../support/test-environment.ts';
import { urlOf, useSenders } from '../support/webhook-senders.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const { open, listen } = useSenders();

describe('a receiver whose host name has two addresses', () => {
  for (const host of ['127.0.0.1', '::1']) {
    it(`is reached at the address where it listens, ${host}`, async function () {
      const listener = await listen({ host }).catch(() => this.skip());
      const { result } = await open().try(`http://localhost:${listener.port}/`);
      assert.equal(result.kind === 'answered' && result.statusCode, 200);
      assert.equal(listener.connections(), 1);
    });
  }
});

describe('attempts in flight', () => {
  it('do not wait for each other at one receiver, however many there are', async () => {
    const MANY = 60;
    const held: Socket[] = [];
    const serve = (socket: Socket) => {
      held.push(socket);
      // No request gets a response until all of them have arrived.
      if (held.length === MANY) for (const each of held) each.write(OK);
    };
    const listener = await listen({ serve });
    const sender = open();
    const attempts = await Promise.all(Array.from({ length: MANY }, () => sender.try(urlOf(listener))));
    assert.ok(attempts.every(({ result }) => result.kind === 'answered'));
    assert.equal(listener.connections(), MANY);
  });

  it('reuse connections', async () => {
    const listener = await listen({ serve: (socket) => void socket.write(OK) });
    const sender = open();
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await sender.try(urlOf(listener))).result.kind, 'answered');
    }
    // The previous connection may not be free yet in the same turn of the event loop.
    assert.ok(listener.connections() <= 2, `${listener.connections()} connections`);
  });

  it('leave at most the allowed number of connections open, and only briefly, whatever the receiver offers', async () => {
    const KEPT = 4;
    const requested: string[] = [];
    const serve: Serve = (socket, head) => {
      requested.push(/^connection: (.*)$/im.exec(head)?.[1] ?? '');
      socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3600\r\nContent-Length: 0\r\n\r\n');
    };
    const sender = open({ keptConnections: KEPT });
    const receivers = await Promise.all(Array.from({ length: 3 * KEPT }, () => listen({ serve })));
    for (const receiver of receivers) await sender.try(urlOf(receiver));
    assert.deepEqual(requested.slice(0, KEPT), Array<string>(KEPT).fill('keep-alive'));
    assert.ok(
      requested.slice(KEPT).every((value) => value === 'close'),
      requested.join(),
    );
    const stillOpen = () => receivers.reduce((sum, receiver) => sum + receiver.open(), 0);
    await eventually('the others to be closed', () => stillOpen() <= KEPT);
    await eventually('all to be closed', () => stillOpen() === 0);
  });
});
