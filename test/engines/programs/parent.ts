// Starts the small server as a supervised child, prints its number and waits to be killed.
import { join } from 'node:path';
import { startChild } from '../../../src/engines/process/child-process.ts';

const [folder = '', note] = process.argv.slice(2);
const child = await startChild({
  name: 'the server',
  entry: join(import.meta.dirname, 'server.ts'),
  execArgv: ['--import', 'tsx'],
  env: { LEAVE_NOTE: note },
  logFile: join(folder, 'server.log'),
  ready: 'message',
});
console.log(child.pid());
