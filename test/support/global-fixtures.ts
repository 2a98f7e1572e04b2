// Mocha's global set-up and teardown: one seed for generated input, and the stop of everything the tests started.
import fc from 'fast-check';
import { onEarlyEnd } from './early-end.ts';
import './plain-assert.ts';
import { endRun } from './run-end.ts';

// The input is the same in every run, so that only a change makes a test fail. MALIPO_TEST_SEED=random tries new input;
// the seed that a failure printed repeats that failure.
const seed = process.env['MALIPO_TEST_SEED'] ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

onEarlyEnd(() => endRun(true));

// A worker or pool that is left open keeps the run from ending.
export async function mochaGlobalTeardown(): Promise<void> {
  await endRun();
}
