// The reporter of `npm test` where hooks fail: the run is counted, and ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway } from '../engines/throwaway.ts';

describe('the reporter of the whole run', () => {
  const { folder, command, cleanUp } = throwaway();
  afterEach(cleanUp);

  it('ends a run whose failed hook left a handle open, with its counts and the open handles', async () => {
    const file = join(folder(), 'report.json');
    const running = command(join(findProjectRoot(), 'node_modules/.bin/mocha'), [
      '--reporter=test/support/parts-reporter.mjs',
      `--reporter-option=file=${file}`,
      '--reporter-option=endLimitMs=500',
      'test/engines/programs/broken-hooks.ts',
    ]);
    const exited = once(running.process, 'exit');
    let line = await running.nextLine();
    while (!line.startsWith('FAILED the run')) line = await running.nextLine();
    assert.match(line, /^FAILED the run does not end by itself; open: .*TCPServerWrap/);
    assert.deepEqual(await exited, [1, null]);
    const { passed, failed, failedFiles } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    assert.deepEqual(
      { passed, failed, failedFiles },
      { passed: 1, failed: 1, failedFiles: ['test/engines/programs/broken-hooks.ts'] },
    );
  });
});
