// The data folder of the embedded start, on real file systems.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareDataFolder } from '../../src/dev/data-folder.ts';
import { throwaway } from '../engines/throwaway.ts';

describe('the data folder', () => {
  const { folder, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  const refusal = (path: string): string => {
    try {
      prepareDataFolder(path);
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };

  /** A file system in memory; undefined where this account may not mount one. */
  function mounted(options: string): string | undefined {
    const path = folder();
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]).status !== 0) return undefined;
    defer(() => spawnSync('umount', [path]));
    return path;
  }

  it('is created with the folders above it, and nothing is left in it', () => {
    const path = join(folder(), 'a', 'b');
    prepareDataFolder(path);
    assert.deepEqual(readdirSync(path), []);
  });

  it('is refused, with its setting, when it is a file or below one', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    assert.equal(
      refusal(file),
      `the data folder ${file} cannot be used: it is a file and no folder. ` +
        'Change that, or choose another folder with MALIPO_DATA_DIR.',
    );
    assert.match(refusal(join(file, 'below')), /a part of this path is a file .* MALIPO_DATA_DIR/);
  });

  it('is refused, with its setting, on a file system that is read-only', function () {
    const path = mounted('ro');
    if (path === undefined) return this.skip();
    assert.match(refusal(path), /file system that is read-only\. .* MALIPO_DATA_DIR/);
  });

  it('is refused, with its setting and the free space, if its disk has too little room', function () {
    const path = mounted('size=20m');
    if (path === undefined) return this.skip();
    assert.match(refusal(path), /its disk has \d+ MB left, and a start needs 200 MB\. .* MALIPO_DATA_DIR/);
    writeFileSync(join(path, 'full'), Buffer.alloc(1));
    spawnSync('dd', ['if=/dev/zero', `of=${join(path, 'full')}`, 'bs=1M']);
    assert.match(refusal(path), /its disk is full\. .* MALIPO_DATA_DIR/);
  });

  it('is refused, with its setting, if the system lets nobody create a folder', function () {
    if (process.platform !== 'linux') return this.skip();
    assert.match(refusal('/proc/malipo'), /cannot be used: .* MALIPO_DATA_DIR/);
  });
});
