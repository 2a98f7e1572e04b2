// Our own processes of the embedded start: server, sandbox operator and demo receiver, restarted when they die.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  startChild,
  type ChildEvent,
  type ChildOptions,
  type SupervisedChild,
} from '../engines/process/child-process.ts';
import { findProjectRoot } from '../project-root.ts';
import type { EngineOptions } from './embedded-engines.ts';

export type ChildPlan = Pick<ChildOptions, 'name' | 'entry' | 'env' | 'ready'>;

export function processEntry(name: 'server' | 'sandbox'): string {
  return fileURLToPath(new URL(`../server/entries/${name}.js`, import.meta.url));
}

export function receiverEntry(): string {
  return join(findProjectRoot(), 'docs', 'examples', 'webhook-receiver.mjs');
}

/** Starts the child and keeps it running; reports each death and restart. */
export function startOwnProcess(
  plan: ChildPlan,
  { record, report, dataDir, stopping }: Pick<EngineOptions, 'record' | 'report' | 'dataDir' | 'stopping'>,
): Promise<SupervisedChild> {
  let isUp = false;
  const onEvent = (event: ChildEvent): void => {
    switch (event.type) {
      case 'started':
        record.add({ name: plan.name, pid: event.pid });
        break;
      case 'ready':
        report(isUp ? `${plan.name} runs again (process ${event.pid})` : `${plan.name} runs (process ${event.pid})`);
        isUp = true;
        break;
      case 'died':
        if (event.pid !== undefined) record.remove(event.pid);
        report(`${plan.name} died (${event.reason}); it is started again in ${event.restartInMs} ms`);
        break;
      case 'stopped':
        record.remove(event.pid);
        break;
    }
  };
  return startChild({
    ...plan,
    logFile: join(dataDir, 'log', `${plan.name.replace(/[^a-z]+/gi, '-')}.log`),
    stopping,
    onEvent,
  });
}
