// The embedded start: engines, demo merchants and our own processes, one demonstration, and the stop of everything.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig, loadStartSettings } from '../settings/config.ts';
import { openDatabase, type Database } from '../db/platform/database.ts';
import { DEMO_CLOCKS } from '../domain/clocks.ts';
import { createRowAttestor } from '../security/row-attestation.ts';
import { prepareTemporal } from '../temporal/setup.ts';
import { temporalTarget } from '../temporal/transport.ts';
import type { SupervisedChild } from '../engines/process/child-process.ts';
import { prepareDataFolder } from './data-folder.ts';
import { sandboxAccounts, seedAccounts } from './demo-accounts.ts';
import { runDemoCollection } from './demo-collection.ts';
import { seedDemoMerchant } from './demo-merchant.ts';
import { darajaFiles, prepareDarajaFiles } from './demo-daraja.ts';
import { DEMO_PROFILES } from './demo-profiles.ts';
import { demoSecrets } from './demo-secrets.ts';
import { seedDemoStaff, type DemoStaff } from './demo-staff.ts';
import { processEntry, receiverEntry, startOwnProcess, type ChildPlan } from './embedded-children.ts';
import { existingDatabase, HOST, startEngines, type EngineOptions, type Engines } from './embedded-engines.ts';
import { choosePorts } from './embedded-ports.ts';
import { findProjectRoot } from '../project-root.ts';
import { openRunRecord } from './run-record.ts';
import { writeServerSettings } from './server-settings.ts';
import { printSummary, writeDemoSettings, type RunningMerchant } from './start-summary.ts';
import type { Environment } from '../engines/process/supervised-process.ts';

export type Development = {
  /** The address of pages and API: a server of the console's sources, which forwards everything else. */
  readonly publicUrl: string;
  /** Called once everything runs. `restartServer` migrates, and rejects if the newly built server does not start. */
  readonly onRunning: (restartServer: () => Promise<void>) => void;
};

type StartOptions = EngineOptions & {
  readonly secrets: Environment;
  readonly prepareDatabase: PrepareDatabase;
  readonly publicUrl: string | undefined;
};
/** Migrates the database as its owner; returns the names of the migrations that were applied. */
type PrepareDatabase = (ownerUrl: string, environment: 'test') => Promise<readonly string[]>;
type ServerSettings = ReturnType<typeof loadConfig>['settings'];
type Seeded = { readonly merchants: readonly RunningMerchant[]; readonly staff: DemoStaff };
type Started = {
  readonly engines: Engines;
  readonly children: SupervisedChild[];
  readonly restartServer: () => Promise<void>;
};

const NAMESPACE = 'malipo-test';
const DEMO_LIMIT_MS = 30_000;
/** How long after its prompt window a late payment of the demonstration arrives. */
const LATE_BY_MS = 5000;

/**
 * Runs everything until SIGINT, SIGTERM or SIGHUP, or until an engine has failed too often, then stops what it started.
 * Rejects if the start fails or an engine is given up. No child process is left in any case.
 */
export async function runEmbedded(
  environment: Environment,
  prepareDatabase: PrepareDatabase,
  development?: Development,
): Promise<void> {
  const report = reporter();
  const { settings, isExplicit } = loadStartSettings(environment);
  const dataDir = resolve(findProjectRoot(), settings.MALIPO_DATA_DIR);
  prepareDataFolder(dataDir);
  const record = await openRunRecord({ dataDir, report });
  const stop = new AbortController();
  const stopping = stop.signal;
  const stopped = stopOnSignal(stop);
  let hasBegun = false;
  try {
    const ports = await choosePorts({ host: HOST, settings, isExplicit, report });
    const secrets = demoSecrets(join(dataDir, 'secrets.json'), existingDatabase(dataDir));
    prepareDarajaFiles(dataDir);
    const engineOptions = { dataDir, settings, environment, namespace: NAMESPACE, record, report, ports, stopping };
    const options = { ...engineOptions, secrets, prepareDatabase, publicUrl: development?.publicUrl };
    // Reports faulty settings before anything is started.
    const temporalAddress = settings.MALIPO_TEMPORAL_ADDRESS ?? `${HOST}:${ports.temporal}`;
    loadConfig(settingsFor(options, `postgres://${HOST}:${ports.postgres}/`, temporalAddress));
    hasBegun = true;
    const starting = startAll(options);
    const started = await Promise.race([starting, stopped]);
    if (started === 'stop') {
      // Stopped during the start: the run record knows every child process, so endChildren ends them below.
      starting.catch(() => undefined);
      return;
    }
    development?.onRunning(started.restartServer);
    await Promise.race([stopped, started.engines.failed]);
    report('stopping');
    for (const child of [...started.children].reverse()) await child.stop();
    await started.engines.stop();
  } finally {
    // From here on nothing is restarted, for whatever reason it ends.
    stop.abort();
    await record.endChildren();
    record.close();
    if (hasBegun) report('stopped; none of its processes runs');
  }
}

/** Prints a line with the seconds since now. */
function reporter(): (line: string) => void {
  const startedAtMs = Date.now();
  return (line) => {
    const seconds = ((Date.now() - startedAtMs) / 1000).toFixed(1).padStart(6);
    process.stdout.write(`${seconds} s  ${line}\n`);
  };
}

function stopOnSignal(stop: AbortController): Promise<'stop'> {
  return new Promise((resolveStop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        stop.abort();
        resolveStop('stop');
      });
    }
  });
}

async function startAll(options: StartOptions): Promise<Started> {
  const { dataDir } = options;
  const engines = await startEngines(options);
  // Its rejection is handled once everything runs. Until then the failing start reports the same reason.
  engines.failed.catch(() => undefined);
  const serverSettings = {
    ...settingsFor(options, engines.databaseUrls.applicationUrl, engines.temporalAddress),
    ...(engines.temporalUiUrl !== undefined && { MALIPO_TEMPORAL_UI_URL: engines.temporalUiUrl }),
  };
  const { merchants, staff } = await prepare(options, serverSettings, engines.databaseUrls.ownerUrl);
  // Written before the server starts, so that staff commands can find out why it does not start.
  writeServerSettings(dataDir, serverSettings);
  const children: SupervisedChild[] = [];
  for (const plan of besideServer(options, serverSettings, merchants))
    children.push(await startOwnProcess(plan, options));
  let server: SupervisedChild | undefined;
  const startServer = async (): Promise<void> => {
    server = await startOwnProcess(serverPlan(options, serverSettings), options);
    children.push(server);
  };
  await startServer();
  const restartServer = async (): Promise<void> => {
    await options.prepareDatabase(engines.databaseUrls.ownerUrl, 'test');
    // There is none after a failed restart.
    if (children.at(-1) === server) await children.pop()?.stop();
    await startServer();
  };
  const addresses = {
    baseUrl: serverSettings.MALIPO_PUBLIC_URL,
    sandboxUrl: sandboxUrlOf(options),
  };
  const summary = { file: join(dataDir, 'demo.env'), namespace: NAMESPACE, engines, merchants, staff, ...addresses };
  writeDemoSettings(summary);
  await demonstrate(addresses.baseUrl, merchants, options);
  printSummary(summary);
  return { engines, children, restartServer };
}

/** One collection on each wire, as a courtesy: everything runs even if it does not end, as behind a backlog. */
async function demonstrate(
  baseUrl: string,
  merchants: readonly RunningMerchant[],
  { report, stopping }: StartOptions,
): Promise<void> {
  try {
    for (const { profile, demo, inboxUrl } of merchants) {
      const request = { baseUrl, inboxUrl, apiKey: demo.apiKey, report, timeoutMs: DEMO_LIMIT_MS };
      for (const payer of profile.payers) await runDemoCollection({ ...request, payer });
    }
  } catch (error) {
    if (stopping.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    report(`the demo collection did not finish: ${reason}. Everything else runs`);
  }
}

function settingsFor(
  { settings, environment, secrets, ports, publicUrl, dataDir }: StartOptions,
  databaseUrl: string,
  temporalAddress: string,
) {
  return {
    ...environment,
    ...secrets,
    MALIPO_ENVIRONMENT: 'test',
    MALIPO_CLOCKS: settings.MALIPO_CLOCKS,
    MALIPO_DATABASE_URL: databaseUrl,
    MALIPO_TEMPORAL_ADDRESS: temporalAddress,
    MALIPO_TEMPORAL_NAMESPACE: NAMESPACE,
    MALIPO_HTTP_PORT: String(ports.http),
    MALIPO_METRICS_PORT: String(ports.metrics),
    // By its name: browsers use no passkeys for a site that is an IP address.
    MALIPO_PUBLIC_URL: publicUrl ?? `http://localhost:${ports.http}`,
    MALIPO_CALLBACK_URL: `http://${HOST}:${ports.http}`,
    MALIPO_FENCE_MARKER_FILE: environment['MALIPO_FENCE_MARKER_FILE'] ?? join(dataDir, 'fence.json'),
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
    MALIPO_RATE_LIMIT_PER_SECOND: environment['MALIPO_RATE_LIMIT_PER_SECOND'] ?? '1000',
  };
}

function sandboxUrlOf({ ports }: Pick<StartOptions, 'ports'>): string {
  return `http://${HOST}:${ports.sandbox}`;
}

async function prepare(options: StartOptions, serverSettings: Environment, ownerUrl: string): Promise<Seeded> {
  const { report, prepareDatabase } = options;
  const { settings, temporalNamespace } = loadConfig(serverSettings);
  const applied = await prepareDatabase(ownerUrl, 'test');
  report(applied.length === 0 ? 'the database is up to date' : `the database is migrated (${applied.length} files)`);
  await prepareTemporal({ ...temporalTarget(settings), namespace: temporalNamespace });
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 2,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
    attestor: createRowAttestor({
      environment: 'test',
      keyRing: settings.MALIPO_ATTESTATION_KEYS,
      report: ({ table, key }) => {
        report(`the row ${key} of ${table} is not as the service wrote it`);
      },
    }),
  });
  try {
    return await seed(db, options, settings);
  } finally {
    await db.close();
  }
}

/** The staff first, because two of them agree on the accounts with the operators. */
async function seed(
  db: Database,
  { dataDir, ports, secrets }: StartOptions,
  { MALIPO_SECRET_KEYS: keyRing, MALIPO_OPERATOR_KEYS: operatorKeys, MALIPO_CALLBACK_URL: callbackUrl }: ServerSettings,
): Promise<Seeded> {
  if (operatorKeys === undefined || callbackUrl === undefined) throw new Error('the start sets both for its server');
  const staff = await seedDemoStaff(db, join(dataDir, 'demo-staff.json'), keyRing);
  const darajaCertificate = readFileSync(darajaFiles(dataDir).publicHalf, 'utf8');
  const accounts = sandboxAccounts({ settings: secrets, url: sandboxUrlOf({ ports }), darajaCertificate });
  await seedAccounts(db, { accounts, keyRing: operatorKeys, callbackUrl });
  const merchants: RunningMerchant[] = [];
  for (const profile of DEMO_PROFILES) {
    const inboxUrl = `http://${HOST}:${ports[profile.receiver]}/`;
    const options = { db, profile, file: join(dataDir, profile.file), webhookUrl: `${inboxUrl}webhooks`, keyRing };
    merchants.push({ profile, demo: await seedDemoMerchant(options), inboxUrl });
  }
  return { merchants, staff };
}

function besideServer(
  { dataDir, settings, ports }: StartOptions,
  serverSettings: Environment,
  merchants: readonly RunningMerchant[],
): ChildPlan[] {
  // In the demonstration an unanswered prompt expires within seconds; a late payment comes soon after its window.
  const sandboxTimes =
    settings.MALIPO_CLOCKS === 'demo'
      ? {
          MALIPO_SANDBOX_PROMPT_EXPIRY_MS: '5000',
          MALIPO_SANDBOX_UNDECIDED_MS: String(DEMO_CLOCKS.promptWindowMs + LATE_BY_MS),
        }
      : {};
  const receivers = merchants.map(({ profile, demo, inboxUrl }) => ({
    name: profile.receiverName,
    entry: receiverEntry(),
    env: { MALIPO_WEBHOOK_SECRET: demo.webhookSecret, PORT: String(ports[profile.receiver]) },
    ready: { url: inboxUrl },
  }));
  return [
    ...receivers,
    {
      name: 'the sandbox operator',
      entry: processEntry('sandbox'),
      env: {
        ...sandboxTimes,
        ...serverSettings,
        MALIPO_SANDBOX_PORT: String(ports.sandbox),
        MALIPO_SANDBOX_AIRTEL_CALLBACK_URL: `http://${HOST}:${ports.http}/operators/airtel-money/callbacks`,
        MALIPO_SANDBOX_DARAJA_PRIVATE_KEY_FILE: darajaFiles(dataDir).key,
        MALIPO_SANDBOX_DATA_FILE: join(dataDir, 'sandbox.jsonl'),
      },
      ready: 'message',
    },
  ];
}

function serverPlan({ ports }: StartOptions, env: Environment): ChildPlan {
  return {
    name: 'the server',
    entry: processEntry('server'),
    // The credentials of the operators' side are none of its business: its own accounts have them, sealed.
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('MALIPO_SANDBOX_'))),
    ready: { url: `http://${HOST}:${ports.http}/readyz` },
  };
}
