// Claims the data folder of its argument, starts a child that outlives it, prints that child's number and waits.
import { spawn } from 'node:child_process';
import { openRunRecord } from '../../../src/dev/run-record.ts';

const dataDir = process.argv[2] ?? '';
try {
  const record = await openRunRecord({ dataDir, report: () => undefined });
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
  record.add({ name: 'the sleeper', pid: child.pid ?? 0 });
  console.log(child.pid);
  setInterval(() => undefined, 60_000);
} catch (error) {
  console.log(`refused: ${String(error)}`);
}
