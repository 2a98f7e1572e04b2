// Adds to package-lock.json the optional packages of other systems that the registry in use does not offer.
//
// npm omits packages that it cannot look up from the lock file, and `npm ci` then refuses the lock file. New entries
// have only version and system. Then npm looks up every entry without a digest, because a package without one would be
// installed whatever its content is. Run it after a change of dependencies; it is safe to repeat. It ends with 1 while
// a digest is missing, because the registry does not know the package: run it again with another registry.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { npmCommand } from './npm.mjs';

const { positionals } = readArguments({
  usage:
    'usage: node tools/complete-lock.mjs [FOLDER]\n\n' +
    'Adds the optional packages of other systems, and missing digests, to package-lock.json of the folder; by default to ours.',
  positionals: [0, 1],
});
const root = positionals[0] ?? dirname(import.meta.dirname);
const file = join(root, 'package-lock.json');
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

const without = Object.keys(packages).filter((path) => lacksDigest(path, packages[path]));
if (without.length > 0) Object.assign(packages, lookedUp(without));
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
const missing = without.filter((path) => lacksDigest(path, packages[path]));
console.log(
  `package-lock.json: added ${added.length} packages of other systems and ${without.length - missing.length} digests`,
);
for (const path of missing) console.error(`${path} has no digest: the registry does not know it`);
if (missing.length > 0) process.exitCode = 1;

function lacksDigest(path, { link, integrity }) {
  return path !== '' && !link && integrity === undefined;
}

/** The entries of these paths as npm writes them without entries in the lock file, if their versions are equal. */
function lookedUp(paths) {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-lock-'));
  try {
    for (const name of ['package.json', '.npmrc'].filter((name) => existsSync(join(root, name))))
      copyFileSync(join(root, name), join(folder, name));
    const others = Object.entries(packages).filter(([path]) => !paths.includes(path));
    const written = join(folder, 'package-lock.json');
    writeFileSync(written, JSON.stringify({ ...lock, packages: Object.fromEntries(others) }));
    const [npm, ...before] = npmCommand();
    const args = [...before, 'install', '--package-lock-only', '--ignore-scripts', '--prefer-online'];
    const { status, stderr } = spawnSync(npm, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm could not look the packages up:\n${stderr}`);
    const found = JSON.parse(readFileSync(written, 'utf8')).packages;
    return Object.fromEntries(
      paths.flatMap((path) => (found[path]?.version === packages[path].version ? [[path, found[path]]] : [])),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
