// A sweep that cannot progress: it is ended, so that the next one runs.
import assert from 'node:assert/strict';
import { scheduleOf, sweep } from '../support/sweeps.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { alteredBundle } from '../support/altered-bundle.ts';

const PASSAGE = 'const purged = await';

describe('a sweep that cannot progress', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_SWEEP_EVERY_MS: '3600000', MALIPO_SWEEP_TIMEOUT_MS: '3000' },
    startsServer: false,
  });

  it('is ended after its time, and the next one completes', async () => {
    // Each task of a sweep fails.
    const broken = await testEnv.startServer(
      { MALIPO_ROLES: 'worker' },
      { workflowBundle: await alteredBundle(PASSAGE, `throw new Error('broken');${PASSAGE}`) },
    );
    const schedule = await scheduleOf(testEnv);
    await eventually('the schedule', () => schedule.describe().catch(() => null));
    assert.equal((await sweep(testEnv)).status, 'TIMED_OUT');
    await broken.stop();
    await testEnv.startServer({
      MALIPO_ROLES: 'worker',
      MALIPO_SWEEP_TIMEOUT_MS: '60000',
      MALIPO_SWEEP_EVERY_MS: '3000000',
    });
    await eventually('the new interval', async () => {
      return (await schedule.describe()).spec.intervals?.[0]?.every === 3_000_000;
    });
    assert.equal((await sweep(testEnv)).status, 'COMPLETED');
  });
});
