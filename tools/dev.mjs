// `npm run dev`, once packages are installed: everything of `npm start`, with server and console from the sources.
import { spawn, spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { readArguments } from '../src/arguments.mjs';

readArguments({
  usage:
    'usage: npm run dev\n\nRuns all of Malipo; restarts the server and reloads the console when their sources change.',
});

const root = dirname(import.meta.dirname);
const HOST = '127.0.0.1';
/** An editor that saves several files at once causes one restart. */
const QUIET_MS = 200;
const SOURCES = ['src', 'workflows', 'activities'];

if (spawnSync(process.execPath, [join(root, 'tools/build.mjs')], { cwd: root, stdio: 'inherit' }).status !== 0)
  process.exit(1);
const { choosePort } = await import('../dist/src/engines/process/ports.js');
const { runEmbedded } = await import('../dist/src/dev/embedded-start.js');
const { prepareDatabase } = await import('../dist/src/server/prepare-database.js');

const choose = (name, setting, preferred) =>
  choosePort({
    ...{ name, setting, host: HOST, preferred: Number(process.env[setting] ?? preferred) },
    ...{ isExplicit: process.env[setting] !== undefined, report: console.log },
  });
const [apiPort, consolePort] = [
  await choose('the API', 'MALIPO_HTTP_PORT', 8080),
  await choose('the console', 'MALIPO_CONSOLE_PORT', 5173),
];
// It ends with its input, and so with this process, however this process ends.
const page = spawn(
  process.execPath,
  [join(root, 'tools/serve-console.mjs'), String(consolePort), `http://${HOST}:${apiPort}`],
  { cwd: root, stdio: ['pipe', 'inherit', 'inherit'], detached: true },
);

await runEmbedded({ ...process.env, MALIPO_HTTP_PORT: String(apiPort) }, prepareDatabase, {
  publicUrl: `http://localhost:${consolePort}`,
  onRunning: restartWhenChanged,
}).catch((error) => {
  console.error(`\nMalipo cannot run: ${error.message}`);
  process.exitCode = 1;
});
page.kill();
process.exit();

function restartWhenChanged(restartServer) {
  let timer;
  let isChanged = false;
  let isWorking = false;
  const work = async () => {
    if (isWorking) return;
    isWorking = true;
    while (isChanged) {
      isChanged = false;
      if ((await build()) === 0) await restartServer().catch((error) => console.error(error.message));
    }
    isWorking = false;
  };
  for (const folder of SOURCES) {
    watch(join(root, folder), { recursive: true }, () => {
      isChanged = true;
      clearTimeout(timer);
      timer = setTimeout(work, QUIET_MS);
    });
  }
  console.log(`  A change of ${SOURCES.join(', ')} restarts the server.\n`);
}

/** Resolves to its exit code. Compiler errors are printed, and the running server stays. */
function build() {
  return new Promise((resolve) => {
    const args = [join(root, 'tools/build.mjs'), 'server', 'types'];
    spawn(process.execPath, args, { cwd: root, stdio: 'inherit', detached: true }).once('close', resolve);
  });
}
