// The check of our packages: licences, the recorded audit, and the list of what is in a release.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/dev/project-root.ts';
import { throwaway } from './throwaway.ts';

const root = findProjectRoot();

describe('the check of packages', () => {
  const { folder, cleanUp } = throwaway();
  afterEach(cleanUp);

  function check(packages: Record<string, object>, record: object): { status: number | null; output: string } {
    const project = folder();
    mkdirSync(join(project, 'docs'));
    writeFileSync(join(project, 'docs', 'packages.json'), JSON.stringify(record));
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'tools/packages.mjs'), 'check', project],
      {
        encoding: 'utf8',
      },
    );
    return { status, output: stdout + stderr };
  }
  const one = (license?: string) => ({ 'node_modules/one': { version: '1.0.0', integrity: 'sha512-x', license } });
  const nothing = { audited: null, accepted: {} };

  it('accepts the licences of ours, and names a package with another one or with none', () => {
    assert.equal(check(one('MIT'), nothing).status, 0);
    assert.equal(check(one('(Apache-2.0 AND MIT)'), nothing).status, 0);
    for (const licence of ['GPL-3.0', 'MIT AND SSPL-1.0', undefined]) {
      const { status, output } = check(one(licence), nothing);
      assert.equal(status, 1);
      assert.match(output, /^one has the licence /m);
    }
  });

  it('refuses a recorded vulnerability until it is gone or a person accepted it', () => {
    const audited = { at: '2026-11-22', packagesSha256: '', vulnerabilities: [{ name: 'one', severity: 'high' }] };
    const { status, output } = check(one('MIT'), { audited, accepted: {} });
    assert.equal(status, 1);
    assert.match(output, /one has a known vulnerability \(high\)/);
    assert.equal(check(one('MIT'), { audited, accepted: { one: 'not reached' } }).status, 0);
  });

  it('says when these very packages were not audited', () => {
    assert.match(check(one('MIT'), nothing).output, /were not audited: run `npm run audit`/);
  });
});

describe('the list of what is in a release', () => {
  it('is CycloneDX, and has every package that a server loads, with its digest', () => {
    const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    assert.equal(status, 0);
    const { bomFormat, components } = JSON.parse(stdout) as {
      bomFormat: string;
      components: { name: string; version: string; hashes?: unknown[] }[];
    };
    assert.equal(bomFormat, 'CycloneDX');
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    const listed = new Map(components.map((component) => [component.name, component]));
    for (const [name, version] of Object.entries(dependencies)) {
      assert.equal(listed.get(name)?.version, version);
      assert.notEqual(listed.get(name)?.hashes?.length ?? 0, 0, name);
    }
    assert.equal(listed.has('mocha') || !('mocha' in devDependencies), false);
  });
});
