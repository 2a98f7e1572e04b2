// The choice of ports, and what it reports.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { choosePort, freePort, freePorts, requireFreePort, type PortRequest } from '../../src/engines/process/ports.ts';
import { throwaway } from './throwaway.ts';

describe('the choice of ports', () => {
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

  /** A port that is taken, and whose neighbour below is free. */
  async function takenPortAfterFree(): Promise<number> {
    for (;;) {
      const taken = await takenPort();
      const isFree = await requireFreePort('the neighbour', taken - 1, '127.0.0.1').then(
        () => true,
        () => false,
      );
      if (isFree) return taken;
    }
  }

  it('returns the preferred port when it is free, and reports nothing', async () => {
    const port = await freePort();
    assert.equal(await choosePort(wishFor(port)), port);
    assert.deepEqual(reported, []);
  });

  it('returns none of the given ports, although nothing listens there', async () => {
    const even = Array.from({ length: 12_000 }, (_, index) => 10_000 + 2 * index);
    const ports = await freePorts(12, '127.0.0.1', even);
    assert.equal(new Set(ports).size, 12);
    assert.deepEqual(
      ports.filter((port) => port % 2 === 0),
      [],
    );
  });

  it('returns another free port, and reports it by name', async () => {
    const taken = await takenPort();
    const port = await choosePort(wishFor(taken));
    assert.notEqual(port, taken);
    await requireFreePort('the API', port, '127.0.0.1');
    assert.deepEqual(reported, [`port ${taken} for the API is taken; using ${port} (MALIPO_PORT chooses another)`]);
  });

  it('returns another port when one that follows it, and is used too, is taken, unless it was set explicitly', async () => {
    const taken = await takenPortAfterFree();
    const port = await choosePort({ ...wishFor(taken - 1), following: 2 });
    for (const each of [port, port + 1, port + 2]) assert.notEqual(each, taken);
    assert.equal(reported.length, 1);
    assert.match(
      reported[0] ?? '',
      new RegExp(`port ${taken - 1} for the API needs port ${taken}, which is taken; using ${port}`),
    );
    assert.equal(await choosePort({ ...wishFor(taken - 1, true), following: 2 }), taken - 1);
  });

  it('throws for a taken port that was set explicitly, with port and setting', async () => {
    const taken = await takenPort();
    await assert.rejects(
      choosePort(wishFor(taken, true)),
      new RegExp(`port ${taken} for the API \\(MALIPO_PORT\\) is taken`),
    );
    assert.deepEqual(reported, []);
  });

  it('throws with the name of the server that needs a taken port', async () => {
    const taken = await takenPort();
    await assert.rejects(
      requireFreePort('PostgreSQL', taken, '127.0.0.1'),
      new RegExp(`port ${taken} .* for PostgreSQL is taken`),
    );
  });
});
