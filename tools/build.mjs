// Compiles src, workflows and activities to dist/, bundles the workflows there, builds the console and the documentation; does
// nothing when dist/ is up to date.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from '../src/arguments.mjs';

readArguments({ usage: 'usage: npm run build\n\nBuilds dist/ where it is not up to date.' });

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built-from');
const SOURCES = ['src', 'workflows', 'activities'];
const CONSOLE_SOURCES = ['console/src', 'console/public'];
const DOCS_SOURCES = ['docs/guides', 'docs/examples', 'tools/docs-site'];
const SINGLE_INPUTS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'tools/build.mjs',
  'tools/generate-console-types.ts',
  'tools/build-docs-site.ts',
  'tools/guides.ts',
  'docs/webhook-test-vectors.json',
  'console/index.html',
  'console/tsconfig.json',
];
/** What compresses to less than this saves nothing worth a file. */
const LEAST_SAVED_BYTES = 200;

/** The programs of this build that run. */
const running = new Set();

const inputs = hashInputs();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== inputs) await build();

async function build() {
  const startedAtMs = Date.now();
  // Removes everything first and writes the stamp last: no output of a deleted file stays, and an interrupted build is
  // repeated.
  rmSync(dist, { recursive: true, force: true });
  // None of the three reads what another writes. What fails ends the build, and with it the others.
  await Promise.all([buildServer(), buildConsole(), buildDocsSite()]);
  writeFileSync(stamp, inputs);
  console.log(`built in ${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s`);
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
  for (const file of sourceFiles().filter((name) => !name.endsWith('.ts'))) cpSync(join(root, file), join(dist, file));
}

async function bundleWorkflows() {
  // Imported here, because loading the bundler takes longer than the check whether anything changed.
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

// With the types of the API as it is now: a route that changed stops the build where the console uses it otherwise.
async function buildConsole() {
  await run(process.execPath, ['--import=tsx/esm', 'tools/generate-console-types.ts']);
  await Promise.all([run(join(root, 'node_modules', '.bin', 'tsc'), ['--noEmit', '-p', 'console']), bundleConsole()]);
}

async function bundleConsole() {
  const folder = join(dist, 'console-app');
  const [{ build: bundle }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')]);
  await bundle({
    configFile: false,
    logLevel: 'warn',
    root: join(root, 'console'),
    base: '/console/',
    plugins: [react()],
    // Every file is one of its own: the content security policy of the page allows nothing inline.
    build: { outDir: folder, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  });
  await compressFiles(folder);
}

async function buildDocsSite() {
  await run(process.execPath, ['--import=tsx/esm', 'tools/build-docs-site.ts']);
  await compressFiles(join(dist, 'docs-site'));
}

// Beside each other: compressing takes longer than making what is compressed.
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

function hashInputs() {
  const hash = createHash('sha256');
  for (const file of [...SINGLE_INPUTS, ...sourceFiles(), ...filesUnder([...CONSOLE_SOURCES, ...DOCS_SOURCES])]) {
    const content = readFileSync(join(root, file));
    // With the length, two files never hash like one longer file.
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function sourceFiles() {
  return filesUnder(SOURCES);
}

function filesUnder(folders) {
  return folders.flatMap((folder) => filesIn(join(root, folder)).map((name) => join(folder, name))).sort();
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
}
