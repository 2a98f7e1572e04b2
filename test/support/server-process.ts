// The entry of a server process for tests: the real server, with a crash point if the test sets one.
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/processes/assemble-server.ts';
import { runProcess } from '../../src/processes/run-process.ts';
import { installRuntime } from '../../src/processes/worker.ts';
import { crashAtCommit, crashingInterceptors, crashPointSchema } from './crash-points.ts';

await runProcess('server', async () => {
  const config = loadConfig(process.env);
  const log = createLog({ level: config.settings.MALIPO_LOG_LEVEL, process: 'server' });
  installRuntime(log);
  const crashPoint = crashPointSchema.nullable().parse(JSON.parse(process.env['TEST_CRASH_POINT'] ?? 'null'));
  crashAtCommit(crashPoint);
  return startServer(config, {
    workflowBundle: { codePath: String(process.env['TEST_WORKFLOW_BUNDLE']) },
    log,
    interceptors: crashingInterceptors(crashPoint),
  });
});
