// Errors that are reported as events, and would end the process if nobody listened.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { closeServer, listenOn } from '../../src/server/http-listener.ts';

describe('a process', () => {
  it('goes on and ends in order when its log cannot be written because the disk is full', async function () {
    if (!existsSync('/dev/full')) return this.skip();
    const full = openSync('/dev/full', 'w');
    const program = join(import.meta.dirname, 'programs', 'log-lines.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['ignore', full, 'pipe'] });
    assert.ok(child.stderr);
    closeSync(full);
    // It would wait at its end for ever.
    const limit = setTimeout(() => child.kill('SIGKILL'), 40_000);
    const [exit, errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    clearTimeout(limit);
    assert.deepEqual([exit, errors], [[0, null], 'came to the end\n']);
  });
});

describe('an HTTP server that listens', () => {
  it('reports every connection that it cannot accept, and goes on', async () => {
    const server = createServer((_request, response) => response.end('here'));
    const errors: string[] = [];
    const port = await listenOn(server, { host: '127.0.0.1', port: 0, setting: 'a port' }, (error) =>
      errors.push(error.message),
    );
    // What Node does with each connection that cannot be accepted.
    for (const message of ['accept EMFILE', 'accept ENFILE']) server.emit('error', new Error(message));
    assert.deepEqual(errors, ['accept EMFILE', 'accept ENFILE']);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'here');
    await closeServer(server);
  });
});
