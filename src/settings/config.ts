// All configuration, read once at start: checked as a whole, frozen, and safe to print.
import { z } from 'zod';
import { loadClocks } from './clocks.ts';
import type { Clocks } from '../domain/clocks.ts';
import { MTN_TARGET_ENVIRONMENTS } from '../domain/payments/operator-catalogue.ts';
import { DARAJA_SANDBOX_SETTINGS } from './daraja.ts';
import {
  AIRTEL_SANDBOX_SETTINGS,
  findMissingCredentials,
  MTN_CREDENTIALS,
  OPERATOR_SETTINGS,
  operatorAccountsIn,
  WITHOUT_OPERATOR_SETTING,
  type OperatorAccounts,
} from './operators.ts';
import { fileSetting, readSecretFiles } from './secret-files.ts';
import {
  count,
  databaseUrl,
  file,
  flag,
  keyRing,
  milliseconds,
  operatorAmounts,
  operatorPrefixes,
  port,
  rsaPrivateKey,
  secret,
  walletPin,
  webAddress,
} from './values.ts';
import { traceExportOf, traceSettings, type TraceExport } from './traces.ts';
import { findContradictions, findOpenDatabase } from './unsafe.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Its message lists every problem of the configuration, one line each. */
export class ConfigError extends Error {}

export const ROLES = ['api', 'worker', 'dispatcher'] as const;
export type Role = (typeof ROLES)[number];

const roles = z
  .string()
  .transform((text) => text.split(',').map((role) => role.trim()))
  .pipe(z.array(z.enum(ROLES)).min(1));

const SETTINGS = z.object({
  MALIPO_ENVIRONMENT: z.enum(['test', 'live']).default('test'),
  MALIPO_ROLES: roles.default([...ROLES]),
  // Each role in a process of its own: auto, with four cores or more.
  MALIPO_PROCESS_PER_ROLE: z.enum(['auto', 'true', 'false']).default('auto'),
  MALIPO_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  MALIPO_HTTP_HOST: z.string().default('127.0.0.1'),
  MALIPO_HTTP_PORT: port.default(8080),
  MALIPO_HTTP_MAX_CONNECTIONS: count.default(5000),
  // Where no proxy is trusted: all connections come from trusted ones otherwise.
  MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: count.default(250),
  // Everybody who reaches it may read the metrics.
  MALIPO_METRICS_HOST: z.string().default('127.0.0.1'),
  MALIPO_METRICS_PORT: port.default(9464),
  // The origin that browsers show: a log-in from a page of another origin is refused.
  MALIPO_PUBLIC_URL: webAddress.default('http://localhost:8080'),
  // The address for the callbacks of operators, if it is not the public one.
  MALIPO_CALLBACK_URL: webAddress.optional(),
  MALIPO_TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  MALIPO_RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(100),
  // In a quarter of an hour, over all processes; 0: any number.
  MALIPO_REFUSED_KEYS_PER_ADDRESS: z.coerce.number().int().min(0).max(1_000_000).default(100),
  // Attempts to pay at checkouts in a quarter of an hour, over all processes; 0: any number. A mobile network may have one address.
  MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS: z.coerce.number().int().min(0).max(1_000_000).default(60),
  MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(2000),
  // Of the account with the application's rights alone. No server ever needs that of the owner.
  MALIPO_DATABASE_URL: databaseUrl,
  MALIPO_DATABASE_POOL_SIZE: count.default(16),
  MALIPO_DATABASE_TIMEOUT_MS: milliseconds.default(10_000),
  MALIPO_TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/]+:[0-9]+$/, 'must be host:port')
    .default('127.0.0.1:7233'),
  MALIPO_TEMPORAL_TLS: flag.default(false),
  // Without it, the certificates of well-known authorities are trusted.
  MALIPO_TEMPORAL_TLS_CA_FILE: file.optional(),
  MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE: file.optional(),
  MALIPO_TEMPORAL_TLS_KEY_FILE: file.optional(),
  // The name in the server's certificate, if it is not that of the address.
  MALIPO_TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
  MALIPO_TEMPORAL_API_KEY: secret.optional(),
  MALIPO_TEMPORAL_NAMESPACE: z.string().min(1).max(200).optional(),
  // Developers follow a payment there. Only in the test environment: it shows the work of every merchant.
  MALIPO_TEMPORAL_UI_URL: webAddress.optional(),
  MALIPO_TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default('malipo'),
  MALIPO_MAX_CACHED_WORKFLOWS: count.default(600),
  MALIPO_BACKLOG_MAX_COUNT: count.default(10_000),
  MALIPO_BACKLOG_MAX_PER_MERCHANT: count.default(2500),
  MALIPO_BACKLOG_MAX_AGE_MS: milliseconds.default(240_000),
  MALIPO_STARTS_UNDER_WAY: count.default(200),
  MALIPO_DELIVERIES_UNDER_WAY: count.default(500),
  // The limit of each endpoint adapts to what the endpoint can take, up to this.
  MALIPO_DELIVERIES_PER_ENDPOINT_MAX: count.default(128),
  MALIPO_DELIVERIES_PER_MERCHANT: count.default(128),
  MALIPO_SECRET_KEYS: keyRing,
  // What operators said and people approved. It is kept from everything that only reads sealed secrets.
  MALIPO_ATTESTATION_KEYS: keyRing,
  MALIPO_WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
  MALIPO_MTN_MOMO_BASE_URL: webAddress,
  // Each of MTN's is one country's: what it does not serve is refused when it is requested.
  MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: z.enum(MTN_TARGET_ENVIRONMENTS),
  // Changes of the national prefixes that lead a number to its operator: `mtn-momo/UG+=71 75` adds some, `mtn-momo/ZM=56 76 96` names all.
  MALIPO_OPERATOR_PREFIXES: operatorPrefixes.optional(),
  MALIPO_OPERATOR_AMOUNTS: operatorAmounts.optional(),
  ...OPERATOR_SETTINGS,
  MALIPO_CLOCKS: z.enum(['real', 'demo']).default('real'),
  ...traceSettings,
});

export type Config = OperatorAccounts &
  Readonly<{
    settings: Readonly<z.infer<typeof SETTINGS>>;
    temporalNamespace: string;
    traceExport: TraceExport | null;
    clocks: Clocks;
  }>;

const SANDBOX_SETTINGS = z.object({
  MALIPO_SANDBOX_HOST: z.string().default('127.0.0.1'),
  MALIPO_SANDBOX_PORT: port.default(8090),
  MALIPO_SANDBOX_DATA_FILE: z.string().optional(),
  MALIPO_SANDBOX_DECISION_MS: milliseconds.default(1500),
  MALIPO_SANDBOX_PROMPT_EXPIRY_MS: milliseconds.default(30_000),
  MALIPO_SANDBOX_UNDECIDED_MS: milliseconds.default(360_000),
  MALIPO_SANDBOX_REVERSAL_MS: milliseconds.default(3000),
  MALIPO_SANDBOX_STARTING_FLOAT: z.coerce.number().int().min(0).max(1_000_000_000_000).default(1_000_000_000),
  MALIPO_SANDBOX_TRANSACTIONS: count.default(50_000),
  MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: z.string().min(1),
  ...MTN_CREDENTIALS,
  ...AIRTEL_SANDBOX_SETTINGS,
  ...DARAJA_SANDBOX_SETTINGS,
});

export type SandboxProcessSettings = Readonly<z.infer<typeof SANDBOX_SETTINGS>>;

/** The sandbox process's settings. It shares the operator's credentials with the server: it is the other side. */
export function loadSandboxSettings(environment: Environment): SandboxProcessSettings {
  return read(SANDBOX_SETTINGS, environment);
}

const MIGRATE_SETTINGS = z.object({ MALIPO_DATABASE_OWNER_URL: databaseUrl });

/** What the migration needs beside the server's configuration: the account that owns the database. */
export function loadMigrateSettings(environment: Environment): Readonly<z.infer<typeof MIGRATE_SETTINGS>> {
  return readVerified(MIGRATE_SETTINGS, environment, 'MALIPO_DATABASE_OWNER_URL');
}

const ACCOUNTS_SETTINGS = z.object({
  MALIPO_DATABASE_ADMIN_URL: databaseUrl,
  MALIPO_DATABASE_OWNER_URL: databaseUrl,
  MALIPO_DATABASE_URL: databaseUrl,
  MALIPO_DATABASE_REPORT_URL: databaseUrl.optional(),
  MALIPO_TEMPORAL_DATABASE_URL: databaseUrl.optional(),
});

/** The addresses by which the accounts of the database are created: each names its account, its password and its database. */
export function loadAccountsSettings(environment: Environment): Readonly<z.infer<typeof ACCOUNTS_SETTINGS>> {
  return readVerified(ACCOUNTS_SETTINGS, environment, 'MALIPO_DATABASE_ADMIN_URL');
}

const STAFF_SETTINGS = SETTINGS.pick({
  MALIPO_ENVIRONMENT: true,
  MALIPO_PUBLIC_URL: true,
  MALIPO_DATABASE_URL: true,
  MALIPO_DATABASE_TIMEOUT_MS: true,
});
const ATTESTING_STAFF_SETTINGS = STAFF_SETTINGS.extend(SETTINGS.pick({ MALIPO_ATTESTATION_KEYS: true }).shape);
// The secret of a person's one-time codes is sealed.
const ACTING_STAFF_SETTINGS = ATTESTING_STAFF_SETTINGS.extend(SETTINGS.pick({ MALIPO_SECRET_KEYS: true }).shape);
const REACH_SETTINGS = SETTINGS.pick({
  MALIPO_MTN_MOMO_TARGET_ENVIRONMENT: true,
  MALIPO_AIRTEL_MONEY_COUNTRY: true,
  MALIPO_DARAJA_BASE_URL: true,
});
const STAFF_SETTINGS_FOR = {
  database: STAFF_SETTINGS,
  'database and keys': ATTESTING_STAFF_SETTINGS,
  'database, keys and operators if set': ATTESTING_STAFF_SETTINGS.extend(REACH_SETTINGS.partial().shape),
  'database and all keys': ACTING_STAFF_SETTINGS,
  'database, all keys and operators': ACTING_STAFF_SETTINGS.extend(REACH_SETTINGS.shape),
};
export type StaffNeeds = keyof typeof STAFF_SETTINGS_FOR;

export type StaffSettings<Needs extends StaffNeeds = 'database'> = Readonly<
  z.infer<(typeof STAFF_SETTINGS_FOR)[Needs]>
>;

/**
 * What a command of the staff needs of the server's settings, and no more: one that reads people the keys that attest, and one for
 * which a person logs in those that seal, too.
 */
export function loadStaffSettings<Needs extends StaffNeeds>(
  environment: Environment,
  needs: Needs,
): StaffSettings<Needs> {
  return readVerified(STAFF_SETTINGS_FOR[needs], environment, 'MALIPO_DATABASE_URL');
}

/** The names of the settings without which such a command can do nothing. */
export function requiredStaffSettings(needs: StaffNeeds): string[] {
  const shape: Readonly<Record<string, z.ZodType>> = STAFF_SETTINGS_FOR[needs].shape;
  return Object.entries(shape).flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]));
}

/** Each setting of the server by itself, with its default; one that cannot be used is left out. For a look at what is there. */
export function loadUsableSettings(environment: Environment): Readonly<Partial<z.infer<typeof SETTINGS>>> {
  const { environment: present } = resolve(SETTINGS, environment);
  const entries = Object.entries(SETTINGS.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(present[name]);
    return parsed.success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(entries);
}

const START_SETTINGS = z.object({
  MALIPO_DATA_DIR: z.string().min(1).default('var'),
  MALIPO_HTTP_PORT: port.default(8080),
  MALIPO_METRICS_PORT: port.default(9464),
  MALIPO_SANDBOX_PORT: port.default(8090),
  MALIPO_RECEIVER_PORT: port.default(8091),
  MALIPO_POSTGRES_PORT: port.default(5499),
  MALIPO_TEMPORAL_PORT: port.default(7233),
  MALIPO_TEMPORAL_UI_PORT: port.default(8233),
  /** A running cluster; without it one is started. */
  MALIPO_TEMPORAL_ADDRESS: z.string().optional(),
  MALIPO_CLOCKS: z.enum(['real', 'demo']).default('demo'),
});

export type StartSettings = Readonly<z.infer<typeof START_SETTINGS>>;

/** The embedded start's settings, and which of them were set explicitly. */
export function loadStartSettings(environment: Environment): {
  settings: StartSettings;
  isExplicit: (name: keyof StartSettings) => boolean;
} {
  const present = withoutEmpty(environment);
  const parsed = START_SETTINGS.safeParse(present);
  if (!parsed.success) throw unusable(describeIssues(parsed.error, present));
  return { settings: Object.freeze(parsed.data), isExplicit: (name) => present[name] !== undefined };
}

/** The configuration in `environment`. Throws one ConfigError that lists every problem and shows no secret's value. */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const { environment: present, problems: ofFiles } = resolve(SETTINGS, environment);
  const parsed = SETTINGS.safeParse(present);
  const problems = parsed.success ? [] : describeIssues(parsed.error, present);
  problems.push(...findMissingCredentials(present, isWorker(present)), ...findRenamed(present));
  const clocks = loadClocks(present, problems);
  problems.push(...findContradictions(present));
  if (!parsed.success || problems.length > 0 || ofFiles.size > 0) throw unusable(withFiles(problems, ofFiles));
  const settings = Object.freeze(parsed.data);
  return Object.freeze({
    settings,
    ...operatorAccountsIn(settings),
    temporalNamespace: settings.MALIPO_TEMPORAL_NAMESPACE ?? `malipo-${settings.MALIPO_ENVIRONMENT}`,
    traceExport: traceExportOf(settings),
    clocks: Object.freeze(clocks),
  });
}

/** The configuration of a command, which needs no operator credentials. Throws as `loadConfig` does. */
export function loadCommandConfig(environment: Environment): Config {
  return loadConfig({ ...environment, MALIPO_ROLES: 'dispatcher' });
}

const RENAMED: Readonly<Record<string, string>> = {
  MALIPO_DELIVERIES_PER_ENDPOINT: 'MALIPO_DELIVERIES_PER_ENDPOINT_MAX',
};

// Whoever set it meant something, which the default would not be.
function findRenamed(present: Environment): string[] {
  const found = Object.entries(RENAMED).filter(([name]) => present[name] !== undefined);
  return found.map(([name, now]) => `${name}: this setting is now named ${now}`);
}

function isWorker(present: Environment): boolean {
  const chosen = roles.safeParse(present['MALIPO_ROLES'] ?? ROLES.join());
  return chosen.success && chosen.data.includes('worker');
}

/** What applies when a setting without a default is not set. */
const WITHOUT_DEFAULT: Readonly<Record<string, string>> = {
  ...WITHOUT_OPERATOR_SETTING,
  MALIPO_TEMPORAL_NAMESPACE: 'from the environment’s name',
  MALIPO_OPERATOR_PREFIXES: 'those of the catalogue',
  MALIPO_OPERATOR_AMOUNTS: 'those of the catalogue',
  MALIPO_SANDBOX_DATA_FILE: 'kept in memory only',
  MALIPO_SANDBOX_DARAJA_PRIVATE_KEY: 'another one after each start',
};

const SHAPES = {
  server: SETTINGS.shape,
  sandbox: SANDBOX_SETTINGS.shape,
  migrate: MIGRATE_SETTINGS.shape,
  accounts: ACCOUNTS_SETTINGS.shape,
};

/** The settings of all processes that may come from a file, by the names of the settings that name the files. */
export function secretFileSettings(): string[] {
  const names = Object.values(SHAPES).flatMap(secretNames);
  return [...new Set(names)].map(fileSetting);
}

/** A process's settings with what applies when they are not set, for the page that lists them. */
export function describeSettings(process: keyof typeof SHAPES): { name: string; fallback: string }[] {
  const shape: Readonly<Record<string, z.ZodType>> = SHAPES[process];
  return Object.entries(shape).map(([name, schema]) => {
    const parsed = schema.safeParse(undefined);
    if (!parsed.success) return { name, fallback: 'required' };
    const { data } = parsed;
    if (data === undefined) return { name, fallback: WITHOUT_DEFAULT[name] ?? 'none' };
    if (typeof data === 'string') return { name, fallback: data };
    return { name, fallback: Array.isArray(data) ? data.join(',') : JSON.stringify(data) };
  });
}

// An empty variable counts as not set, as in compose files.
function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

const HIDDEN: ReadonlySet<unknown> = new Set([secret, walletPin, rsaPrivateKey, databaseUrl, keyRing]);

function secretNames(shape: z.ZodRawShape): string[] {
  return Object.entries(shape).flatMap(([name, schema]) =>
    HIDDEN.has(schema instanceof z.ZodOptional ? schema.unwrap() : schema) ? [name] : [],
  );
}

function resolve(schema: z.ZodObject, environment: Environment) {
  return readSecretFiles(withoutEmpty(environment), secretNames(schema.shape));
}

/** What is wrong with a file is said once, and not that its setting is missing besides. */
function withFiles(problems: readonly string[], ofFiles: ReadonlyMap<string, string>): string[] {
  return [...ofFiles.values(), ...problems.filter((line) => !ofFiles.has(line.split(':', 1)[0] ?? ''))];
}

function read<Schema extends z.ZodObject>(schema: Schema, environment: Environment): Readonly<z.output<Schema>> {
  const { environment: present, problems } = resolve(schema, environment);
  const parsed = schema.safeParse(present);
  if (parsed.success && problems.size === 0) return Object.freeze(parsed.data);
  throw unusable(withFiles(parsed.success ? [] : describeIssues(parsed.error, present), problems));
}

/** In the live environment, the address that the process connects to must be one whose other end is verified. */
function readVerified<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
  address: keyof Schema['shape'] & string,
): Readonly<z.output<Schema>> {
  const settings = read(schema, environment);
  const { environment: present } = resolve(schema, environment);
  const problems = present['MALIPO_ENVIRONMENT'] === 'live' ? findOpenDatabase(present, address) : [];
  if (problems.length > 0) throw unusable(problems);
  return settings;
}

function describeIssues(error: z.ZodError, present: Environment): string[] {
  return error.issues.map(({ path, message }) => {
    const name = path.join('.');
    return `${name}: ${present[name] === undefined ? 'is not set' : message}`;
  });
}

function unusable(problems: readonly string[]): ConfigError {
  return new ConfigError(`the configuration is invalid:\n${problems.map((line) => `  ${line}`).join('\n')}`);
}
