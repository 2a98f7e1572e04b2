// `npm test` reports tests that failed in parallel and pass alone: they stay failed.
import assert from 'node:assert/strict';
// @ts-expect-error: a tool without types.
import { MOST_FILES, runFailedOnceMore } from '../../tools/once-more.mjs';

type Counts = { passed: number; failed: number; failures: string[]; failedFiles: (string | null)[] };
type Run = { status: number; env: Record<string, string>; result: Counts };
type Options = { part: string; env: Record<string, string> };

const runOnceMore = runFailedOnceMore as (
  runs: Run[],
  run: (files: string[], options: Options) => Promise<Run>,
) => Promise<string[]>;

const env = { MALIPO_TEST_TEMPORAL: 'postgresql' };
const runOf = (counts: Partial<Counts> = {}): Run => ({
  status: counts.failed === undefined ? 0 : 1,
  env,
  result: { passed: 5, failed: 0, failures: [], failedFiles: [], ...counts },
});
const oneFailed = (file: string | null = 'a.test.ts') => runOf({ failed: 1, failures: ['a'], failedFiles: [file] });

describe('tests that failed while others ran', () => {
  async function again(runs: Run[], second: Run) {
    const tries: [string[], Options][] = [];
    const passed = await runOnceMore(runs, (files, options) => {
      tries.push([files, options]);
      return Promise.resolve(second);
    });
    return { passed, tries };
  }

  it('stay failed, and are named, when they pass alone', async () => {
    const runs = [runOf(), oneFailed()];
    const { passed, tries } = await again(runs, runOf());
    assert.deepEqual(tries, [[['a.test.ts'], { part: 'once more', env }]]);
    assert.deepEqual(passed, ['a']);
    assert.deepEqual(runs, [runOf(), oneFailed()]);
  });

  it('stay failed when they fail again, or when none of them ran', async () => {
    for (const second of [oneFailed(), runOf({ passed: 0 })]) {
      const runs = [oneFailed()];
      assert.deepEqual((await again(runs, second)).passed, []);
      assert.deepEqual(runs, [oneFailed()]);
    }
  });

  it('stay failed, and are not tried, when they are of many files or of no file', async () => {
    const failedFiles = Array.from({ length: (MOST_FILES as number) + 1 }, (_, n) => `${n}.test.ts`);
    const many = runOf({ failed: failedFiles.length, failures: ['a'], failedFiles });
    for (const failed of [many, oneFailed(null)]) {
      const { passed, tries } = await again([failed], runOf());
      assert.deepEqual([passed, tries], [[], []]);
      assert.equal(failed.status, 1);
    }
  });
});
