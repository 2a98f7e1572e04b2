// Tests that every program answers arguments that it does not know, and asks for its help, before it does anything.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { builtFile } from '../support/build.ts';
import { useConcurrentTests } from '../support/concurrent-tests.ts';

const root = findProjectRoot();
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** What each script ends with, and what stands for itself: the arguments of Node.js. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(scripts)
      // Prettier, ESLint and TypeScript, which have their own.
      .filter(([name]) => !['format', 'lint', 'types'].includes(name))
      .map(([name, script]) => [
        `npm run ${name}`,
        script
          .split(/\bnode /)
          .at(-1)!
          .split(' '),
      ]),
  ),
  ...Object.fromEntries(
    readdirSync(join(root, 'tools'))
      .filter((file) => /\.(ts|mjs)$/.test(file) && isProgram(join(root, 'tools', file)))
      .map((file) => [file, ['--import=tsx/esm', `tools/${file}`]]),
  ),
  ...Object.fromEntries(
    ['start', 'server', 'sandbox'].map((name) => [name, [builtFile(`dist/src/server/entries/${name}.js`)]]),
  ),
  'the example receiver': ['docs/examples/webhook-receiver.mjs'],
  'the example of one-time codes': ['docs/examples/totp.mjs'],
};

/** A module exports, and does nothing by itself. */
function isProgram(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  return !/^export /m.test(text) || text.includes('process.argv[1]');
}

const folder = mkdtempSync(join(tmpdir(), 'malipo-arguments-'));

type Ended = { readonly code: number; readonly out: string; readonly err: string };

/** Without any setting, in a data folder of its own, which says afterwards whether anything was begun. */
function start(program: readonly string[], argument: string): Promise<Ended & { readonly dataDir: string }> {
  const dataDir = join(mkdtempSync(join(folder, 'program-')), 'var');
  const env = { PATH: process.env['PATH'], HOME: dataDir, MALIPO_DATA_DIR: dataDir };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...program, argument], { cwd: root, env }, (_error, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err, dataDir });
    });
  });
}

const started = new Map<string, ReturnType<typeof start>>();

/** As `start`; once for a program that has several names. */
function run(program: readonly string[], argument: string): ReturnType<typeof start> {
  const command = [...program, argument].join(' ');
  const running = started.get(command) ?? start(program, argument);
  started.set(command, running);
  return running;
}

describe('a program', () => {
  after(() => {
    rmSync(folder, { recursive: true });
  });
  // Several at once: each waits for files most of the time.
  const test = useConcurrentTests(3);
  for (const [name, program] of Object.entries(PROGRAMS)) {
    test(`answers --help and what it does not know, and does nothing else: ${name}`, async () => {
      const help = await run(program, '--help');
      assert.equal(help.code, 0, help.err);
      assert.match(help.out, /^usage: /);
      assert.equal(help.err, '');
      const unknown = await run(program, '--nonsense');
      assert.equal(unknown.code, 2, unknown.err);
      assert.match(unknown.err, /nonsense[^]*usage: /);
      assert.equal(unknown.out, '');
      for (const { dataDir } of [help, unknown]) assert.ok(!existsSync(dataDir));
    });
  }

  it('is in every script and every entry file', () => {
    for (const name of ['npm run start', 'npm run test', 'npm run audit', 'npm run staff', 'install.mjs', 'server']) {
      assert.ok(PROGRAMS[name], name);
    }
    assert.deepEqual(PROGRAMS['npm run bench'], ['--import=tsx/esm', 'bench/run.ts']);
  });
});
