// The source of the Temporal server: a setting, the PATH, the cache, or Go.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveTemporalBinary, type TemporalBinaryOptions } from '../../src/engines/temporal/binary.ts';
import { throwaway, writeScript } from './throwaway.ts';

const NEW_ENOUGH = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';
const TOO_OLD = 'temporal version 1.4.2 (Server 1.28.2, UI 2.39.0)';
// The version output of a CLI that Go built from its module.
const BUILT = 'temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)';

describe('the Temporal binary', () => {
  const { folder, cleanUp } = throwaway();
  afterEach(cleanUp);

  const reported: string[] = [];
  let path: string;
  let cache: string;
  let sourceDir: string;
  beforeEach(() => {
    reported.length = 0;
    [path, cache, sourceDir] = [folder(), folder(), folder()];
    writeFileSync(join(sourceDir, 'go.mod'), 'module example\n\ngo 1.26.4\n');
    writeFileSync(join(sourceDir, 'go.sum'), '');
  });

  function resolve(options: Partial<TemporalBinaryOptions> = {}, env: Record<string, string> = {}): Promise<string> {
    return resolveTemporalBinary({
      report: (line) => reported.push(line),
      // The PATH has the stand-ins only, neither a real Go nor a real Temporal.
      env: { PATH: path, MALIPO_CACHE_DIR: cache, MALIPO_TEMPORAL_DOWNLOAD: 'false', ...env },
      sourceDir,
      ...options,
    });
  }

  function temporal(inFolder: string, version: string): string {
    return writeScript(join(inFolder, 'temporal'), [`echo "${version}"`]);
  }

  /** A stand-in for Go that takes a moment, writes a CLI of this version to the path after -o, and counts its runs. */
  function go(version: string, ...before: string[]): void {
    writeScript(join(path, 'go'), [
      `echo built >> ${join(path, 'builds')}`,
      ...before,
      '/bin/sleep 0.3',
      'while [ "$1" != "-o" ]; do shift; done',
      `printf '#!/bin/sh\\necho "${version}"\\n' > "$2"`,
      '/bin/chmod +x "$2"',
    ]);
  }

  const builds = (): number =>
    existsSync(join(path, 'builds')) ? readFileSync(join(path, 'builds'), 'utf8').split('\n').length - 1 : 0;
  const cachedFiles = (): string[] =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));

  it('is the one on the PATH when that is new enough', async () => {
    const onPath = temporal(path, NEW_ENOUGH);
    go(BUILT);
    assert.equal(await resolve(), onPath);
    assert.equal(builds(), 0);
  });

  it('may be one that Go built, which reports only the version of its server', async () => {
    assert.equal(await resolve({}, { PATH: `${folder()}:${path}` }).catch(() => 'none'), 'none');
    const onPath = temporal(path, BUILT);
    assert.equal(await resolve({}, { PATH: `${folder()}:${path}` }), onPath);
  });

  it('is built when the one on the PATH is too old, which is reported', async () => {
    const onPath = temporal(path, TOO_OLD);
    go(BUILT);
    const built = await resolve();
    assert.ok(built.startsWith(cache));
    assert.ok(reported[0]?.includes(onPath) && reported[0].includes('has server 1.28'), reported[0]);
  });

  it('is the one of the setting, which must be usable', async () => {
    temporal(path, NEW_ENOUGH);
    const named = temporal(folder(), BUILT);
    assert.equal(await resolve({}, { MALIPO_TEMPORAL_BINARY: named }), named);
    const missing = { MALIPO_TEMPORAL_BINARY: join(folder(), 'temporal') };
    await assert.rejects(resolve({}, missing), /MALIPO_TEMPORAL_BINARY names .* which cannot be run/);
    const old = { MALIPO_TEMPORAL_BINARY: temporal(folder(), TOO_OLD) };
    await assert.rejects(resolve({}, old), /has server 1\.28, and 1\.29 \(CLI 1\.5\.0\) is the oldest/);
  });

  it('is built once and found again', async () => {
    go(BUILT);
    const first = await resolve();
    assert.equal(await resolve(), first);
    assert.equal(builds(), 1);
    assert.equal(cachedFiles().length, 1);
  });

  it('is built again when the pinned sources have changed', async () => {
    go(BUILT);
    const first = await resolve();
    writeFileSync(join(sourceDir, 'go.sum'), 'example v1.0.1 h1:other\n');
    assert.notEqual(await resolve(), first);
    assert.equal(builds(), 2);
  });

  it('is kept in the user’s cache folder by default', async () => {
    go(BUILT);
    const binary = await resolveTemporalBinary({
      report: () => undefined,
      env: { PATH: path, XDG_CACHE_HOME: cache, MALIPO_TEMPORAL_DOWNLOAD: 'false' },
      sourceDir,
    });
    assert.ok(binary.startsWith(join(cache, 'malipo', 'temporal-')), binary);
  });

  it('is built with reports of the progress', async () => {
    go(BUILT, 'echo example.org/first >&2', 'echo example.org/second >&2');
    const spawned: number[] = [];
    await resolve({ progressEveryMs: 100, onSpawn: (pid) => spawned.push(pid) });
    assert.equal(spawned.length, 1);
    assert.match(reported.join('\n'), /0 s, 2 packages so far/);
  });

  it('is correct after two concurrent builds', async () => {
    go(BUILT);
    const [first, second] = await Promise.all([resolve(), resolve()]);
    assert.equal(first, second);
    assert.equal(builds(), 2);
    assert.equal(cachedFiles().length, 1);
  });

  it('is built beside the files of a killed build, which are removed when they are old', async () => {
    go(BUILT);
    const cacheOfSources = join(cache, readCacheName(await resolve()));
    const [recent, old] = ['recent', 'old'].map((name) => join(cacheOfSources, `temporal.building-${name}`)) as [
      string,
      string,
    ];
    for (const file of [recent, old]) writeFileSync(file, 'half a program');
    utimesSync(old, 1, 1);
    writeFileSync(join(cacheOfSources, 'temporal'), 'spoiled', { mode: 0o755 });
    await resolve();
    assert.equal(builds(), 2);
    assert.deepEqual([existsSync(recent), existsSync(old)], [true, false]);
  });

  it('fails with the output of Go and the alternatives when the build fails', async () => {
    writeScript(join(path, 'go'), ['echo "go.mod requires go >= 1.26.4 (running go 1.22.1)" >&2', 'exit 1']);
    await assert.rejects(resolve(), /could not be built[^]*running go 1\.22\.1[^]*install Go 1\.26\.4 or newer/);
    assert.deepEqual(cachedFiles(), []);
  });

  it('is not kept when it does not run', async () => {
    go('no version at all');
    await assert.rejects(resolve(), /does not answer to --version/);
    assert.deepEqual(cachedFiles(), []);
  });

  it('fails with the programs to install if there is neither a server nor Go', async () => {
    await assert.rejects(resolve(), (error: Error) => {
      assert.match(error.message, /install Go 1\.26\.4 or newer/);
      assert.match(error.message, /Temporal CLI 1\.5\.0 or newer .* MALIPO_TEMPORAL_BINARY/);
      assert.match(error.message, /MALIPO_TEMPORAL_ADDRESS/);
      return true;
    });
  });

  it('is never a folder on the PATH', async () => {
    mkdirSync(join(path, 'temporal'));
    await assert.rejects(resolve(), /No Temporal server was found/);
  });

  function readCacheName(binary: string): string {
    return binary.slice(cache.length + 1).split('/')[0] ?? '';
  }
});
