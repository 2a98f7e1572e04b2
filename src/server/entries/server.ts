// Entry: the server process, or one for each of its roles. SIGTERM and SIGINT stop it cleanly.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../settings/config.ts';
import { createLog } from '../../log.ts';
import { environmentsByRole, hasProcessPerRole, startRoleProcesses } from '../role-processes.ts';
import { runProcess } from '../run-process.ts';

await runProcess('server', async () => {
  const config = loadConfig(process.env);
  const log = createLog({ level: config.settings.MALIPO_LOG_LEVEL, process: 'server' });
  const codePath = fileURLToPath(new URL('../../../workflow-bundle.js', import.meta.url));
  if (!existsSync(codePath)) throw new Error('the workflow bundle is missing: run `npm run build` first');
  if (hasProcessPerRole(config)) {
    return startRoleProcesses(fileURLToPath(import.meta.url), environmentsByRole(config, process.env), log);
  }
  // Imported here, because a process that starts others does not need it.
  const { startServer } = await import('../assemble-server.ts');
  const { installRuntime } = await import('../worker.ts');
  return startServer(config, { workflowBundle: { codePath }, log, sdkMetrics: installRuntime(log) });
});
