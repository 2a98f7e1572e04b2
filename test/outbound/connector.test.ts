// Tests that connections of operators and of verified TLS read the heads of responses as HTTP allows them to be.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Agent, request } from 'undici';
import { createOperatorHttpClient } from '../../src/operators/http-client.ts';
import { createConnector } from '../../src/outbound/connector.ts';
import { createAuthority } from '../support/certificates.ts';
import { startCountedListener, type CountedListener } from '../support/counted-listener.ts';

const ACCEPTED = 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

describe('a connection to a server that is not ours', () => {
  let listener: CountedListener | null = null;
  afterEach(() => listener?.stop());

  const INTERIM = [
    ['100 (Continue)', CONTINUE],
    ['early hints, and 100 (Continue) after them', `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${CONTINUE}`],
  ] as const;
  for (const [what, interim] of INTERIM) {
    it(`reads an operator’s response after ${what}`, async () => {
      const serve = (socket: Socket): void => void socket.write(interim + ACCEPTED);
      listener = await startCountedListener({ host: '127.0.0.1', serve });
      const baseUrl = `http://127.0.0.1:${listener.port}`;
      const client = createOperatorHttpClient({ baseUrl, connections: 1, timeoutMs: 30_000 });
      for (let count = 0; count < 3; count += 1) {
        const call = { method: 'POST', path: '/pay', headers: {}, body: '{}' } as const;
        const result = await client.send(call, new AbortController().signal);
        assert.deepEqual(result, { kind: 'response', status: 202, body: { kind: 'empty' } });
      }
      await client.close();
      assert.equal(listener.connections(), 1);
    });

    it(`reads a response over TLS after ${what}`, async () => {
      const authority = createAuthority('Trusted here');
      const tls = authority.issue({ hosts: ['localhost'] });
      const serve = (socket: Socket): void => void socket.write(interim + ACCEPTED);
      listener = await startCountedListener({ host: '127.0.0.1', serve, tls });
      const dispatcher = new Agent({ connect: createConnector({ ca: authority.cert }) });
      const url = `https://localhost:${listener.port}/`;
      const { statusCode, body } = await request(url, { dispatcher, method: 'POST', body: '{}' });
      await body.dump();
      await dispatcher.close();
      assert.equal(statusCode, 202);
    });
  }

  it('gives an operator’s call no response when the connection changes to another protocol', async () => {
    const serve = (socket: Socket): void => void socket.write(`HTTP/1.1 101 Go\r\n\r\n${ACCEPTED}`);
    listener = await startCountedListener({ host: '127.0.0.1', serve });
    const baseUrl = `http://127.0.0.1:${listener.port}`;
    const client = createOperatorHttpClient({ baseUrl, connections: 1, timeoutMs: 30_000 });
    const result = await client.send({ method: 'GET', path: '/', headers: {} }, new AbortController().signal);
    await client.close();
    assert.deepEqual(result, {
      kind: 'no_response',
      reason: 'connection failed: PROTOCOL_SWITCHED',
      cause: 'no_answer',
    });
  });
});
