// Starts the shell command of its argument as an engine, prints its number and waits to be killed.
import { launchProcess } from '../../../src/engines/process/supervised-process.ts';

const [folder = '', command = '', limitMs] = process.argv.slice(2);
const engine = await launchProcess({
  command: '/bin/sh',
  args: ['-c', command],
  env: { PATH: '/usr/bin:/bin' },
  logFile: `${folder}/engine.log`,
  ifParentDies: limitMs === undefined ? 'stays' : { signal: 'SIGTERM', limitMs: Number(limitMs) },
});
console.log(engine.pid);
setInterval(() => undefined, 60_000);
