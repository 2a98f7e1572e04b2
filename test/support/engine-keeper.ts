// The keeper: a process that starts PostgreSQL and Temporal when a run of the tests asks for them, and keeps them for the next run.
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startPostgresServer, TEMPORAL, type PostgresServer } from '../../src/engines/postgres/server.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { startTemporalOnPostgres } from '../../src/engines/temporal/on-postgres.ts';
import { startTemporalServer, type TemporalServer } from '../../src/engines/temporal/server.ts';
import { enginesFolder, NAMESPACE, removeTraces, type Answers, type Ask, type TemporalKind } from './engine-lease.ts';

/** Without a run for so long, the keeper ends. */
const IDLE_LIMIT_MS = 15 * 60_000;
const LOOK_EVERY_MS = 5000;
const HOST = '127.0.0.1';
/** The database of the service; its tests create their own databases. */
const DATABASE = 'malipo';
const TEMPORAL_DATABASE = 'temporal';

const [socketFile = '', kindOfTemporal] = process.argv.slice(2);
const folder = enginesFolder(socketFile);
mkdirSync(folder, { mode: 0o700 });
// PostgreSQL's own account must be able to enter it.
chmodSync(folder, 0o711);

let holder: Socket | null = null;
let freeSinceMs = Date.now();
let postgres: Promise<PostgresServer> | null = null;
let temporal: Promise<TemporalServer> | null = null;
let ending: Promise<void> | null = null;

async function startPostgres(): Promise<PostgresServer> {
  const server = await startPostgresServer({
    dataDir: join(folder, 'postgres'),
    fallbackDataDir: `${folder}-postgres`,
    port: await freePort(),
    // Tests need no durability across a power cut, and their passwords are random.
    settings: {
      ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
      ...{ max_connections: '300', scram_iterations: '1', max_wal_size: '128MB' },
      // Tests wait for deadlocks, by default a second for each.
      deadlock_timeout: '100ms',
    },
    logFile: join(folder, 'postgres.log'),
  });
  if (kindOfTemporal === 'postgresql') await server.ensureAccounts(DATABASE, TEMPORAL_DATABASE);
  return server;
}

async function startTemporal(kind: TemporalKind): Promise<TemporalServer> {
  const common = { host: HOST, port: await freePort(), logFile: join(folder, 'temporal.log') };
  if ('binary' in kind) {
    return startTemporalServer({ ...common, ...kind, uiPort: await freePort(), namespaces: [NAMESPACE] });
  }
  const server = await runningPostgres();
  const { username: user, password } = new URL(server.urlFor(TEMPORAL_DATABASE, TEMPORAL));
  const login = { host: server.host, port: server.port, user, password };
  return startTemporalOnPostgres({ ...common, ...kind, folder, postgres: login });
}

const runningPostgres = (): Promise<PostgresServer> => (postgres ??= watched(startPostgres()));
const runningTemporal = (kind: TemporalKind): Promise<TemporalServer> => (temporal ??= watched(startTemporal(kind)));

/** One that does not start or dies by itself takes the others with it: the next run gets new ones. */
function watched<Server extends PostgresServer | TemporalServer>(starting: Promise<Server>): Promise<Server> {
  starting.then((server) => server.exited).then(end, end);
  return starting;
}

const placeOfPostgres = ({ adminUrl, dataDir, pid }: PostgresServer) => ({ adminUrl, dataDir, pid });
const placeOfTemporal = ({ address, uiUrl, pid }: TemporalServer) => ({ address, uiUrl, pid });

async function answer(ask: Ask, socket: Socket): Promise<Answers[keyof Answers]> {
  switch (ask.ask) {
    case 'lease':
      if (holder !== null || ending !== null) return false;
      holder = socket;
      return true;
    case 'postgres':
      return placeOfPostgres(await runningPostgres());
    case 'temporal':
      return placeOfTemporal(await runningTemporal(ask.kind));
    case 'release':
      holder = null;
      freeSinceMs = Date.now();
      return true;
    case 'status':
      return {
        isLeased: holder !== null,
        postgres: postgres && placeOfPostgres(await postgres),
        temporal: temporal && placeOfTemporal(await temporal),
      };
    case 'stop':
      if (holder !== null) return false;
      void end();
      return true;
  }
}

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('close', () => {
    // A run that did not release them was killed, and may have left anything there.
    if (socket === holder) void end();
  });
  let answered = Promise.resolve();
  createInterface(socket).on('line', (line) => {
    answered = answered.then(async () => {
      const reply = await answer(JSON.parse(line) as Ask, socket).then(
        (given) => ({ answer: given }),
        (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
      );
      socket.write(`${JSON.stringify(reply)}\n`);
    });
  });
});

function end(): Promise<void> {
  return (ending ??= stopAll().finally(() => process.exit()));
}

/** Also what is only about to start. */
async function stopAll(): Promise<void> {
  for (const starting of [temporal, postgres]) await starting?.then((engine) => engine.stop()).catch(() => undefined);
  removeTraces(socketFile);
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end());
setInterval(() => {
  const isIdle = holder === null && Date.now() - freeSinceMs > IDLE_LIMIT_MS;
  // Without the file of its socket nobody finds it.
  if (isIdle || (holder === null && !existsSync(socketFile))) void end();
}, LOOK_EVERY_MS);
server.listen(socketFile, () => process.send?.('listening'));
