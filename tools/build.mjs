// Compiles src, workflows and activities to dist/, bundles the workflows there, and builds the console and the
// documentation. Each part is built only if its inputs have changed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { dirname, join } from 'node:path';
import { readArguments } from '../src/arguments.mjs';

const { positionals: chosen } = readArguments({
  usage:
    'usage: npm run build [-- PART …]\n\nBuilds dist/ where it is not up to date, or only server, types, console, docs.',
  positionals: [0, 4],
});

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');
/** For each part the hash of the inputs of its last build. */
const stamps = join(dist, '.built');
const SOURCES = ['src', 'workflows', 'activities'];
/** The common inputs of every part. */
const COMMON = ['package.json', 'package-lock.json', 'tsconfig.json', 'tools/build.mjs'];
const PARTS = {
  server: {
    inputs: [...SOURCES, 'tsconfig.build.json'],
    outputs: [...SOURCES.map((folder) => `dist/${folder}`), 'dist/workflow-bundle.js'],
    build: buildServer,
  },
  types: {
    inputs: [...SOURCES, 'tools/generate-console-types.ts', 'tools/api-routes.ts'],
    outputs: ['console/generated/api.ts'],
    build: buildTypes,
  },
  console: {
    // It uses functions of src/domain, too.
    inputs: [
      ...['console/src', 'console/public', 'console/index.html', 'console/tsconfig.json'],
      ...['console/generated/api.ts', 'src/domain', 'tools/console-config.mjs'],
    ],
    outputs: ['dist/console-app'],
    build: buildConsole,
  },
  docs: {
    inputs: [
      ...['docs/guides', 'docs/examples', 'docs/webhook-test-vectors.json'],
      ...['tools/docs-site', 'tools/build-docs-site.ts', 'tools/guides.ts'],
    ],
    outputs: ['dist/docs-site'],
    build: buildDocsSite,
  },
};
/** A smaller saving is not worth a compressed file. */
const LEAST_SAVED_BYTES = 200;

/** The running programs of this build. */
const running = new Set();

const startedAtMs = Date.now();
// A failure ends the build, including the other parts.
const built = await Promise.all([buildPart('server'), buildTypesAndConsole(), buildPart('docs')]);
if (built.includes(true)) console.log(`built in ${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s`);

/** Resolves to whether it was out of date. */
async function buildPart(name) {
  if (chosen.length > 0 && !chosen.includes(name)) return false;
  const { inputs, outputs, build } = PARTS[name];
  const stamp = join(stamps, name);
  const hash = hashOf([...COMMON, ...inputs]);
  const isThere = [stamp, ...outputs.map((path) => join(root, path))].every((path) => existsSync(path));
  if (isThere && readFileSync(stamp, 'utf8') === hash) return false;
  // Removes everything first and writes the stamp last: no output of a deleted file stays, and an interrupted build is
  // repeated. The types stay, because the linter may be reading them.
  rmSync(stamp, { force: true });
  for (const path of outputs.filter((each) => each.startsWith('dist/'))) {
    rmSync(join(root, path), { recursive: true, force: true });
  }
  await build();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, hash);
  return true;
}

// With the API's current types: a changed route stops the build if the console uses its old form.
async function buildTypesAndConsole() {
  const hasNewTypes = await buildPart('types');
  return (await buildPart('console')) || hasNewTypes;
}

async function buildTypes() {
  await run(process.execPath, ['--import=tsx/esm', 'tools/generate-console-types.ts']);
}

async function buildServer() {
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json']);
  copyAssets();
  await bundleWorkflows();
}

async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  running.add(child);
  const [status, error] = await new Promise((resolve) => {
    child.once('close', (code) => resolve([code]));
    child.once('error', (reason) => resolve([null, reason]));
  });
  running.delete(child);
  if (status === 0) return;
  console.error(`the build failed: ${error?.message ?? 'the compiler found mistakes'}`);
  for (const other of running) other.kill();
  process.exit(1);
}

// Files that modules read at run time, such as the schema.
function copyAssets() {
  const assets = SOURCES.flatMap(filesOf).filter((file) => !file.endsWith('.ts'));
  for (const file of assets) cpSync(join(root, file), join(dist, file));
}

async function bundleWorkflows() {
  // Imported here, because the bundler takes longer to load than the check for changes.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const logger = new DefaultLogger('WARN', ({ message }) => console.error(message));
  const path = (name) => join(dist, 'workflows', name);
  const { code } = await bundleWorkflowCode({
    workflowsPath: path('index.js'),
    workflowInterceptorModules: [path('trace-interceptor.js')],
    logger,
  });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
}

async function buildConsole() {
  await Promise.all([run(join(root, 'node_modules', '.bin', 'tsc'), ['--noEmit', '-p', 'console']), bundleConsole()]);
}

async function bundleConsole() {
  const [{ build: bundle }, { consoleConfig }] = await Promise.all([import('vite'), import('./console-config.mjs')]);
  await bundle(consoleConfig);
  await compressFiles(join(dist, 'console-app'));
}

async function buildDocsSite() {
  await run(process.execPath, ['--import=tsx/esm', 'tools/build-docs-site.ts']);
  await compressFiles(join(dist, 'docs-site'));
}

// In parallel: compression takes longer than building the files.
async function compressFiles(folder) {
  const names = filesIn(folder).filter((name) => /\.(js|css|svg|html)$/.test(name));
  await Promise.all(names.map((name) => compressFile(join(folder, name))));
}

async function compressFile(file) {
  const content = readFileSync(file);
  for (const [suffix, compressing] of [
    ['.br', promisify(brotliCompress)(content)],
    ['.gz', promisify(gzip)(content, { level: 9 })],
  ]) {
    const compressed = await compressing;
    if (content.length - compressed.length > LEAST_SAVED_BYTES) writeFileSync(file + suffix, compressed);
  }
}

function hashOf(inputs) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesOf)) {
    const content = readFileSync(join(root, file));
    // With the length, two files never hash like one longer file.
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** The file itself, or the files of the folder, in order; nothing if there is neither. */
function filesOf(path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat ? [path] : [];
  return filesIn(join(root, path))
    .map((name) => join(path, name))
    .sort();
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
}
