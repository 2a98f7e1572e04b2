// Logs lines to a standard output that may be full, says on standard error that it came to the end, and exits.
import { createLog } from '../../../src/log.ts';

const log = createLog({ level: 'info', process: 'test' });
for (let line = 1; line <= 3; line++) {
  log.info({ line }, 'a line');
  await new Promise((resolve) => setImmediate(resolve));
}
process.stderr.write('came to the end\n', () => process.exit(0));
