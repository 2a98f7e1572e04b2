// Mocha's global set-up and teardown: one seed for generated input, and an end to what the tests started.
import fc from 'fast-check';
import { stopEngines } from './engines.ts';
import './plain-assert.ts';

// The same input every run, so that a change is what makes a test fail. MALIPO_TEST_SEED=random looks for new input;
// a seed that a failure printed brings that failure back.
const seed = process.env['MALIPO_TEST_SEED'] ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

// A worker or pool that was left open keeps the run from ending.
export async function mochaGlobalTeardown(): Promise<void> {
  await stopEngines();
}
