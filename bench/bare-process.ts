// Runs the bare workflow in its own process, with client and worker on one connection, as fast as the engine allows.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { UnwatchedWorker } from '../src/server/unwatched-worker.ts';

export type BareActivities = {
  callOperator(id: string): Promise<void>;
  recordNothing(): Promise<void>;
};

type Command = { readonly count: number; readonly inFlight: number; readonly decisionMs: number };

const [address = '', namespace = ''] = process.argv.slice(2);
const TASK_QUEUE = 'bench-bare';

Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection, namespace });
let decisionMs = 0;

// As the SDK comes, unless the same is asked of it that the service asks of its workers.
const BareWorker = process.env['BENCH_BARE'] === 'unwatched' ? UnwatchedWorker : Worker;
const worker = await BareWorker.create({
  connection,
  namespace,
  taskQueue: TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
  maxCachedWorkflows: 2000,
  workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 3 },
  activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
  activities: {
    // The operator calls back some time after it accepted the call.
    callOperator(id: string) {
      setTimeout(() => {
        client.workflow
          .getHandle(id)
          .signal('calledBack')
          .catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
      }, decisionMs);
      return Promise.resolve();
    },
    recordNothing: () => Promise.resolve(),
  } satisfies BareActivities,
});
const running = worker.run();

async function runOne(): Promise<void> {
  const workflowId = `bare/${randomUUID()}`;
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [workflowId], requestEagerStart: true };
  await (await client.workflow.start('bareWorkflow', options)).result();
}

async function run({ count, inFlight, decisionMs: delayMs }: Command): Promise<void> {
  decisionMs = delayMs;
  let left = count;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await runOne();
    }),
  );
  process.send?.('done');
}

process.on('message', (command: Command | 'stop') => {
  if (command === 'stop') {
    worker.shutdown();
    void running.then(() => connection.close()).then(() => process.exit(0));
  } else void run(command);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
