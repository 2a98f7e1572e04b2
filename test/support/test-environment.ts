// A complete service for one test file: its own database and task queues, a sandbox operator, a merchant and a receiver.
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ledgerCheckScheduleId,
  reconciliationScheduleId,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';
import { loadConfig, type Config } from '../../src/settings/config.ts';
import type { Database } from '../../src/db/platform/database.ts';
import { freePort } from '../../src/engines/process/ports.ts';
import { SCOPES, type Scope } from '../../src/domain/accounts/api-key.ts';
import type { MerchantId, UserId } from '../../src/domain/ids.ts';
import type { Currency } from '../../src/domain/money.ts';
import { createApiKey } from '../../src/operations/accounts/create-api-key.ts';
import { createMerchant } from '../../src/operations/accounts/create-merchant.ts';
import { enrolMember } from '../../src/operations/accounts/enrol-member.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import type { DemoAccount } from '../../src/dev/demo-accounts.ts';
import { startServer, type RunningServer, type ServerOptions } from '../../src/server/assemble-server.ts';
import type { SandboxTimes } from '../../src/sandbox/sandbox-config.ts';
import { securityHeaders } from '../../src/api/security-headers.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/start-sandbox.ts';
import {
  createTestDatabase,
  NAMESPACE,
  prepareRuntime,
  runFolder,
  temporal,
  temporalClient,
  testLog,
  workflowBundle,
  type TestDatabase,
} from './engines.ts';
import { passwordHash } from './people.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { ATTESTATION_KEYS } from './attestation.ts';
import { createDarajaAccount } from './daraja-account.ts';
import { addAccounts, rotateAccount } from './operator-accounts.ts';

export type TestMerchant = {
  readonly id: MerchantId;
  /** Holds every scope. */
  readonly key: string;
  /** A maker, who created the key. */
  readonly makerId: UserId;
  readonly webhookSecret: string;
};

export type TestEnvironment = {
  readonly config: Config;
  /** The settings that a server process of this environment is started with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  readonly db: Database;
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  readonly merchant: TestMerchant;
  addMerchant(currency?: Currency): Promise<TestMerchant>;
  addKey(merchantId: MerchantId, scopes: readonly Scope[], expiresAt?: Date): Promise<string>;
  /** The account with MTN is at this address from then on; a server that runs reads it within seconds. */
  moveMtnMomo(url: string): Promise<void>;
  /** Starts a server in this process; `stop` stops it too. */
  startServer(overrides?: Readonly<Record<string, string>>, options?: Partial<ServerOptions>): Promise<RunningServer>;
  stop(): Promise<void>;
};

export type TestEnvironmentOptions = {
  /** Settings in addition to the tests' own. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly sandboxTimes?: Partial<SandboxTimes>;
  /** Whether there is an account with M-Pesa, too. */
  readonly hasDaraja?: boolean;
  /** Where the account with MTN is, if not at the sandbox operator. */
  readonly mtnMomoUrl?: string;
  /** The country of the account with MTN; without it all of its markets. */
  readonly mtnMomoCountry?: string;
  /** False: there is no account with an operator, and no staff. */
  readonly hasAccounts?: boolean;
  /** False: there is no account with Airtel. */
  readonly hasAirtel?: boolean;
  /** False: no server is started; the test starts it. */
  readonly startsServer?: boolean;
  /** Replaces the database that is copied from the template on the run's own PostgreSQL. */
  readonly database?: TestDatabase;
};

/** Short times that end every path within seconds, but change no outcome when the machine is slow. */
export const FAST_CLOCKS: Readonly<Record<string, string>> = {
  MALIPO_CLOCKS: 'demo',
  MALIPO_PROMPT_DEADLINE_MS: '60000',
  MALIPO_PROMPT_WINDOW_MS: '15000',
  MALIPO_PROMPT_RETRY_MS: '50',
  MALIPO_PROMPT_RETRY_MAX_MS: '200',
  MALIPO_POLL_SCHEDULE_MS: '300',
  MALIPO_RECONCILE_SCHEDULE_MS: '300',
  MALIPO_RECONCILE_FOR_MS: '4000',
  MALIPO_PAYOUT_SEND_DEADLINE_MS: '20000',
  MALIPO_NOT_FOUND_GRACE_MS: '3500',
  MALIPO_NOT_FOUND_GAP_MS: '100',
  MALIPO_NOT_FOUND_SPAN_MS: '300',
  MALIPO_MINIMUM_QUERY_GAP_MS: '50',
  MALIPO_OPERATOR_TIMEOUT_MS: '3000',
  MALIPO_BREAKER_PAUSES_MS: '100,200',
  MALIPO_FLOAT_PAUSES_MS: '300',
  MALIPO_WORKFLOW_TASK_TIMEOUT_MS: '1000',
  MALIPO_START_GRACE_MS: '300',
  MALIPO_DELIVERY_SCHEDULE_MS: '0,50,100,100,100,100,100,100,100,100',
  MALIPO_DELIVERY_CONNECT_TIMEOUT_MS: '3000',
  MALIPO_DELIVERY_TIMEOUT_MS: '5000',
};

/** Where every receiver answers: no attempt fails and is made again because the machine is busy. */
export const PATIENT_ATTEMPTS = {
  MALIPO_DELIVERY_CONNECT_TIMEOUT_MS: '60000',
  MALIPO_DELIVERY_TIMEOUT_MS: '60000',
};

/** The operator's callbacks arrive nowhere, so that only status queries find an outcome. */
export const LOST_CALLBACKS = { MALIPO_CALLBACK_URL: 'http://127.0.0.1:1' };

/** Reconciliation and the ledger check run only when the test starts them. */
export const ON_DEMAND = { MALIPO_SWEEP_EVERY_MS: '3600000', MALIPO_LEDGER_CHECK_EVERY_MS: '86400000' };

const FAST_SANDBOX: Partial<SandboxTimes> = {
  decisionMs: 150,
  promptExpiryMs: 400,
  undecidedMs: 2500,
  reversalMs: 1000,
  darajaResultMs: 50,
};

/** The credentials of the accounts of every test environment. */
export const COLLECTION_CREDENTIALS = {
  subscriptionKey: 'subscription',
  apiUser: randomUUID(),
  apiKey: 'operator-key',
};
export const DISBURSEMENT_CREDENTIALS = { subscriptionKey: 'outgoing', apiUser: randomUUID(), apiKey: 'outgoing-key' };
const AIRTEL = { clientId: randomUUID(), clientSecret: 'airtel-secret', pin: '4711' };

export async function startTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const sdkMetrics = await prepareRuntime();
  const database = options.database ?? (await createTestDatabase());
  const port = await freePort();
  const daraja = options.hasDaraja === true ? createDarajaAccount() : null;
  const sandbox = await startSandbox({
    port: 0,
    airtel: { ...AIRTEL, callbackUrl: `http://127.0.0.1:${port}/operators/airtel-money/callbacks` },
    ...(daraja && { daraja: daraja.ofSandbox }),
    targetEnvironment: 'sandbox',
    collection: COLLECTION_CREDENTIALS,
    disbursement: DISBURSEMENT_CREDENTIALS,
    times: { ...FAST_SANDBOX, ...options.sandboxTimes },
    responseHeaders: securityHeaders('http://127.0.0.1'),
  });
  const receiver = await startReceiver();
  const environment = await settingsFor(database.url, port, options);
  const config = loadConfig(environment);
  if (options.hasAccounts !== false)
    await addAccounts(database.db, config.settings, accountsOf(options, sandbox.url, daraja));
  const running: RunningServer[] = [];
  const makers = new Map<MerchantId, UserId>();

  const addMerchant = async (currency: Currency = 'UGX'): Promise<TestMerchant> => {
    const at = new Date();
    const id = await createMerchant(database.db, { name: 'Test merchant', currency, at });
    const makerId = await enrolMember(database.db, {
      merchantId: id,
      email: `maker@${id.slice(4)}.example`,
      name: 'Test maker',
      passwordHash: await passwordHash(),
      roles: ['maker'],
      totpSecret: null,
      keyRing: config.settings.MALIPO_SECRET_KEYS,
      at,
    });
    makers.set(id, makerId);
    const key = await testEnv.addKey(id, SCOPES);
    const { secret } = await registerEndpoint(database.db, {
      merchantId: id,
      url: receiver.urlFor(id),
      description: null,
      eventTypes: null,
      keyRing: config.settings.MALIPO_SECRET_KEYS,
      at,
    });
    receiver.trust(id, secret);
    return { id, key, makerId, webhookSecret: secret };
  };

  const testEnv: Omit<TestEnvironment, 'merchant'> = {
    config,
    environment,
    baseUrl: `http://127.0.0.1:${config.settings.MALIPO_HTTP_PORT}`,
    db: database.db,
    sandbox,
    receiver,
    addMerchant,
    async addKey(merchantId, scopes, expiresAt) {
      const at = new Date();
      const input = {
        merchantId,
        name: 'test',
        environment: 'test',
        scopes,
        expiresAt: expiresAt ?? null,
        createdBy: makers.get(merchantId) ?? null,
        by: null,
        at,
      } as const;
      return (await createApiKey(database.db, input)).key;
    },
    async moveMtnMomo(url) {
      await rotateAccount(database.db, config.settings, mtnMomoAt(url, options.mtnMomoCountry ?? null));
    },
    async startServer(overrides = {}, serverOptions = {}) {
      const server = await startServer(loadConfig({ ...environment, ...overrides }), {
        workflowBundle: await workflowBundle(),
        log: testLog,
        sdkMetrics,
        ...serverOptions,
      });
      running.push(server);
      return server;
    },
    async stop() {
      await Promise.all(running.map((server) => server.stop()));
      await removeSchedules(config);
      await Promise.all([sandbox.stop(), receiver.stop()]);
      await database.drop();
    },
  };
  const merchant = await addMerchant();
  if (options.startsServer !== false) {
    await testEnv.startServer().catch(async (error: unknown) => {
      // What still listens would keep the whole run from ending.
      await testEnv.stop();
      throw error;
    });
  }
  return { ...testEnv, merchant };
}

function mtnMomoAt(baseUrl: string, country: string | null): DemoAccount {
  const { subscriptionKey, apiUser, apiKey } = COLLECTION_CREDENTIALS;
  return {
    terms: { operator: 'mtn-momo', country, baseUrl, callsPerSecond: 100 },
    credentials: {
      collectionSubscriptionKey: subscriptionKey,
      collectionApiUser: apiUser,
      collectionApiKey: apiKey,
      disbursementSubscriptionKey: DISBURSEMENT_CREDENTIALS.subscriptionKey,
      disbursementApiUser: DISBURSEMENT_CREDENTIALS.apiUser,
      disbursementApiKey: DISBURSEMENT_CREDENTIALS.apiKey,
    },
  };
}

function accountsOf(
  { mtnMomoUrl, mtnMomoCountry, hasAirtel }: TestEnvironmentOptions,
  sandboxUrl: string,
  daraja: ReturnType<typeof createDarajaAccount> | null,
): DemoAccount[] {
  const mtnMomo = mtnMomoAt(mtnMomoUrl ?? sandboxUrl, mtnMomoCountry ?? null);
  const others = [hasAirtel === false ? null : airtelAt(sandboxUrl), daraja?.accountAt(sandboxUrl) ?? null];
  return [mtnMomo, ...others.filter((account) => account !== null)];
}

function airtelAt(baseUrl: string): DemoAccount {
  return { terms: { operator: 'airtel-money', country: 'UG', baseUrl, callsPerSecond: 100 }, credentials: AIRTEL };
}

async function settingsFor(databaseUrl: string, port: number, options: TestEnvironmentOptions) {
  return {
    ...FAST_CLOCKS,
    MALIPO_DATABASE_URL: databaseUrl,
    MALIPO_TEMPORAL_ADDRESS: (await temporal()).address,
    MALIPO_TEMPORAL_NAMESPACE: NAMESPACE,
    MALIPO_TASK_QUEUE_PREFIX: `t-${randomBytes(5).toString('hex')}`,
    MALIPO_HTTP_PORT: String(port),
    MALIPO_METRICS_PORT: '0',
    MALIPO_PROCESS_PER_ROLE: 'false',
    MALIPO_PUBLIC_URL: `http://127.0.0.1:${port}`,
    MALIPO_RATE_LIMIT_PER_SECOND: '0',
    MALIPO_REFUSED_KEYS_PER_ADDRESS: '0',
    MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS: '0',
    MALIPO_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
    MALIPO_ATTESTATION_KEYS: ATTESTATION_KEYS,
    MALIPO_WEBHOOK_ALLOW_LOOPBACK: 'true',
    MALIPO_FENCE_MARKER_FILE: join(runFolder(), `fence-${randomBytes(5).toString('hex')}.json`),
    // All environments of a run share the namespace.
    MALIPO_FENCE_IN_TEMPORAL: 'false',
    MALIPO_LOG_LEVEL: process.env['MALIPO_TEST_LOG'] ?? 'silent',
    // No statement of a test ends because the machine is busy.
    MALIPO_DATABASE_TIMEOUT_MS: '60000',
    MALIPO_OPERATOR_KEYS: `test:${randomBytes(32).toString('base64')}`,
    ...options.environment,
  };
}

async function removeSchedules({ settings }: Config): Promise<void> {
  const client = await temporalClient();
  for (const idFor of [reconciliationScheduleId, ledgerCheckScheduleId, wholeLedgerCheckScheduleId]) {
    const handle = client.schedule.getHandle(idFor(settings.MALIPO_TASK_QUEUE_PREFIX));
    // An environment whose worker never connected has no schedules.
    await handle.delete().catch(() => undefined);
  }
}

/** How long a test waits for what must come: it decides nothing, it only ends a test that would wait for ever. */
export const PATIENCE_MS = 120_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 100;

type Found<Value> = Value | null | undefined | false;

/** Polls until `look` gives a value; fails with what was waited for. */
export async function eventually<Value>(
  what: string,
  look: () => Found<Value> | Promise<Found<Value>>,
  timeoutMs = PATIENCE_MS,
): Promise<Value> {
  const giveUpAtMs = Date.now() + timeoutMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value;
    if (Date.now() > giveUpAtMs) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(pauseMs);
    // Each look costs CPU, which what is waited for needs. Never so long that a state of the sandbox's shortest time is missed.
    pauseMs = Math.min(pauseMs * 1.1, LONGEST_PAUSE_MS);
  }
}
