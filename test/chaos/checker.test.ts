// The checker of campaigns: silent about a good run, and outspoken about every way in which its evidence is broken.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BREAKAGES } from '../../chaos/breakages.ts';
import { BROKEN_SERVICES } from '../../chaos/broken-services.ts';
import { violationLines } from '../../chaos/report.ts';
import { runSmall, type SmallRun } from '../../chaos/small-run.ts';
import { findProjectRoot } from '../../src/project-root.ts';

/** Engines, servers and a score of payments on a slow machine. */
const RUN_LIMIT_MS = 900_000;

describe('the checker of campaigns', () => {
  const root = findProjectRoot();
  let run: SmallRun;

  before(async function () {
    this.timeout(RUN_LIMIT_MS);
    // The campaign runs the processes as they are built; nothing happens when they are up to date.
    const built = spawnSync(process.execPath, [join(root, 'tools/build.mjs')], { cwd: root, encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    run = await runSmall(() => undefined);
  });

  after(async function () {
    this.timeout(RUN_LIMIT_MS);
    // Undefined when the hook before failed.
    await (run as SmallRun | undefined)?.stop();
  });

  it('finds nothing in a run in which everything went well', () => {
    assert.equal(violationLines(run.judgement.violations), '');
  });

  for (const breakage of BREAKAGES) {
    it(`names ${breakage.name}`, async () => {
      const { judgement, id } = await run.judgeBroken(breakage);
      const isNamed = judgement.violations.some((violation) => violation.rule === breakage.rule && violation.id === id);
      assert.ok(isNamed, `${breakage.rule} ${id} is not among:\n${violationLines(judgement.violations)}`);
    });
  }

  for (const { name, file, from } of BROKEN_SERVICES) {
    // --prove runs it: half a minute each is too long for every run of the tests.
    it(`can be tried with a service that ${name}`, () => {
      const lines = readFileSync(join(root, 'dist', file), 'utf8').split(from).length - 1;
      assert.equal(lines, 1, `${file} has ${lines} times: ${from}`);
    });
  }
});
