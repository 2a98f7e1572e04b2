// The walks of `npm run alerts`, held against the alerts: it takes too long to be made at each test run.
import assert from 'node:assert/strict';
import { WALKS } from '../../alerts/walks.ts';
import { rules } from '../support/alert-files.ts';

describe('the walks of the alerts', () => {
  it('walk every alert, each once', () => {
    const alerts = rules().flatMap(({ alert }) => (alert === undefined ? [] : [alert]));
    const walked = WALKS.flatMap((walk) => walk.alerts);
    assert.deepEqual([...walked].sort(), [...alerts].sort());
  });
});
