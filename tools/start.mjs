// `npm start`, after the installation of packages: builds, and runs everything in this process.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';

readArguments({
  usage: 'usage: npm start\n\nBuilds and runs all of Malipo on this machine; docs/demonstration.md lists its settings.',
});

const root = dirname(import.meta.dirname);

const { status } = spawnSync(process.execPath, [join(root, 'tools/build.mjs')], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
await import('../dist/src/server/entries/start.js');
