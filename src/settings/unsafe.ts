// Refuses settings that contradict each other, or could lose money or admit the wrong people, each with its reason.
import { accessSync, constants } from 'node:fs';
import ipaddr from 'ipaddr.js';

type Environment = Readonly<Record<string, string | undefined>>;

const LIVE_CHECKS = [
  findUnsafeLiveSettings,
  findOpenLiveTransport,
  findGuessableKeys,
  findMissingLimits,
  findShownEngine,
];

// A configuration that could lose money or admit the wrong people is refused at start. The checks read the raw
// settings, so that all problems are listed together.
export function findContradictions(environment: Environment): string[] {
  const isLive = environment['MALIPO_ENVIRONMENT'] === 'live';
  return [
    ...findSharedKeys(environment),
    ...findMixedEnvironments(environment, isLive),
    ...findIncompleteTransport(environment),
    ...findMissingMarker(environment),
    ...(isLive ? LIVE_CHECKS.flatMap((find) => find(environment)) : []),
  ];
}

const RINGS = ['MALIPO_SECRET_KEYS', 'MALIPO_ATTESTATION_KEYS', 'MALIPO_OPERATOR_KEYS'];

// A thief of one ring must not be able to attest a status or an approval with it, or to open an operator's credentials.
function findSharedKeys(environment: Environment): string[] {
  const keysOf = (name: string) => bytesOf(environment[name] ?? '').filter((key) => key.length > 0);
  return RINGS.flatMap((name, index) =>
    RINGS.slice(0, index)
      .filter((other) => keysOf(name).some((key) => keysOf(other).some((another) => another.equals(key))))
      .map((other) => `${name}: must have no key of ${other}`),
  );
}

// Nothing would show that the database was set back.
function findMissingMarker(environment: Environment): string[] {
  const isMissing =
    environment['MALIPO_FENCE_IN_TEMPORAL'] === 'false' && environment['MALIPO_FENCE_MARKER_FILE'] === undefined;
  return isMissing ? ['MALIPO_FENCE_MARKER_FILE: must be set while MALIPO_FENCE_IN_TEMPORAL is false'] : [];
}

function bytesOf(ring: string): Buffer[] {
  return ring.split(',').map((entry) => Buffer.from(entry.trim().split(':')[1] ?? '', 'base64'));
}

function findGuessableKeys(environment: Environment): string[] {
  return RINGS.filter((name) => bytesOf(environment[name] ?? '').some(isGuessable)).map(
    (name) => `${name}: must have only keys of random bytes in the live environment: openssl rand -base64 32`,
  );
}

// Nearly all of 32 random bytes differ, and so do the steps between them; they are hardly ever all printable.
const LEAST_DISTINCT_BYTES = 16;

function isGuessable(key: Buffer): boolean {
  if (key.length === 0) return false;
  const steps = key.map((byte, index) => byte - (key[index - 1] ?? 0));
  const hasPattern = [key, steps].some((bytes) => new Set(bytes).size < LEAST_DISTINCT_BYTES);
  return hasPattern || key.every((byte) => byte >= 0x20 && byte < 0x7f);
}

const LIMITS = [
  'MALIPO_RATE_LIMIT_PER_SECOND',
  'MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND',
  'MALIPO_REFUSED_KEYS_PER_ADDRESS',
  'MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS',
];

// If an edge also limits requests, a high number has the effect of none.
function findMissingLimits(environment: Environment): string[] {
  return LIMITS.filter((name) => environment[name] !== undefined && Number(environment[name]) === 0).map(
    (name) => `${name}: must be a limit in the live environment: 0 means no limit`,
  );
}

const TEMPORAL_TLS_PARTS = [
  'MALIPO_TEMPORAL_TLS_CA_FILE',
  'MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE',
  'MALIPO_TEMPORAL_TLS_KEY_FILE',
  'MALIPO_TEMPORAL_TLS_SERVER_NAME',
  'MALIPO_TEMPORAL_API_KEY',
] as const;

// An unused part of the settings would make people believe that the connection is safe.
function findIncompleteTransport(environment: Environment): string[] {
  const problems: string[] = [];
  if (environment['MALIPO_TEMPORAL_TLS'] !== 'true') {
    for (const name of TEMPORAL_TLS_PARTS)
      if (environment[name] !== undefined) problems.push(`${name}: needs MALIPO_TEMPORAL_TLS=true`);
  }
  const pair = [environment['MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE'], environment['MALIPO_TEMPORAL_TLS_KEY_FILE']];
  if (pair.filter((file) => file !== undefined).length === 1) {
    problems.push('MALIPO_TEMPORAL_TLS_KEY_FILE: the certificate and its key must be set together');
  }
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameterOf(environment['MALIPO_DATABASE_URL'], name);
    if (file !== null && !isReadable(file))
      problems.push(`MALIPO_DATABASE_URL: ${name} names a file that cannot be read`);
  }
  return problems;
}

// Connections that operators of a network in between could read or change, or that others could reach.
function findOpenLiveTransport(environment: Environment): string[] {
  const problems = findOpenDatabase(environment, 'MALIPO_DATABASE_URL');
  if (environment['MALIPO_TEMPORAL_TLS'] !== 'true') {
    problems.push('MALIPO_TEMPORAL_TLS: must be true in the live environment');
  }
  // TLS proves Temporal's identity to the service, and nothing about the service to Temporal.
  const provesUs = ['MALIPO_TEMPORAL_API_KEY', 'MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE'];
  if (provesUs.every((name) => environment[name] === undefined)) {
    problems.push(`MALIPO_TEMPORAL_API_KEY: must be set in the live environment, or a client certificate`);
  }
  // The service itself speaks HTTP, so an https address implies a proxy. Uncounted, all clients would have its address.
  if (Number(environment['MALIPO_TRUSTED_PROXIES'] ?? 0) === 0) {
    problems.push(
      'MALIPO_TRUSTED_PROXIES: must count the proxies in front of an https address in the live environment',
    );
  }
  // Node's own switch: it disables the verification of the database's certificate.
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    problems.push('NODE_TLS_REJECT_UNAUTHORIZED: must not be 0 in the live environment');
  }
  if (!isPrivateHost(environment['MALIPO_METRICS_HOST'] ?? 'localhost')) {
    problems.push('MALIPO_METRICS_HOST: must be a loopback or private address in the live environment');
  }
  return problems;
}

/** A line if the setting is a database address whose other end would not be verified. */
export function findOpenDatabase(environment: Environment, setting: string): string[] {
  const isVerified = parameterOf(environment[setting], 'sslmode') === 'verify-full';
  return isVerified ? [] : [`${setting}: must have sslmode=verify-full in the live environment`];
}

/** The parameter of a database address; null if it has none or cannot be read. */
function parameterOf(text = '', name: string): string | null {
  return URL.canParse(text) ? (new URL(text).searchParams.getAll(name).at(-1) ?? null) : null;
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

// The Temporal UI does not separate merchants: its users see the work of all of them, and may end it.
function findShownEngine({ MALIPO_TEMPORAL_UI_URL: url }: Environment): string[] {
  if (url === undefined) return [];
  return [
    'MALIPO_TEMPORAL_UI_URL: must not be set in the live environment, where merchants’ staff must not reach the Temporal UI',
  ];
}

/** A name other than this machine's may stand for any address. */
function isPrivateHost(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && PRIVATE_RANGES.has(ipaddr.process(host).range());
}

// A test key must not reach real money, and a live key no sandbox, which reports payments as paid without money.
function findMixedEnvironments(environment: Environment, isLive: boolean): string[] {
  const problems: string[] = [];
  const [own, other] = isLive ? ['live', 'test'] : ['test', 'live'];
  if (environment['MALIPO_TEMPORAL_NAMESPACE'] === `malipo-${other}`) {
    problems.push(`MALIPO_TEMPORAL_NAMESPACE: must not be that of the ${other} environment in the ${own} environment`);
  }
  return problems;
}

function findUnsafeLiveSettings(environment: Environment): string[] {
  const problems: string[] = [];
  if ((environment['MALIPO_CLOCKS'] ?? 'real') !== 'real') {
    problems.push('MALIPO_CLOCKS: must be real in the live environment');
  }
  // The heads that are stored outside the database are log lines of the level `info`.
  if (['warn', 'error', 'fatal', 'silent'].includes(environment['MALIPO_LOG_LEVEL'] ?? '')) {
    problems.push(
      'MALIPO_LOG_LEVEL: must be info, debug or trace in the live environment, so that the heads of audit logs are logged',
    );
  }
  if (environment['MALIPO_WEBHOOK_ALLOW_LOOPBACK'] === 'true') {
    problems.push('MALIPO_WEBHOOK_ALLOW_LOOPBACK: must be false in the live environment');
  }
  const callback = (environment['MALIPO_CALLBACK_URL'] ?? '') === '' ? [] : ['MALIPO_CALLBACK_URL'];
  for (const name of ['MALIPO_PUBLIC_URL', ...callback]) {
    if (environment[name]?.toLowerCase().startsWith('https://') !== true) {
      problems.push(`${name}: must be https in the live environment`);
    }
  }
  return problems;
}
