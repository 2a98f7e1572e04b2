// Tests whose after-all hook fails before it closes what keeps the process running; run by mocha under a test.
import { createServer } from 'node:net';

describe('broken hooks', () => {
  before(() => {
    createServer().listen(0, '127.0.0.1');
  });
  it('passes', () => undefined);
  after(() => {
    throw new Error('the hook fails');
  });
});
