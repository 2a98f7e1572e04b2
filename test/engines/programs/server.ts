// A small supervised server: BEHAVIOUR chooses how it misbehaves, LEAVE_NOTE a file that its shutdown writes.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { exitWithParent, reportReady } from '../../../src/engines/process/parent-link.ts';

const behaviour = process.env['BEHAVIOUR'];
const note = process.env['LEAVE_NOTE'];

if (behaviour === 'fail') {
  console.error('no, not today');
  process.exit(3);
}
exitWithParent(() => {
  if (note) writeFileSync(note, 'exited cleanly');
  return Promise.resolve();
});
process.on('SIGTERM', () => {
  if (behaviour !== 'stubborn') process.exit(0);
});
createServer((_, response) => response.end('up')).listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  if (behaviour !== 'silent') reportReady();
});
