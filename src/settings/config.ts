// All configuration, read once at start: validated as a whole, frozen, and safe to print.
import { z } from 'zod';
import { loadClocks } from './clocks.ts';
import type { Clocks } from '../domain/clocks.ts';
import { SANDBOX_SETTINGS, WITHOUT_SANDBOX_SETTING, type SandboxProcessSettings } from './sandbox.ts';
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
  // Whether each role has a separate process: auto means with four cores or more.
  MALIPO_PROCESS_PER_ROLE: z.enum(['auto', 'true', 'false']).default('auto'),
  MALIPO_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  MALIPO_HTTP_HOST: z.string().default('127.0.0.1'),
  MALIPO_HTTP_PORT: port.default(8080),
  MALIPO_HTTP_MAX_CONNECTIONS: count.default(5000),
  // Ignored if a proxy is trusted: all connections come from proxies then.
  MALIPO_HTTP_MAX_CONNECTIONS_PER_ADDRESS: count.default(250),
  // Anybody who reaches it may read the metrics.
  MALIPO_METRICS_HOST: z.string().default('127.0.0.1'),
  MALIPO_METRICS_PORT: port.default(9464),
  // The origin that browsers show: a log-in from a page of another origin is refused.
  MALIPO_PUBLIC_URL: webAddress.default('http://localhost:8080'),
  // The address for operators' callbacks, if it is not the public one.
  MALIPO_CALLBACK_URL: webAddress.optional(),
  MALIPO_TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  MALIPO_RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(100),
  // In a quarter of an hour, over all processes; 0: no limit.
  MALIPO_REFUSED_KEYS_PER_ADDRESS: z.coerce.number().int().min(0).max(1_000_000).default(100),
  // Attempts at checkouts in a quarter of an hour, over all processes; 0: no limit. A network may have one address.
  MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS: z.coerce.number().int().min(0).max(1_000_000).default(60),
  MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(2000),
  // The account with only the application's rights. No server ever needs the owner's address.
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
  // Developers follow a payment there. Only in the test environment, because it shows the work of every merchant.
  MALIPO_TEMPORAL_UI_URL: webAddress.optional(),
  // Where markers of the fence are kept (decision 49): in this file of each machine, and in the Temporal namespace.
  MALIPO_FENCE_MARKER_FILE: z.string().min(1).optional(),
  MALIPO_FENCE_IN_TEMPORAL: flag.default(true),
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
  // The limit of each endpoint adapts to its capacity, up to this value.
  MALIPO_DELIVERIES_PER_ENDPOINT_MAX: count.default(128),
  MALIPO_DELIVERIES_PER_MERCHANT: count.default(128),
  MALIPO_SECRET_KEYS: keyRing,
  // Attest operator statuses and approvals. Kept from every process that only reads sealed secrets.
  MALIPO_ATTESTATION_KEYS: keyRing,
  MALIPO_WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
  // Open the credentials of operators. Required for workers, because only a worker calls an operator.
  MALIPO_OPERATOR_KEYS: keyRing.optional(),
  // To each operator, from each process with the role worker.
  MALIPO_OPERATOR_CONNECTIONS: count.default(16),
  // Changes of an operator's prefixes: `mtn-momo/UG+=71 75` adds some, `mtn-momo/ZM=56 76 96` replaces all.
  MALIPO_OPERATOR_PREFIXES: operatorPrefixes.optional(),
  MALIPO_OPERATOR_AMOUNTS: operatorAmounts.optional(),
  MALIPO_CLOCKS: z.enum(['real', 'demo']).default('real'),
  ...traceSettings,
});

export type Config = Readonly<{
  settings: Readonly<z.infer<typeof SETTINGS>>;
  temporalNamespace: string;
  traceExport: TraceExport | null;
  clocks: Clocks;
}>;

/** The settings of the sandbox process. It is the operators' side, so it has their credentials. */
export function loadSandboxSettings(environment: Environment): SandboxProcessSettings {
  return read(SANDBOX_SETTINGS, environment);
}

const MIGRATE_SETTINGS = z.object({ MALIPO_DATABASE_OWNER_URL: databaseUrl });

/** The settings of the migration besides the server's: the account that owns the database. */
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

/** The addresses by which the database accounts are created: each has account, password and database. */
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
const SEALING_STAFF_SETTINGS = ACTING_STAFF_SETTINGS.extend({
  MALIPO_OPERATOR_KEYS: keyRing,
  MALIPO_CALLBACK_URL: webAddress.optional(),
});
const STAFF_SETTINGS_FOR = {
  database: STAFF_SETTINGS,
  'database and keys': ATTESTING_STAFF_SETTINGS,
  'database and all keys': ACTING_STAFF_SETTINGS,
  'database, all keys and operator keys': SEALING_STAFF_SETTINGS,
};
export type StaffNeeds = keyof typeof STAFF_SETTINGS_FOR;

export type StaffSettings<Needs extends StaffNeeds = 'database'> = Readonly<
  z.infer<(typeof STAFF_SETTINGS_FOR)[Needs]>
>;

/**
 * The server settings that a staff command needs, and no others: the attestation keys if it reads people, and also the
 * sealing keys if a person logs in for it.
 */
export function loadStaffSettings<Needs extends StaffNeeds>(
  environment: Environment,
  needs: Needs,
): StaffSettings<Needs> {
  return readVerified(STAFF_SETTINGS_FOR[needs], environment, 'MALIPO_DATABASE_URL');
}

/** The names of the settings that such a command requires. */
export function requiredStaffSettings(needs: StaffNeeds): string[] {
  const shape: Readonly<Record<string, z.ZodType>> = STAFF_SETTINGS_FOR[needs].shape;
  return Object.entries(shape).flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]));
}

/** Each server setting by itself, with its default; unusable ones are left out. For inspection only. */
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
  MALIPO_KES_RECEIVER_PORT: port.default(8092),
  MALIPO_POSTGRES_PORT: port.default(5499),
  MALIPO_TEMPORAL_PORT: port.default(7233),
  MALIPO_TEMPORAL_UI_PORT: port.default(8233),
  /** The address of a running cluster; without it the start runs its own. */
  MALIPO_TEMPORAL_ADDRESS: z.string().optional(),
  MALIPO_CLOCKS: z.enum(['real', 'demo']).default('demo'),
});

export type StartSettings = Readonly<z.infer<typeof START_SETTINGS>>;

/** The settings of the embedded start, and which of them were set explicitly. */
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
  problems.push(...findMissingKeys(present), ...findRenamed(present));
  const clocks = loadClocks(present, problems);
  problems.push(...findContradictions(present));
  if (!parsed.success || problems.length > 0 || ofFiles.size > 0) throw unusable(withFiles(problems, ofFiles));
  const settings = Object.freeze(parsed.data);
  return Object.freeze({
    settings,
    temporalNamespace: settings.MALIPO_TEMPORAL_NAMESPACE ?? `malipo-${settings.MALIPO_ENVIRONMENT}`,
    traceExport: traceExportOf(settings),
    clocks: Object.freeze(clocks),
  });
}

/** Only processes with the role `worker` may have it: nobody can reach them. */
const WORKER_SETTING = 'MALIPO_OPERATOR_KEYS';

/** The environment without the setting that only a process with the role `worker` may have. */
export function withoutOperatorKeys(environment: Environment): Environment {
  const names = [WORKER_SETTING, fileSetting(WORKER_SETTING)];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

function findMissingKeys(present: Environment): string[] {
  const isMissing = isWorker(present) && present[WORKER_SETTING] === undefined;
  return isMissing ? [`${WORKER_SETTING}: ${NEEDED_BY_WORKERS}`] : [];
}

const NEEDED_BY_WORKERS = 'required with the role worker';

/** The configuration of a command, which calls no operator. Throws as `loadConfig` does. */
export function loadCommandConfig(environment: Environment): Config {
  return loadConfig({ ...environment, MALIPO_ROLES: 'dispatcher' });
}

const RENAMED: Readonly<Record<string, string>> = {
  MALIPO_DELIVERIES_PER_ENDPOINT: 'MALIPO_DELIVERIES_PER_ENDPOINT_MAX',
};

// A former name was set on purpose, and the default would not be that value.
function findRenamed(present: Environment): string[] {
  const found = Object.entries(RENAMED).filter(([name]) => present[name] !== undefined);
  return found.map(([name, now]) => `${name}: this setting is now named ${now}`);
}

function isWorker(present: Environment): boolean {
  const chosen = roles.safeParse(present['MALIPO_ROLES'] ?? ROLES.join());
  return chosen.success && chosen.data.includes('worker');
}

/** The meaning of an unset setting without a default. */
const WITHOUT_DEFAULT: Readonly<Record<string, string>> = {
  [WORKER_SETTING]: NEEDED_BY_WORKERS,
  MALIPO_TEMPORAL_NAMESPACE: 'from the environment’s name',
  MALIPO_OPERATOR_PREFIXES: 'those of the catalogue',
  MALIPO_OPERATOR_AMOUNTS: 'those of the catalogue',
  ...WITHOUT_SANDBOX_SETTING,
};

const SHAPES = {
  server: SETTINGS.shape,
  sandbox: SANDBOX_SETTINGS.shape,
  migrate: MIGRATE_SETTINGS.shape,
  accounts: ACCOUNTS_SETTINGS.shape,
};

/** All settings whose value may come from a file, by the names of the settings for the files. */
export function secretFileSettings(): string[] {
  const names = Object.values(SHAPES).flatMap(secretNames);
  return [...new Set(names)].map(fileSetting);
}

/** The settings of a process with their defaults, for the page that lists them. */
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

/** A faulty file is reported once, and not also as a missing setting. */
function withFiles(problems: readonly string[], ofFiles: ReadonlyMap<string, string>): string[] {
  return [...ofFiles.values(), ...problems.filter((line) => !ofFiles.has(line.split(':', 1)[0] ?? ''))];
}

function read<Schema extends z.ZodObject>(schema: Schema, environment: Environment): Readonly<z.output<Schema>> {
  const { environment: present, problems } = resolve(schema, environment);
  const parsed = schema.safeParse(present);
  if (parsed.success && problems.size === 0) return Object.freeze(parsed.data);
  throw unusable(withFiles(parsed.success ? [] : describeIssues(parsed.error, present), problems));
}

/** In the live environment, the process must verify the other end of its connection. */
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
