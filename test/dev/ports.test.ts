// Choosing ports and saying so.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { choosePort, freePort, requireFreePort, type PortRequest } from '../../src/dev/ports.ts';
import { throwaway } from './throwaway.ts';

describe('ports', () => {
  const { defer, cleanUp } = throwaway();
  afterEach(cleanUp);
  const reported: string[] = [];
  beforeEach(() => (reported.length = 0));

  function wishFor(preferred: number, isExplicit = false): PortRequest {
    const report = (line: string): number => reported.push(line);
    return { name: 'the API', host: '127.0.0.1', setting: 'MALIPO_PORT', preferred, isExplicit, report };
  }

  async function takenPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    defer(() => server.close());
    return (server.address() as { port: number }).port;
  }

  it('takes the preferred port when it is free, without a word', async () => {
    const port = await freePort();
    assert.equal(await choosePort(wishFor(port)), port);
    assert.deepEqual(reported, []);
  });

  it('moves to a free port and says so by name', async () => {
    const taken = await takenPort();
    const port = await choosePort(wishFor(taken));
    assert.notEqual(port, taken);
    await requireFreePort('the API', port, '127.0.0.1');
    assert.deepEqual(reported, [`port ${taken} for the API is taken; using ${port} (MALIPO_PORT chooses another)`]);
  });

  it('refuses to move from a port that somebody chose, naming port and setting', async () => {
    const taken = await takenPort();
    await assert.rejects(
      choosePort(wishFor(taken, true)),
      new RegExp(`port ${taken} for the API \\(MALIPO_PORT\\) is taken`),
    );
    assert.deepEqual(reported, []);
  });

  it('tells who wanted a port that is taken', async () => {
    const taken = await takenPort();
    await assert.rejects(
      requireFreePort('PostgreSQL', taken, '127.0.0.1'),
      new RegExp(`port ${taken} .* for PostgreSQL is taken`),
    );
  });
});
