// Installs the packages if node_modules differs from package-lock.json; otherwise ends quickly. Only packages that
// package.json names may run an install script.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { readArguments } from '../src/arguments.mjs';
import { npmCommand } from './npm.mjs';

const {
  positionals: [root = dirname(dirname(fileURLToPath(import.meta.url)))],
} = readArguments({
  usage: 'usage: node tools/install.mjs [PROJECT]\n\nInstalls the packages of a project, by default this one.',
  positionals: [0, 1],
});
// npm writes this list of installed packages as the last step of an install.
const installedList = join(root, 'node_modules', '.package-lock.json');
const PROGRESS_EVERY_MS = 15_000;
// npm prints the error first and its usage afterwards.
const FAILURE_LINES = 30;

checkNode();
const difference = differenceFromLock();
if (difference !== undefined) await install(difference);

/** The first difference from package-lock.json; undefined if there is none. */
function differenceFromLock() {
  if (!existsSync(installedList)) return 'they are not there, or an install was cut short';
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedList);
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path];
    if (!found) {
      if (!mayBeMissing(entry)) return `${path} is missing`;
    } else if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path} is ${found.version}, not ${entry.version}`;
    }
  }
  // Also finds packages that were removed manually, or by an install that was killed while it deleted.
  for (const [path, { link }] of Object.entries(installed)) {
    if (!wanted[path]) return `${path} is not in package-lock.json`;
    if (!link && !existsSync(join(root, path, 'package.json'))) return `${path} was removed`;
  }
  return undefined;
}

// True for packages of other systems. In a node_modules folder copied from another system, ours are missing. (Needs
// glibc.)
function mayBeMissing({ optional, os, cpu, libc }) {
  if (!optional) return false;
  if (!os && !cpu) return true;
  const isForUs = accepts(os, process.platform) && accepts(cpu, process.arch) && accepts(libc, 'glibc');
  return !isForUs;
}

// Some packages name a single system instead of a list.
function accepts(systems, name) {
  if (!systems) return true;
  const list = [systems].flat();
  return list.some((item) => item.startsWith('!')) ? !list.includes(`!${name}`) : list.includes(name);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch (error) {
    // npm rewrites the list in every install; an incomplete list counts as none.
    if (error instanceof SyntaxError && file === installedList) return {};
    throw error;
  }
}

async function install(reason) {
  console.log(`installing packages (${reason}) …`);
  // npm ci deletes in no particular order. Without its list, an install that is killed from here on is always detected.
  rmSync(installedList, { force: true });
  const startedAtMs = Date.now();
  const progress = setInterval(() => {
    console.log(`installing packages: ${secondsSince(startedAtMs)} s so far`);
  }, PROGRESS_EVERY_MS);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await runOrExit(['ci', '--ignore-scripts', ...quiet, '--include=dev', '--include=optional']);
  const allowed = packagesWithAllowedScripts();
  if (allowed.length > 0) {
    // Without its list, an install that is killed before the scripts have run is detected too.
    const list = readFileSync(installedList, 'utf8');
    rmSync(installedList);
    await runOrExit(['rebuild', '--ignore-scripts=false', ...quiet, ...allowed]);
    writeFileSync(installedList, list);
  }
  clearInterval(progress);
  console.log(`packages installed in ${secondsSince(startedAtMs)} s`);
}

/** The installed packages among those whose scripts package.json allows. */
function packagesWithAllowedScripts() {
  const { allowScripts = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(allowScripts).filter(
    (name) => allowScripts[name] === true && existsSync(join(root, 'node_modules', name, 'package.json')),
  );
}

async function runOrExit(args) {
  const { code, output } = await runNpm(args);
  if (code === 0) return;
  console.error(output.trim().split('\n').slice(0, FAILURE_LINES).join('\n'));
  console.error(`npm ${args[0]} failed with code ${code}; nothing was started`);
  process.exit(1);
}

function runNpm(args) {
  const [command, ...before] = npmCommand();
  return new Promise((resolve) => {
    const child = spawn(command, [...before, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ code: 1, output: `npm could not be run: ${error.message}` }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

function secondsSince(startedAtMs) {
  return Math.round((Date.now() - startedAtMs) / 1_000);
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major, minor, patch] = process.versions.node.split('.').map(Number);
  const isEnough = engines.node.split('||').some((range) => {
    const [, kind, ...wanted] = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/.exec(range.trim()) ?? [];
    const [ofMajor, ofMinor, ofPatch] = wanted.map(Number);
    if (major !== ofMajor) return kind === '>=' && major > ofMajor;
    return minor > ofMinor || (minor === ofMinor && patch >= ofPatch);
  });
  if (isEnough) return;
  console.error(`Node.js ${engines.node} is needed; this is ${process.versions.node}`);
  process.exit(1);
}
