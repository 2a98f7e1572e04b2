// The processes of a campaign: engines, sandbox operator, receiver and servers, each restarted when it dies.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../src/settings/config.ts';
import { darajaFiles, prepareDarajaFiles } from '../src/dev/demo-daraja.ts';
import { seedStaffAndAccounts } from '../src/dev/demo-accounts.ts';
import { darajaSecrets, freshSecrets } from '../src/dev/demo-secrets.ts';
import { startChild, type ChildEvent, type SupervisedChild } from '../src/engines/process/child-process.ts';
import { freePort } from '../src/engines/process/ports.ts';
import type { PostgresServer } from '../src/engines/postgres/server.ts';
import { findProjectRoot } from '../src/project-root.ts';
import { prepareDatabase } from '../src/server/prepare-database.ts';
import { prepareTemporal } from '../src/temporal/setup.ts';
import type { Evidence } from './checker/evidence.ts';
import { mountDisk, type Disk } from './disk.ts';
import type { Engine } from './engine.ts';
import { DATABASE, startPostgres, startTemporal, type EngineKind } from './engines.ts';
import { openLineFile } from './line-file.ts';
import { seedMerchants, type Merchant } from './merchants.ts';

export type Part = { readonly name: string; pid(): number | undefined };
/** A process of ours at a fixed address. */
export type Server = Part & {
  readonly url: string;
  stop(): Promise<void>;
  /** From the build in this folder; by default the project's. */
  start(root?: string): Promise<void>;
};
/** Shows its metrics, and serves the API if it has that role. */
export type ServerProcess = Server & { readonly roles: string; readonly metricsPort: number };

export type Topology = {
  readonly folder: string;
  readonly evidence: Evidence;
  readonly merchants: readonly Merchant[];
  readonly servers: readonly Server[];
  /** All server processes, including those without the API. */
  readonly serverProcesses: readonly ServerProcess[];
  readonly sandbox: Server;
  readonly receiver: Server;
  readonly temporal: Engine;
  readonly postgres: Engine<PostgresServer>;
  /** The PostgreSQL with Temporal's databases, if any: the same one, unless it is apart. */
  readonly temporalPostgres: Engine<PostgresServer>;
  /** For a client of ours that ends the connections of the service. */
  readonly adminUrl: string;
  /** Null if none could be mounted. */
  readonly disk: Disk | null;
  /** The sandbox operator's settings, with its credentials. */
  readonly environment: Readonly<Record<string, string>>;
  stopServers(): Promise<void>;
  /** Restarts the servers at the same addresses, from the build in this folder. */
  replaceServers(root: string): Promise<void>;
  /** With `keepsData` the folder afterwards has PostgreSQL's data, even from another folder. */
  stop(keepsData?: boolean): Promise<void>;
};

export type TopologyOptions = {
  readonly kind: EngineKind;
  readonly servers: number;
  /** Each server consists of these processes, each with its roles. */
  readonly roles: readonly string[];
  readonly merchants: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
  readonly hasDisk: boolean;
};

const NAMESPACE = 'malipo-test';
const HOST = '127.0.0.1';
export const ALL_ROLES = 'api,worker,dispatcher';
/** A prompt expires, and a late payment arrives, within seconds: nobody is at a handset here. */
const SANDBOX_TIMES = { MALIPO_SANDBOX_PROMPT_EXPIRY_MS: '5000', MALIPO_SANDBOX_UNDECIDED_MS: '12000' };

type Stop = () => Promise<void>;

/** Resolves when everything is ready; otherwise rejects, and nothing runs any more. */
export async function startTopology(options: TopologyOptions): Promise<Topology> {
  const folder = mkdtempSync(join(tmpdir(), 'malipo-chaos-'));
  // PostgreSQL's own account must be able to enter it.
  chmodSync(folder, 0o711);
  const stops: Stop[] = [];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.reverse()) await stop();
    stops.length = 0;
  };
  try {
    return await start(folder, options, stops, stopAll);
  } catch (error) {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function start(folder: string, options: TopologyOptions, stops: Stop[], stopAll: Stop): Promise<Topology> {
  const { report } = options;
  const disk = options.hasDisk ? mountDisk(join(folder, 'disk')) : null;
  let isDataKept = false;
  stops.push(() => {
    if (isDataKept) disk?.copyTo(join(folder, 'disk-copy'));
    disk?.unmount();
    return Promise.resolve();
  });
  const engineOptions = { folder, kind: options.kind, report };
  const postgres = await startPostgres(join(disk?.folder ?? folder, 'postgres'), engineOptions);
  stops.push(() => postgres.stop());
  const temporalPostgres =
    options.kind === 'postgresql-apart'
      ? await startPostgres(join(folder, 'temporal-postgres'), engineOptions, 'PostgreSQL of Temporal')
      : postgres;
  if (temporalPostgres !== postgres) stops.push(() => temporalPostgres.stop());
  const temporal = await startTemporal(temporalPostgres.server, { ...engineOptions, namespace: NAMESPACE });
  stops.push(() => temporal.stop());
  const { ownerUrl, applicationUrl } = await postgres.server.ensureAccounts(DATABASE);
  await prepareDatabase(ownerUrl, 'test');
  await prepareTemporal({ address: temporal.server.address, namespace: NAMESPACE });
  const ports = { sandbox: await freePort(), receiver: await freePort(), api: await freePort() };
  prepareDarajaFiles(folder);
  const environment = {
    ...settingsOf({ applicationUrl, temporalAddress: temporal.server.address, ports, folder }),
    ...options.settings,
  };
  const common = { folder, environment, report };
  const receiver = await startPart({ ...common, name: 'receiver', port: ports.receiver });
  stops.push(() => receiver.stop());
  const sandbox = await startPart({ ...common, name: 'sandbox', port: ports.sandbox });
  stops.push(() => sandbox.stop());
  await seedStaffAndAccounts(environment, join(folder, 'staff.json'), {
    url: `http://${HOST}:${ports.sandbox}`,
    darajaCertificate: readFileSync(darajaFiles(folder).publicHalf, 'utf8'),
  });
  const { MALIPO_SECRET_KEYS: keyRing, MALIPO_ATTESTATION_KEYS: attestationKeys } = loadConfig(environment).settings;
  const merchants = await seedMerchants(options.merchants, {
    url: applicationUrl,
    receiverUrl: receiver.url,
    keyRing,
    attestationKeys,
  });
  const servers: ServerProcess[] = [];
  const stopServers = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  stops.push(stopServers);
  for (let index = 0; index < options.servers; index++) {
    for (const roles of options.roles) {
      const port = index === 0 && hasApi({ roles }) ? ports.api : await freePort();
      servers.push(await startServer({ ...common, roles, index, port }));
    }
  }
  const evidence: Evidence = {
    databaseUrl: postgres.server.urlFor(DATABASE),
    temporalAddress: temporal.server.address,
    namespace: NAMESPACE,
    journalFile: openLineFile(join(folder, 'requests.jsonl')).path,
    receiverFile: join(folder, 'received.jsonl'),
    operatorFile: join(folder, 'sandbox.jsonl'),
    processFile: openLineFile(join(folder, 'processes.jsonl')).path,
    faultFile: openLineFile(join(folder, 'faults.jsonl')).path,
    endpoints: merchants.flatMap(({ endpoints }) => endpoints),
  };
  return {
    folder,
    evidence,
    merchants,
    servers: servers.filter(hasApi),
    serverProcesses: servers,
    sandbox,
    receiver,
    temporal,
    postgres,
    temporalPostgres,
    adminUrl: postgres.server.adminUrl,
    disk,
    environment,
    stopServers,
    async replaceServers(root) {
      await stopServers();
      for (const server of servers) await server.start(root);
    },
    async stop(keepsData = false) {
      isDataKept = keepsData;
      await stopAll();
    },
  };
}

type Places = {
  readonly applicationUrl: string;
  readonly temporalAddress: string;
  /** `api`: of the first server, to which Airtel calls back. */
  readonly ports: Readonly<Record<'sandbox' | 'api', number>>;
  readonly folder: string;
};

function settingsOf({ applicationUrl, temporalAddress, ports, folder }: Places) {
  return {
    MALIPO_CLOCKS: 'demo',
    MALIPO_PROMPT_WINDOW_MS: '8000',
    MALIPO_DATABASE_URL: applicationUrl,
    MALIPO_TEMPORAL_ADDRESS: temporalAddress,
    MALIPO_TEMPORAL_NAMESPACE: NAMESPACE,
    MALIPO_RATE_LIMIT_PER_SECOND: '0',
    // All clients have this machine's address.
    MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '5000',
    MALIPO_LOG_LEVEL: 'info',
    ...freshSecrets('chaos'),
    ...darajaSecrets(),
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
    MALIPO_SANDBOX_PORT: String(ports.sandbox),
    MALIPO_SANDBOX_DATA_FILE: join(folder, 'sandbox.jsonl'),
    ...SANDBOX_TIMES,
    MALIPO_FENCE_MARKER_FILE: join(folder, 'fence.json'),
    MALIPO_SANDBOX_DARAJA_PRIVATE_KEY_FILE: darajaFiles(folder).key,
    MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: `http://${HOST}:${ports.api}/operators/airtel-money/callbacks`,
  };
}

type Common = {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
};
type PartOptions = Common & {
  readonly name: 'server' | 'sandbox' | 'receiver';
  /** The name of one of several servers. */
  readonly title?: string;
  readonly port: number;
  readonly ready?: 'url' | 'message';
};

const hasApi = ({ roles }: Pick<ServerProcess, 'roles'>): boolean => roles.includes('api');

async function startServer(
  options: Common & { readonly roles: string; readonly index: number; readonly port: number },
) {
  const { roles, index, environment } = options;
  const metricsPort = await freePort();
  const part = await startPart({
    ...options,
    name: 'server',
    title: `${roles === ALL_ROLES ? 'server' : (roles.split(',')[0] ?? '')} ${index}`,
    environment: { ...environment, MALIPO_ROLES: roles, MALIPO_METRICS_PORT: String(metricsPort) },
    ready: hasApi(options) ? 'url' : 'message',
  });
  return { ...part, roles, metricsPort };
}

async function startPart(options: PartOptions): Promise<Server> {
  const { name, title = name, port } = options;
  mkdirSync(options.folder, { recursive: true });
  let child = await launch(options, findProjectRoot());
  return {
    name: title,
    url: `http://${HOST}:${port}`,
    pid: () => child.pid(),
    stop: () => child.stop(),
    async start(root = findProjectRoot()) {
      child = await launch(options, root);
    },
  };
}

async function launch(options: PartOptions, root: string): Promise<SupervisedChild> {
  const { name, title = name, port, folder, environment, ready = 'message' } = options;
  const url = `http://${HOST}:${port}`;
  const common = {
    name: title,
    logFile: join(folder, `${title.replace(' ', '-')}.log`),
    onEvent: watch(title, options),
  };
  return name === 'receiver'
    ? startChild({
        ...common,
        entry: fileURLToPath(new URL('receiver-process.ts', import.meta.url)),
        args: [String(port), join(folder, 'received.jsonl')],
        execArgv: ['--import=tsx/esm'],
        env: process.env,
        ready: 'message',
      })
    : startChild({
        ...common,
        entry: join(root, `dist/src/server/entries/${name}.js`),
        execArgv: [],
        env: {
          ...process.env,
          ...environment,
          // Exactly one process is killed, on any machine.
          MALIPO_PROCESS_PER_ROLE: 'false',
          MALIPO_HTTP_PORT: String(port),
          MALIPO_PUBLIC_URL: url,
        },
        ready: ready === 'url' ? { url: `${url}/readyz` } : 'message',
      });
}

/** Records every end of the process, and whether it had been ready. */
function watch(name: string, { folder, report }: PartOptions): (event: ChildEvent) => void {
  const log = openLineFile(join(folder, 'processes.jsonl'));
  let wasReady = false;
  return (event) => {
    if (event.type === 'ready') wasReady = true;
    if (event.type !== 'died') return;
    log.append({ name, pid: event.pid ?? null, atMs: Date.now(), reason: event.reason, wasReady });
    report(`${name} died (${event.reason.split('\n')[0] ?? ''})`);
    wasReady = false;
  };
}
