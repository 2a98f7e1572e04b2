// Runs each role of the server in a process of its own, so that none waits for the event loop of another.
import { availableParallelism } from 'node:os';
import { withoutOperatorCredentials, type Config, type Role } from '../settings/config.ts';
import { startChild, type ChildEvent } from '../engines/process/child-process.ts';
import type { Log } from '../log.ts';
import { CannotStart, type Stoppable } from './server-parts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** With fewer, PostgreSQL and Temporal leave none for a second process, and a workflow starts at less cost beside its worker. */
const LEAST_CORES = 4;
/** Less than this process has to stop itself: it must not end before those that it started. */
const STOP_LIMIT_MS = 50_000;
/** The longest that Node.js can wait: a process waits for the database as long as it takes, and says so in the log. */
const READY_LIMIT_MS = 2 ** 31 - 1;

/** Whether these roles run in processes of their own: as it is set, or by the cores that this process may use. */
export function hasProcessPerRole({ settings }: Config): boolean {
  const { MALIPO_ROLES: roles, MALIPO_PROCESS_PER_ROLE: chosen } = settings;
  return roles.length > 1 && (chosen === 'auto' ? availableParallelism() >= LEAST_CORES : chosen === 'true');
}

/**
 * The environment of the process of each role. Their metrics are on ports one after the other, in the order of the roles, and
 * the credentials of the operator are the worker's alone.
 */
export function environmentsByRole({ settings }: Config, environment: Environment): Map<Role, Environment> {
  const { MALIPO_ROLES: roles, MALIPO_METRICS_PORT: port } = settings;
  const withoutCredentials = withoutOperatorCredentials(environment);
  return new Map(
    roles.map((role, index) => {
      const MALIPO_METRICS_PORT = String(port === 0 ? 0 : port + index);
      return [
        role,
        { ...(role === 'worker' ? environment : withoutCredentials), MALIPO_ROLES: role, MALIPO_METRICS_PORT },
      ];
    }),
  );
}

/**
 * Runs `entry` once for each role, and starts it again whenever it ends. Resolves when all are ready; rejects, and leaves none
 * behind, when one does not start. They end with this process, however it ends.
 */
export async function startRoleProcesses(
  entry: string,
  environments: ReadonlyMap<Role, Environment>,
  log: Log,
): Promise<Stoppable> {
  // The others may wait for the database for as long as it takes.
  const failing = new AbortController();
  const started = await Promise.all(
    [...environments].map(([role, env]) =>
      startChild({
        stopping: failing.signal,
        name: `the process of the role ${role}`,
        entry,
        env,
        logFile: null,
        ready: 'message',
        readyLimitMs: READY_LIMIT_MS,
        stopLimitMs: STOP_LIMIT_MS,
        onEvent: (event) => {
          note(role, event, log);
        },
      }).catch((error: unknown) => {
        if (!failing.signal.aborted) failing.abort(error);
      }),
    ),
  );
  const children = started.filter((child) => child !== undefined);
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()));
  };
  if (!failing.signal.aborted) return { stop };
  await stop();
  // The process that failed has said why.
  const reason: unknown = failing.signal.reason;
  throw new CannotStart(reason instanceof Error ? reason.message : String(reason));
}

function note(role: Role, event: ChildEvent, log: Log): void {
  if (event.type === 'ready') log.info({ role, pid: event.pid }, 'the process of a role runs');
  if (event.type !== 'died') return;
  const { pid, reason, restartInMs } = event;
  log.error({ role, pid, reason, restartInMs }, 'the process of a role died; it is started again');
}
