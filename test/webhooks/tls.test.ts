// Tests TLS receivers with untrusted certificates or failing handshakes: nothing is sent to them.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import tls, { type TlsOptions } from 'node:tls';
import { createAuthority, selfSigned } from '../support/certificates.ts';
import { startTlsServer } from '../support/tls-server.ts';
import { startCountedListener } from '../support/counted-listener.ts';
import { openTestSender, type TestSender } from '../support/webhook-senders.ts';

describe('a TLS connection', () => {
  let sender: TestSender;
  before(() => {
    sender = openTestSender();
  });
  after(async () => {
    await sender.close();
  });

  /** The error of one attempt at a TLS receiver, and how many bytes the receiver read. */
  async function attemptAt(options: TlsOptions): Promise<{ error: string; bytesRead: number }> {
    const server = await startTlsServer(options);
    const { result } = await sender.try(`https://127.0.0.1:${server.port}/`);
    await server.stop();
    return { error: result.kind === 'no_answer' ? result.error : 'answered', bytesRead: server.bytesRead() };
  }
  const unknownAuthority = createAuthority('Unknown authority');

  it('is refused before anything is sent when the certificate is not trusted', async () => {
    const selfMade = await attemptAt(selfSigned('127.0.0.1'));
    assert.deepEqual(selfMade, { error: 'the certificate is self-signed', bytesRead: 0 });
    const unknown = await attemptAt(unknownAuthority.issue({ hosts: ['127.0.0.1'] }));
    const error = 'the certificate is not signed by a trusted authority';
    assert.deepEqual(unknown, { error, bytesRead: 0 });
    const { key, cert } = unknownAuthority.issue({ hosts: ['127.0.0.1'] });
    const withChain = await attemptAt({ key, cert: cert + unknownAuthority.cert });
    assert.deepEqual(withChain, { error, bytesRead: 0 });
  });

  it('is verified even when the environment turns verification off', async () => {
    const NAME = 'NODE_TLS_REJECT_UNAUTHORIZED';
    const before = process.env[NAME];
    process.env[NAME] = '0';
    try {
      const selfMade = await attemptAt(selfSigned('127.0.0.1'));
      assert.deepEqual(selfMade, { error: 'the certificate is self-signed', bytesRead: 0 });
    } finally {
      if (before === undefined) Reflect.deleteProperty(process.env, NAME);
      else process.env[NAME] = before;
    }
  });

  it('is at least TLS 1.2 even when the process allows older versions', async () => {
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
    Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' });
    try {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      const { error, bytesRead } = await attemptAt({ ...selfSigned('127.0.0.1'), ...old });
      assert.deepEqual({ error, bytesRead }, { error: 'the TLS handshake failed', bytesRead: 0 });
    } finally {
      Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS });
    }
  });

  it('is given up when the handshake takes longer than the time to connect', async () => {
    const silent = await startCountedListener({ host: '127.0.0.1' });
    const url = `https://127.0.0.1:${silent.port}/`;
    const error = 'no connection within 0.4 s';
    // The shorter of the two times decides, because an attempt needs a connection.
    for (const times of [
      { connectTimeoutMs: 400, attemptTimeoutMs: 30_000 },
      { connectTimeoutMs: 30_000, attemptTimeoutMs: 400 },
    ]) {
      const hasty = openTestSender(times);
      const { result, durationMs } = await hasty.try(url);
      assert.deepEqual(result, { kind: 'no_answer', error });
      assert.ok(durationMs < 10_000, `${durationMs} ms`);
      await hasty.close();
    }
    await silent.stop();
  });

  it('is reported as failed when the two sides cannot agree', async () => {
    const error = 'the TLS handshake failed';
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    assert.deepEqual(await attemptAt({ ...selfSigned('127.0.0.1'), ...old }), { error, bytesRead: 0 });
    const greet = (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const plain = await startCountedListener({ host: '127.0.0.1', greet });
    const { result } = await sender.try(`https://127.0.0.1:${plain.port}/`);
    assert.deepEqual(result, { kind: 'no_answer', error });
    await plain.stop();
  });
});
