// Packages are installed when they differ from the lock file, and only then.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway } from '../engines/throwaway.ts';

type Package = { version: string; integrity: string; optional?: true; os?: string | string[]; cpu?: string | string[] };

const OTHER_SYSTEM = process.platform === 'darwin' ? 'linux' : 'darwin';

describe('the installation of packages', () => {
  const { folder, cleanUp } = throwaway();
  afterEach(cleanUp);

  let project: string;
  beforeEach(() => {
    project = folder();
    writeFileSync(join(project, 'package.json'), JSON.stringify({ engines: { node: '>=20.19.0' } }));
    lock({ 'node_modules/one': pack('1.0.0') });
    installed({ 'node_modules/one': pack('1.0.0') });
  });

  function pack(version: string, more: Partial<Package> = {}): Package {
    return { version, integrity: `sha512-${version}`, ...more };
  }

  function lock(packages: Record<string, Package>): void {
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  }

  function installed(packages: Record<string, Package>): void {
    for (const path of Object.keys(packages)) {
      mkdirSync(join(project, path), { recursive: true });
      writeFileSync(join(project, path, 'package.json'), '{}');
    }
    writeFileSync(join(project, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
  }

  /** Runs the script with a stand-in for npm, which records the arguments of each call on a line. */
  function install(
    npmScript = '',
    more: NodeJS.ProcessEnv = {},
  ): { ran: boolean; status: number | null; output: string; arguments: string } {
    const [npm, calls] = [join(project, 'npm.js'), join(project, 'calls')];
    rmSync(calls, { force: true });
    writeFileSync(
      npm,
      `require('node:fs').appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2).join(' ') + '\\n');${npmScript}`,
    );
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(findProjectRoot(), 'tools', 'install.mjs'), project],
      {
        encoding: 'utf8',
        env: { npm_execpath: npm, ...more },
      },
    );
    const ran = existsSync(calls);
    return { ran, status, output: stdout + stderr, arguments: ran ? readFileSync(calls, 'utf8') : '' };
  }

  it('does nothing and prints nothing when the packages match the lock file', () => {
    assert.deepEqual(install(), { ran: false, status: 0, output: '', arguments: '' });
  });

  it('runs when there are no packages', () => {
    rmSync(join(project, 'node_modules'), { recursive: true });
    const { output, arguments: args } = install();
    assert.match(args, /^ci --ignore-scripts --no-audit --no-fund .*--include=dev/);
    assert.match(output, /installing packages .*\npackages installed in \d+ s/);
  });

  it('runs the scripts of no package but those that package.json allows, and finds an install that ended before them', () => {
    const allowScripts = { one: true, two: true, three: false };
    writeFileSync(join(project, 'package.json'), JSON.stringify({ engines: { node: '>=20.19.0' }, allowScripts }));
    lock({ 'node_modules/one': pack('1.0.0'), 'node_modules/three': pack('1.0.0') });
    // As npm ci would leave it.
    const list = JSON.stringify({
      packages: { 'node_modules/one': pack('1.0.0'), 'node_modules/three': pack('1.0.0') },
    });
    const npm = (onRebuild: string) =>
      `const { mkdirSync, writeFileSync } = require('node:fs');
       if (process.argv[2] === 'ci') {
         for (const name of ['one', 'three']) {
           mkdirSync('node_modules/' + name, { recursive: true });
           writeFileSync('node_modules/' + name + '/package.json', '{}');
         }
         writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(list)});
       } else { ${onRebuild} }`;
    const failed = install(npm('process.exit(3)'));
    assert.equal(failed.status, 1);
    assert.match(failed.output, /npm rebuild failed with code 3/);
    const { arguments: args, status } = install(npm(''));
    assert.equal(status, 0);
    const [ci, rebuild] = args.trim().split('\n');
    assert.match(ci!, /^ci --ignore-scripts /);
    assert.match(rebuild!, /^rebuild --ignore-scripts=false .* one$/);
    assert.equal(install().ran, false);
  });

  it('runs when the lock file has another version, one package more, or one less', () => {
    lock({ 'node_modules/one': pack('1.0.1') });
    assert.match(install().output, /node_modules\/one is 1\.0\.0, not 1\.0\.1/);
    installed({ 'node_modules/one': pack('1.0.0') });
    lock({ 'node_modules/one': pack('1.0.0'), 'node_modules/two': pack('2.0.0') });
    assert.match(install().output, /node_modules\/two is missing/);
    installed({ 'node_modules/one': pack('1.0.0'), 'node_modules/two': pack('2.0.0') });
    lock({ 'node_modules/one': pack('1.0.0') });
    assert.match(install().output, /node_modules\/two is not in package-lock\.json/);
  });

  it('does not need packages of other systems, but those of this one', () => {
    const one = { 'node_modules/one': pack('1.0.0') };
    lock({ ...one, 'node_modules/other': pack('1.0.0', { optional: true, os: [OTHER_SYSTEM] }) });
    assert.equal(install().ran, false);
    lock({ ...one, 'node_modules/other': pack('1.0.0', { optional: true, os: OTHER_SYSTEM, cpu: process.arch }) });
    assert.equal(install().ran, false);
    lock({
      ...one,
      'node_modules/ours': pack('1.0.0', { optional: true, os: [process.platform], cpu: [process.arch] }),
    });
    assert.match(install().output, /node_modules\/ours is missing/);
  });

  it('needs a package that names this system alone', () => {
    lock({
      'node_modules/one': pack('1.0.0'),
      'node_modules/ours': pack('1.0.0', { optional: true, os: process.platform, cpu: process.arch }),
    });
    assert.match(install().output, /node_modules\/ours is missing/);
  });

  it('runs when a package was removed manually', () => {
    rmSync(join(project, 'node_modules', 'one'), { recursive: true });
    assert.match(install().output, /node_modules\/one was removed/);
  });

  it('runs again after an install that was killed', () => {
    rmSync(join(project, 'node_modules', 'one'), { recursive: true });
    install('process.kill(process.ppid, "SIGKILL")');
    mkdirSync(join(project, 'node_modules', 'one'));
    writeFileSync(join(project, 'node_modules', 'one', 'package.json'), '{}');
    assert.match(install().output, /an install was cut short/);
  });

  it('runs npm on the Node.js that npm runs on', () => {
    const other = join(project, 'other-node');
    writeFileSync(other, `#!/bin/sh\necho "the other one" >&2; exit 7\n`, { mode: 0o755 });
    rmSync(join(project, 'node_modules'), { recursive: true });
    assert.match(install('', { npm_node_execpath: other }).output, /the other one\nnpm ci failed with code 7/);
  });

  it('prints the output of npm when it fails', () => {
    rmSync(join(project, 'node_modules'), { recursive: true });
    const { status, output } = install('console.error("no network"); process.exit(7)');
    assert.equal(status, 1);
    assert.match(output, /no network\nnpm ci failed with code 7/);
  });

  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  for (const range of [
    '>=99.1.0',
    `^${major}.${minor + 1}.0`,
    `^${major - 1}.0.0 || ^${major}.${minor}.99 || >=99.0.0`,
  ]) {
    it(`prints the required version of Node.js where it is ${range}`, () => {
      writeFileSync(join(project, 'package.json'), JSON.stringify({ engines: { node: range } }));
      const { status, output } = install();
      assert.equal(status, 1);
      assert.ok(output.includes(`Node.js ${range} is needed; this is ${process.versions.node}`), output);
    });
  }

  for (const range of ['>=18.0.0', `^${major}.${minor}.0`, `^${major - 1}.0.0 || >=${major}.0.0`]) {
    it(`takes this version of Node.js where it is ${range}`, () => {
      writeFileSync(join(project, 'package.json'), JSON.stringify({ engines: { node: range } }));
      const { output } = install();
      assert.doesNotMatch(output, /is needed/);
    });
  }
});
