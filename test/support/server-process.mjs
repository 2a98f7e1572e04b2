// The entry of a server process for tests: the real server as it is built, with a crash point if the test sets one.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const built = (module) => import(pathToFileURL(join(process.env['TEST_SERVER'], module)).href);
const { loadConfig } = await built('settings/config.js');
const { createLog } = await built('log.js');
const { startServer } = await built('server/assemble-server.js');
const { runProcess } = await built('server/run-process.js');
const { installRuntime } = await built('server/worker.js');
// Only now: tsx would look at each of those modules too, and every start of a server would take twice as long.
await import('tsx/esm');
const { crashAtCommit, crashingInterceptors, crashPointSchema } = await import('./crash-points.ts');

await runProcess('server', async () => {
  const config = loadConfig(process.env);
  const log = createLog({ level: config.settings.MALIPO_LOG_LEVEL, process: 'server' });
  const sdkMetrics = installRuntime(log);
  const crashPoint = crashPointSchema.nullable().parse(JSON.parse(process.env['TEST_CRASH_POINT'] ?? 'null'));
  crashAtCommit(crashPoint);
  return startServer(config, {
    workflowBundle: { codePath: String(process.env['TEST_WORKFLOW_BUNDLE']) },
    log,
    sdkMetrics,
    interceptors: crashingInterceptors(crashPoint),
  });
});
