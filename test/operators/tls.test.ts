// Tests the operators' HTTP client against TLS servers that nobody may trust: no credential is sent to them.
import assert from 'node:assert/strict';
import tls, { type TlsOptions } from 'node:tls';
import { createOperatorHttpClient } from '../../src/operators/http-client.ts';
import { createAuthority, selfSigned } from '../support/certificates.ts';
import { startTlsServer } from '../support/tls-server.ts';

describe('a call to an operator', () => {
  /** What came of one call to such a server, and how many bytes the server read. */
  async function callTo(options: TlsOptions): Promise<{ outcome: string; bytesRead: number }> {
    const server = await startTlsServer(options);
    const client = createOperatorHttpClient({
      baseUrl: `https://127.0.0.1:${server.port}`,
      connections: 1,
      timeoutMs: 30_000,
    });
    const headers = { Authorization: 'Basic c2VjcmV0' };
    const result = await client.send({ method: 'POST', path: '/token', headers }, AbortSignal.timeout(60_000));
    await client.close();
    await server.stop();
    return { outcome: result.kind === 'no_response' ? result.reason : 'answered', bytesRead: server.bytesRead() };
  }

  const NAME = 'NODE_TLS_REJECT_UNAUTHORIZED';
  const before = process.env[NAME];
  afterEach(() => {
    if (before === undefined) Reflect.deleteProperty(process.env, NAME);
    else process.env[NAME] = before;
  });

  it('sends nothing to a server whose certificate is not trusted, even when the environment turns verification off', async () => {
    const unknown = createAuthority('Unknown authority').issue({ hosts: ['127.0.0.1'] });
    for (const setting of ['1', '0']) {
      process.env[NAME] = setting;
      const selfMade = await callTo(selfSigned('127.0.0.1'));
      assert.deepEqual(selfMade, { outcome: 'connection failed: DEPTH_ZERO_SELF_SIGNED_CERT', bytesRead: 0 });
      const foreign = await callTo(unknown);
      assert.deepEqual(foreign, { outcome: 'connection failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE', bytesRead: 0 });
    }
  });

  it('speaks TLS 1.2 or later, even when the process allows older versions', async () => {
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
    Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' });
    try {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      const { outcome, bytesRead } = await callTo({ ...selfSigned('127.0.0.1'), ...old });
      assert.match(outcome, /^connection failed: ERR_SSL/);
      assert.equal(bytesRead, 0);
    } finally {
      Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS });
    }
  });
});
