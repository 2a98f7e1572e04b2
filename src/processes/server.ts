// Entry: the server process. SIGTERM and SIGINT stop it cleanly.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { startServer } from './assemble-server.ts';
import { runProcess } from './run-process.ts';
import { installRuntime } from './worker.ts';

await runProcess('server', async () => {
  const config = loadConfig(process.env);
  const log = createLog({ level: config.settings.MALIPO_LOG_LEVEL, process: 'server' });
  const sdkMetrics = installRuntime(log);
  const codePath = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  if (!existsSync(codePath)) throw new Error('the workflow bundle is missing: run `npm run build` first');
  return startServer(config, { workflowBundle: { codePath }, log, sdkMetrics });
});
