// Entry of `npm start`: all of Malipo on one machine, from nothing to a paid collection and its verified webhook.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepareTemporal } from '../temporal/setup.ts';
import { loadConfig, loadStartSettings } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import type { SupervisedChild } from '../dev/child-process.ts';
import { findProjectRoot } from '../dev/project-root.ts';
import { openRunRecord } from '../dev/run-record.ts';
import { DEMO_PHONE, runDemoCollection } from '../dev/demo-collection.ts';
import { seedDemoMerchant, type DemoMerchant } from '../dev/demo-merchant.ts';
import { peopleSettings } from '../dev/demo-people.ts';
import { demoSecrets } from '../dev/demo-secrets.ts';
import { processEntry, receiverEntry, startOwnProcess, type ChildPlan } from '../dev/embedded-children.ts';
import { HOST, portFor, startEngines, type EngineOptions, type Engines } from '../dev/embedded-engines.ts';
import { prepareDatabase } from './prepare-database.ts';
import { writePrivateFile } from '../dev/private-file.ts';

type Started = { readonly engines: Engines; readonly children: SupervisedChild[] };
type Ports = { readonly http: number; readonly metrics: number; readonly sandbox: number; readonly receiver: number };

const NAMESPACE = 'malipo-test';
const DEMO_LIMIT_MS = 60_000;

const startedAtMs = Date.now();

function report(line: string): void {
  const seconds = ((Date.now() - startedAtMs) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${seconds} s  ${line}\n`);
}

async function main(): Promise<void> {
  const { settings, isExplicit } = loadStartSettings(process.env);
  const dataDir = resolve(findProjectRoot(), settings.MALIPO_DATA_DIR);
  mkdirSync(dataDir, { recursive: true });
  const record = await openRunRecord({ dataDir, report });
  const options = { dataDir, settings, isExplicit, environment: process.env, namespace: NAMESPACE, record, report };
  const stopped = stopOnSignal();
  const starting = startAll(options);
  try {
    const started = await Promise.race([starting, stopped]);
    if (started === 'stop') {
      // In the middle of the start: what it began is ended by the record of what it began.
      starting.catch(() => undefined);
      return;
    }
    await Promise.race([stopped, started.engines.failed]);
    await stopAll(started);
  } finally {
    await record.endChildren();
    record.close();
    report('stopped; nothing of it runs any more');
  }
}

function stopOnSignal(): Promise<'stop'> {
  return new Promise((resolveStop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        resolveStop('stop');
      });
    }
  });
}

async function startAll(options: EngineOptions): Promise<Started> {
  const engines = await startEngines(options);
  // Somebody else handles its rejection once everything runs; before that the start itself fails for the same reason.
  engines.failed.catch(() => undefined);
  const ports = {
    http: await portFor(options, 'the API', 'MALIPO_HTTP_PORT'),
    metrics: await portFor(options, 'the metrics', 'MALIPO_METRICS_PORT'),
    sandbox: await portFor(options, 'the sandbox operator', 'MALIPO_SANDBOX_PORT'),
    receiver: await portFor(options, 'the demo receiver', 'MALIPO_RECEIVER_PORT'),
  };
  const serverSettings = settingsFor(options, engines, ports);
  const demo = await prepare(options, serverSettings, ports);
  const children: SupervisedChild[] = [];
  for (const plan of childPlans(options, { serverSettings, ports, demo })) {
    children.push(await startOwnProcess(plan, options));
  }
  await showThatItWorks(options, { engines, ports, demo });
  return { engines, children };
}

function settingsFor({ dataDir, settings, environment }: EngineOptions, engines: Engines, ports: Ports) {
  return {
    ...environment,
    ...demoSecrets(join(dataDir, 'secrets.json')),
    MALIPO_ENVIRONMENT: 'test',
    MALIPO_CLOCKS: settings.MALIPO_CLOCKS,
    MALIPO_DATABASE_URL: engines.databaseUrl,
    MALIPO_TEMPORAL_ADDRESS: engines.temporalAddress,
    MALIPO_TEMPORAL_NAMESPACE: NAMESPACE,
    MALIPO_HTTP_PORT: String(ports.http),
    MALIPO_METRICS_PORT: String(ports.metrics),
    MALIPO_PUBLIC_URL: `http://${HOST}:${ports.http}`,
    MALIPO_MTN_MOMO_BASE_URL: `http://${HOST}:${ports.sandbox}`,
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
    MALIPO_RATE_LIMIT_PER_SECOND: environment['MALIPO_RATE_LIMIT_PER_SECOND'] ?? '1000',
  };
}

async function prepare(
  { dataDir }: EngineOptions,
  serverSettings: Readonly<Record<string, string | undefined>>,
  ports: Ports,
): Promise<DemoMerchant> {
  const { settings, temporalNamespace } = loadConfig(serverSettings);
  const url = settings.MALIPO_DATABASE_URL.reveal();
  const applied = await prepareDatabase(url);
  report(applied.length === 0 ? 'the database is up to date' : `the database is migrated (${applied.length} files)`);
  await prepareTemporal({ address: settings.MALIPO_TEMPORAL_ADDRESS, namespace: temporalNamespace });
  const db = openDatabase({
    url,
    poolSize: 2,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  try {
    return await seedDemoMerchant({
      db,
      file: join(dataDir, 'demo-merchant.json'),
      webhookUrl: `http://${HOST}:${ports.receiver}/webhooks`,
      keyRing: settings.MALIPO_SECRET_KEYS,
    });
  } finally {
    await db.close();
  }
}

function childPlans(
  { dataDir, settings }: EngineOptions,
  run: { serverSettings: Readonly<Record<string, string | undefined>>; ports: Ports; demo: DemoMerchant },
): ChildPlan[] {
  const { ports, demo, serverSettings } = run;
  // In the demonstration a prompt runs out, and a late payment comes, within seconds.
  const sandboxTimes =
    settings.MALIPO_CLOCKS === 'demo'
      ? { MALIPO_SANDBOX_PROMPT_EXPIRY_MS: '5000', MALIPO_SANDBOX_UNDECIDED_MS: '12000' }
      : {};
  return [
    {
      name: 'the webhook receiver',
      entry: receiverEntry(),
      env: { MALIPO_WEBHOOK_SECRET: demo.webhookSecret, PORT: String(ports.receiver) },
      ready: { url: `http://${HOST}:${ports.receiver}/` },
    },
    {
      name: 'the sandbox operator',
      entry: processEntry('sandbox'),
      env: {
        ...sandboxTimes,
        ...serverSettings,
        MALIPO_SANDBOX_PORT: String(ports.sandbox),
        MALIPO_SANDBOX_DATA_FILE: join(dataDir, 'sandbox.jsonl'),
      },
      ready: 'message',
    },
    {
      name: 'the server',
      entry: processEntry('server'),
      env: serverSettings,
      ready: { url: `http://${HOST}:${ports.http}/readyz` },
    },
  ];
}

async function showThatItWorks(
  { dataDir }: EngineOptions,
  run: { engines: Engines; ports: Ports; demo: DemoMerchant },
): Promise<void> {
  const { engines, ports, demo } = run;
  const baseUrl = `http://${HOST}:${ports.http}`;
  const inboxUrl = `http://${HOST}:${ports.receiver}/`;
  const file = join(dataDir, 'demo.env');
  const lines = {
    MALIPO_BASE_URL: baseUrl,
    MALIPO_API_KEY: demo.apiKey,
    MALIPO_SANDBOX_URL: `http://${HOST}:${ports.sandbox}`,
    MALIPO_TEMPORAL_ADDRESS: engines.temporalAddress,
    MALIPO_TEMPORAL_UI_URL: engines.temporalUiUrl ?? '',
    MALIPO_DATABASE_URL: engines.databaseUrl,
    MALIPO_WEBHOOK_SECRET: demo.webhookSecret,
    MALIPO_WEBHOOK_INBOX_URL: inboxUrl,
    ...peopleSettings(demo.people),
  };
  writePrivateFile(file, shellLines(lines));
  await runDemoCollection({ baseUrl, apiKey: demo.apiKey, inboxUrl, report, timeoutMs: DEMO_LIMIT_MS });
  process.stdout.write(`
  Malipo runs.

  API           ${baseUrl}           reference: ${baseUrl}/docs
  Temporal UI   ${engines.temporalUiUrl ?? 'that of your own cluster'}   (namespace ${NAMESPACE})
  Sandbox       ${lines.MALIPO_SANDBOX_URL}/sandbox   (the last three digits of a phone decide how it ends)
  Handset       ${lines.MALIPO_SANDBOX_URL}/sandbox/handset   (approve a prompt by hand; a phone that ends in 099 waits for it)
  Webhooks      ${inboxUrl}          what the demo receiver got, as JSON
  Test key      ${demo.apiKey}
  All of it     ${file}   (source it in a shell)

  The next collection:

    curl -sS ${baseUrl}/v1/api/collections \\
      -H 'Authorization: Bearer ${demo.apiKey}' \\
      -H "Idempotency-Key: $(date +%s)-$RANDOM" \\
      -d phone=${DEMO_PHONE} -d amount=5000 -d reference=INV-1

  Log in as the maker, or as the approver, whose second factor is in ${file} too:

    . ${file}
    curl -sS -c maker.jar ${baseUrl}/v1/console/session -H 'Origin: ${baseUrl}' -H 'Malipo-Console: 1' \\
      --data-urlencode "email=$MALIPO_MAKER_EMAIL" --data-urlencode "password=$MALIPO_MAKER_PASSWORD" \\
      -d "totp=$(node docs/examples/totp.mjs "$MALIPO_MAKER_TOTP_SECRET")"
    curl -sS -b maker.jar ${baseUrl}/v1/console/session

  The command line of who receives webhooks, here as that maker, with the approver where two are needed:

    set -a; . ${file}; set +a
    npm run -s malipo -- trigger payout.succeeded

  Ctrl-C stops all of it; the next start finds its data.

`);
}

// Plain where a shell reads it as it stands, quoted where it would not.
function shellLines(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${/^[\w:/.,@%+-]*$/.test(value) ? value : `'${value}'`}\n`)
    .join('');
}

async function stopAll({ engines, children }: Started): Promise<void> {
  report('stopping');
  for (const child of [...children].reverse()) await child.stop();
  await engines.stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\nMalipo cannot run: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
