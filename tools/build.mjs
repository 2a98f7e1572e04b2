// Compiles src, workflows and activities to dist/ and bundles the workflows there; does nothing when dist/ is up to
// date.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built-from');
const SOURCES = ['src', 'workflows', 'activities'];
const SINGLE_INPUTS = ['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json', 'tools/build.mjs'];

const inputs = hashInputs();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== inputs) await build();

async function build() {
  const startedAtMs = Date.now();
  // Removes everything first and writes the stamp last: no output of a deleted file stays, and an interrupted build is
  // repeated.
  rmSync(dist, { recursive: true, force: true });
  compile();
  copyAssets();
  await bundleWorkflows();
  writeFileSync(stamp, inputs);
  console.log(`built in ${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s`);
}

function compile() {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, error } = spawnSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`the build failed: ${error?.message ?? 'the compiler found mistakes'}`);
  process.exit(1);
}

// Files that modules read at run time, such as the migrations.
function copyAssets() {
  for (const file of sourceFiles().filter((name) => !name.endsWith('.ts'))) cpSync(join(root, file), join(dist, file));
}

async function bundleWorkflows() {
  // Imported here, because loading the bundler takes longer than the check whether anything changed.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const logger = new DefaultLogger('WARN', ({ message }) => console.error(message));
  const { code } = await bundleWorkflowCode({ workflowsPath: join(dist, 'workflows', 'index.js'), logger });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
}

function hashInputs() {
  const hash = createHash('sha256');
  for (const file of [...SINGLE_INPUTS, ...sourceFiles()]) {
    const content = readFileSync(join(root, file));
    // With the length, two files never hash like one longer file.
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function sourceFiles() {
  return SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  )
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
}
