// `npm start`: installs, builds and runs everything in this process, which knows how long each step before it took.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const steps = [
  ['packages', 'tools/install.mjs'],
  ['build', 'tools/build.mjs'],
].map(([name, file]) => {
  const startedAtMs = Date.now();
  const { status } = spawnSync(process.execPath, [join(root, file)], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  return [name, Date.now() - startedAtMs];
});
process.env.NPM_START_STEPS = JSON.stringify(steps);
await import('../dist/src/processes/start.js');
