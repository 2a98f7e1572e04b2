// The ports of the embedded start: chosen together, before anything is started.
import assert from 'node:assert/strict';
import { loadStartSettings } from '../../src/settings/config.ts';
import { choosePorts, type Ports } from '../../src/dev/embedded-ports.ts';
import { freePort } from '../../src/engines/process/ports.ts';

describe('the ports of the embedded start', () => {
  const reported: string[] = [];
  beforeEach(() => (reported.length = 0));

  const choose = (environment: Readonly<Record<string, string>>): Promise<Ports> =>
    choosePorts({ host: '127.0.0.1', ...loadStartSettings(environment), report: (line) => reported.push(line) });

  it('are all different, also when a chosen one is the usual one of another part', async () => {
    const ports = await choose({ MALIPO_HTTP_PORT: '8090' });
    assert.equal(ports.http, 8090);
    assert.equal(new Set(Object.values(ports)).size, 8);
    assert.match(reported.join('\n'), /port 8090 for the sandbox operator is taken; using \d+/);
  });

  it('are refused when two chosen ones are the same, with both settings', async () => {
    const port = String(await freePort());
    await assert.rejects(choose({ MALIPO_SANDBOX_PORT: port, MALIPO_POSTGRES_PORT: port }), {
      message: `MALIPO_POSTGRES_PORT and MALIPO_SANDBOX_PORT are both ${port}. Set one of them to another port.`,
    });
  });

  it('leave out those of Temporal when a cluster is named', async () => {
    const { temporal, temporalUi } = await choose({ MALIPO_TEMPORAL_ADDRESS: '127.0.0.1:7233' });
    assert.deepEqual([temporal, temporalUi], [0, 0]);
  });
});
