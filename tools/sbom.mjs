// Prints the content of a release, as CycloneDX: every package that a server loads. Needs no network.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';
import { npmCommand } from './npm.mjs';

readArguments({ usage: 'usage: npm run sbom\n\nPrints what is in a release, as CycloneDX.' });

const root = dirname(import.meta.dirname);
const parent = mkdtempSync(join(tmpdir(), 'malipo-sbom-'));
// npm names its list after the folder.
const folder = join(parent, 'malipo');
mkdirSync(folder);
try {
  // npm's own `--omit dev` omits a package that a tool of ours also needs. So npm gets a project without our tools, and
  // without the Node.js that runs them: the image has its own.
  const own = readJson('package.json');
  const runtimes = Object.keys(own.optionalDependencies).map((name) => `node_modules/${name}`);
  const lock = readJson('package-lock.json');
  for (const root of [own, lock.packages['']]) {
    delete root.devDependencies;
    delete root.optionalDependencies;
  }
  const isShipped = ([path, { dev }]) => !dev && !runtimes.includes(path);
  lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(isShipped));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const [npm, ...before] = npmCommand();
  const args = [...before, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { status } = spawnSync(npm, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  process.exitCode = status ?? 1;
} finally {
  rmSync(parent, { recursive: true });
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'));
}
