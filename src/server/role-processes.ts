// Runs each role of the server in a separate process, so that no role waits for the event loop of another.
import { availableParallelism } from 'node:os';
import { withoutOperatorKeys, type Config, type Role } from '../settings/config.ts';
import { startChild, type ChildEvent } from '../engines/process/child-process.ts';
import type { Log } from '../log.ts';
import { CannotStart, type Stoppable } from './server-parts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** With fewer, PostgreSQL and Temporal leave none for a second process; a start costs less beside its worker. */
const LEAST_CORES = 4;
/** Shorter than the stop limit of this process, which must outlive the processes that it started. */
const STOP_LIMIT_MS = 50_000;
/** The longest wait of Node.js: a process waits for the database as long as necessary, and logs that. */
const READY_LIMIT_MS = 2 ** 31 - 1;

/** Whether these roles run in separate processes: by the setting, or by the number of available cores. */
export function hasProcessPerRole({ settings }: Config): boolean {
  const { MALIPO_ROLES: roles, MALIPO_PROCESS_PER_ROLE: chosen } = settings;
  return roles.length > 1 && (chosen === 'auto' ? availableParallelism() >= LEAST_CORES : chosen === 'true');
}

/**
 * The environment for the process of each role. Their metrics ports are consecutive, in the order of the roles, and
 * only the worker gets the keys of the operators' credentials.
 */
export function environmentsByRole({ settings }: Config, environment: Environment): Map<Role, Environment> {
  const { MALIPO_ROLES: roles, MALIPO_METRICS_PORT: port } = settings;
  const withoutKeys = withoutOperatorKeys(environment);
  return new Map(
    roles.map((role, index) => {
      const MALIPO_METRICS_PORT = String(port === 0 ? 0 : port + index);
      return [role, { ...(role === 'worker' ? environment : withoutKeys), MALIPO_ROLES: role, MALIPO_METRICS_PORT }];
    }),
  );
}

/**
 * Runs `entry` once for each role, and restarts it whenever it ends. Resolves when all are ready. If one does not
 * start, it rejects and leaves none running. All of them end with this process, however it ends.
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
