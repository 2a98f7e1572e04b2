// The download of the Temporal server by the SDK, from a stand-in for the internet: right, wrong, slow, and killed in its middle.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../src/engines/process/ports.ts';
import { resolveTemporalBinary, type TemporalBinaryOptions } from '../../src/engines/temporal/binary.ts';
import { startDownloadStub, type DownloadStub } from './download-stub.ts';
import { throwaway, until, writeScript } from './throwaway.ts';

const VERSION = '1.8.2';
const PINNED = `temporal version ${VERSION} (Server 1.31.2, UI 2.50.1)`;
const BUILT = 'temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)';
const LIMIT_MS = 60_000;
/** Soon over, for what never comes. */
const SHORT = { silenceMs: 5000, totalMs: 60_000 };

describe('the download of the Temporal server', function () {
  this.timeout(4 * LIMIT_MS);
  const { folder, command, defer, cleanUp } = throwaway();
  afterEach(cleanUp);

  let [path, cache, sourceDir] = ['', '', ''];
  let stub: DownloadStub;
  const reported: string[] = [];
  beforeEach(async () => {
    reported.length = 0;
    [path, cache, sourceDir] = [folder(), folder(), folder()];
    writeFileSync(
      join(sourceDir, 'go.mod'),
      `module example\n\ngo 1.26.4\n\nrequire (\n\tgithub.com/temporalio/cli v${VERSION}\n)\n`,
    );
    writeFileSync(join(sourceDir, 'go.sum'), '');
    stub = await startDownloadStub(folder());
    defer(() => stub.stop());
  });

  const environment = () => ({ PATH: path, MALIPO_CACHE_DIR: cache, ...stub.environment });
  const resolve = (options: Partial<TemporalBinaryOptions> = {}, env: Readonly<Record<string, string>> = {}) =>
    resolveTemporalBinary({
      report: (line) => reported.push(line),
      env: { ...environment(), ...env },
      sourceDir,
      ...options,
    });

  /** An archive as Temporal offers it, whose program says this version; large enough to be cut in the middle. */
  function archive(version = PINNED): Buffer {
    const from = folder();
    const padding = randomBytes(3_000_000).toString('base64');
    writeScript(join(from, 'temporal'), [`echo "${version}"`, 'exit 0', `# ${padding}`]);
    const { status } = spawnSync('tar', ['-czf', 'archive.tar.gz', 'temporal'], { cwd: from });
    assert.equal(status, 0);
    return readFileSync(join(from, 'archive.tar.gz'));
  }
  const offer = (bytes: Buffer) => {
    stub.answer((response) => response.writeHead(200, { 'content-length': bytes.length }).end(bytes));
  };
  /** A half, and then nothing for as long as the connection stays. */
  const stall = (bytes: Buffer) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, bytes.length / 2));
  };
  const go = () =>
    writeScript(join(path, 'go'), [
      'while [ "$1" != "-o" ]; do shift; done',
      `printf '#!/bin/sh\\necho "${BUILT}"\\n' > "$2"`,
      '/bin/chmod +x "$2"',
    ]);
  const files = (): string[] =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
  const versionOf = (binary: string): string => spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();

  it('comes in the pinned version, once, and leaves nothing else', async () => {
    offer(archive());
    const binary = await resolve();
    assert.deepEqual([versionOf(binary), files().length], [PINNED, 1]);
    assert.deepEqual(stub.requested, [`/cli/v${VERSION}`, '/archive.tar.gz']);
    assert.match(
      reported.join('\n'),
      /^downloading the Temporal server \(CLI 1\.8\.2\) .*\nthe Temporal server is downloaded/,
    );
    assert.equal(await resolve(), binary);
    assert.equal(stub.requested.length, 2);
  });

  it('is not requested if a setting forbids it', async () => {
    go();
    assert.equal(versionOf(await resolve({}, { MALIPO_TEMPORAL_DOWNLOAD: 'false' })), BUILT);
    assert.deepEqual(stub.requested, []);
  });

  const broken: readonly (readonly [string, RegExp, () => void])[] = [
    ['is not there', /404/, () => undefined],
    [
      'is no archive',
      /was not downloaded: ./,
      () => {
        offer(randomBytes(100_000));
      },
    ],
    [
      'is cut off',
      /was not downloaded: ./,
      () => {
        const whole = archive();
        stub.answer((response) => {
          stall(whole)(response);
          setTimeout(() => response.destroy(), 500);
        });
      },
    ],
    [
      'is of another version',
      /what came is not 1\.8\.2/,
      () => {
        offer(archive('temporal version 1.8.1 (Server 1.31.2)'));
      },
    ],
    [
      'is no Temporal',
      /what came does not answer to --version/,
      () => {
        offer(archive('hello'));
      },
    ],
  ];
  for (const [what, reason, break_] of broken) {
    it(`is given up when the offered file ${what}, and Go builds the server`, async () => {
      go();
      break_();
      assert.equal(versionOf(await resolve()), BUILT);
      assert.match(reported.find((line) => line.includes('was not downloaded')) ?? '', reason);
      assert.equal(files().length, 1);
    });
  }

  it('is given up when nothing comes, from the beginning or in the middle', async () => {
    go();
    stub.answer(() => undefined);
    assert.equal(versionOf(await resolve({ downloadLimits: SHORT })), BUILT);
    assert.match(reported.join('\n'), /was not downloaded: nothing came for 5 s$/m);
    writeFileSync(join(sourceDir, 'go.sum'), 'another folder of the cache');
    stub.answer(stall(archive()));
    await resolve({ downloadLimits: SHORT });
    assert.match(reported.join('\n'), /was not downloaded: nothing came for 5 s, after \d+ MB$/m);
  });

  it('is given up when it takes too long, however steadily it comes', async () => {
    go();
    const bytes = archive();
    stub.answer((response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      let sent = 0;
      const timer = setInterval(() => response.write(bytes.subarray(sent, (sent += 1000))), 100);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    await resolve({ downloadLimits: { silenceMs: LIMIT_MS, totalMs: 8000 } });
    assert.match(reported.join('\n'), /was not downloaded: it was not complete after 8 s/);
  });

  it('fails soon without a network, and the error names it with the alternatives', async () => {
    const nowhere = { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` };
    await assert.rejects(resolve({}, nowhere), (error: Error) => {
      assert.match(error.message, /no Go to build it with\. It could not be downloaded: .*\./);
      assert.match(error.message, /reach https:\/\/temporal\.download/);
      return true;
    });
  });

  it('that is killed in its middle is never run, ends with its parent, and is made again by the next start', async () => {
    const bytes = archive();
    stub.answer(stall(bytes));
    const entry = join(import.meta.dirname, 'programs', 'resolve-temporal.ts');
    const starting = command(process.execPath, ['--import', 'tsx', entry, sourceDir], environment());
    await until('half of it is here', () => files().some((name) => isLarge(join(cache, name))), LIMIT_MS);
    await starting.kill();
    await until('the downloader has ended', () => stub.connections() === 0, LIMIT_MS);
    assert.ok(
      files().every((name) => name.includes('.downloading-')),
      files().join(),
    );
    offer(bytes);
    assert.equal(versionOf(await resolve()), PINNED);
  });

  it('is right when two starts make it at once', async () => {
    offer(archive());
    const [first, second] = await Promise.all([resolve(), resolve()]);
    assert.equal(first, second);
    assert.deepEqual([versionOf(first), files().length], [PINNED, 1]);
  });

  function isLarge(file: string): boolean {
    return existsSync(file) && statSync(file).isFile() && statSync(file).size > 500_000;
  }
});
