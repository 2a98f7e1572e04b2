// A test file that starts the tests' engines, prints where they are and never ends; mocha runs it to be killed.
import { postgres, runFolder, temporal } from '../../support/engines.ts';

describe('tests that never end', () => {
  it('runs on', async function () {
    this.timeout(0);
    const pids = [(await postgres()).pid, (await temporal()).pid];
    console.log(JSON.stringify({ pids: [...pids, process.pid], folder: runFolder() }));
    await new Promise(() => undefined);
  });
});
