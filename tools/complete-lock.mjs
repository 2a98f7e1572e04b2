// Adds to package-lock.json the optional packages of other systems that the registry in use does not offer.
//
// npm omits packages from the lock file that it cannot look up, and `npm ci` then refuses the lock file. These entries
// have version and system only, because no machine with this registry installs them. Run it after a change of
// dependencies; it is safe to repeat.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from '../src/arguments.mjs';

readArguments({
  usage: 'usage: node tools/complete-lock.mjs\n\nAdds the optional packages of other systems to package-lock.json.',
});

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const SYSTEM =
  /-(android|darwin|linux|win32|freebsd|openharmony|openbsd|netbsd|aix|sunos)-([a-z0-9]+?)(?:-(gnu|musl|msvc|gnueabihf|musleabihf|eabi))?$/;

const lock = JSON.parse(readFileSync(file, 'utf8'));
const packages = lock.packages;
const added = [];

for (const [path, entry] of Object.entries({ ...packages })) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (packages[`node_modules/${name}`] || packages[`${path}/node_modules/${name}`]) continue;
    const system = SYSTEM.exec(name);
    if (!system) continue;
    const [, os, cpu, abi] = system;
    packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(entry.dev ? { dev: true } : {}),
      ...(os === 'linux' && abi ? { libc: [abi.startsWith('musl') ? 'musl' : 'glibc'] } : {}),
      optional: true,
      os: [os],
    };
    added.push(name);
  }
}

if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(`package-lock.json: added ${added.length} packages of other systems`);
