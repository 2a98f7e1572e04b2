#!/usr/bin/env node
// The command `malipo` that package.json installs. It runs the compiled code, which `npm start` and `npm run build` create.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const entry = new URL('../dist/src/server/entries/malipo.js', import.meta.url);
if (!existsSync(fileURLToPath(entry))) {
  console.error('malipo is not built yet: run npm run build in its folder once');
  process.exit(1);
}
await import(entry.href);
