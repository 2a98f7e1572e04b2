// `npm run staff -- doctor`: looks at a deployment with what can be reached of it, and says what is wrong, with the remedy.
import { ConfigError, loadUsableSettings } from '../../settings/config.ts';
import { loadClocks } from '../../settings/clocks.ts';
import { openDatabase, type Database } from '../../db/platform/database.ts';
import { readTransport } from '../../db/platform/transport.ts';
import { listOperatorAccounts } from '../../db/accounts/operator-account.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { readServiceFigures, type ServiceFigures } from '../../operations/read-service-figures.ts';
import { createRowAttestor } from '../../security/row-attestation.ts';
import { withTemporalLook, type TemporalLook } from '../../temporal/inspection.ts';
import { temporalTarget } from '../../temporal/transport.ts';
import { REACHED, type Check, type Finding, type Subject } from './check.ts';
import { DATABASE_CHECKS } from './database-checks.ts';
import { SETTINGS_CHECKS } from './settings-checks.ts';
import { TEMPORAL_CHECKS } from './temporal-checks.ts';
import { WORK_CHECKS } from './work-checks.ts';

export const CHECKS: readonly Check[] = [...SETTINGS_CHECKS, ...DATABASE_CHECKS, ...WORK_CHECKS, ...TEMPORAL_CHECKS];

const TIMEOUT_MS = 5000;
/** `npm run accounts` needs it. */
const OLDEST_POSTGRESQL = 150_000;

type Looked = {
  readonly name: string;
  readonly remedy: string;
  /** Null: the check was skipped, because a dependency is unavailable. */
  readonly findings: readonly Finding[] | null;
};

/** Reads alone. The exit code is 1 when something is wrong, and 0 otherwise, whatever notes there are. */
export async function examine(environment: Subject['environment']): Promise<{ text: string; exitCode: number }> {
  const settings = loadUsableSettings(environment);
  const operators: OperatorId[] = [];
  const subject: Subject = { environment, settings, clocks: loadClocks(environment, []), operators };
  const looked = [
    ...(await lookAll(SETTINGS_CHECKS, (check) => (check.on === 'settings' ? check.find(subject) : null))),
    ...(await lookAtDatabase(subject, (found) => operators.push(...found))),
    ...(await lookAtTemporal(subject)),
  ];
  const wrong = looked.filter(({ findings }) => findings?.some((each) => typeof each === 'string')).length;
  const unseen = looked.filter(({ findings }) => findings === null).length;
  const all = `${looked.length - unseen} checked, ${wrong === 0 ? 'nothing' : wrong} wrong`;
  const text = `${looked.map(textOf).join('')}\n${all}${unseen === 0 ? '' : `, ${unseen} skipped`}\n`;
  return { text: `${whereOf(subject)}\n\n${text}`, exitCode: wrong > 0 ? 1 : 0 };
}

/** Which deployment this is, without any secret. */
function whereOf({ settings }: Subject): string {
  const address = settings.MALIPO_DATABASE_URL && new URL(settings.MALIPO_DATABASE_URL.reveal());
  const database = address === undefined ? 'no database' : `${address.host}${address.pathname} as ${address.username}`;
  const { MALIPO_ENVIRONMENT: environment = 'unknown', MALIPO_TEMPORAL_ADDRESS: temporal = 'no Temporal' } = settings;
  return `environment ${environment}, PostgreSQL ${database}, Temporal ${temporal}`;
}

function textOf({ name, remedy, findings }: Looked): string {
  const line = (mark: string, text: string) => `${mark.padEnd(6)}${name.padEnd(19)}${text}\n`;
  if (findings === null) return line('–', 'skipped: dependency unavailable');
  const lines = findings.map((each) => (typeof each === 'string' ? line('WRONG', each) : line('note', each.note)));
  return lines.length === 0 ? line('ok', '').trimEnd() + '\n' : `${lines.join('')}${' '.repeat(25)}→ ${remedy}\n`;
}

/** One after the other: each may take one connection. A check that fails is wrong itself. */
async function lookAll(
  checks: readonly Check[],
  find: (check: Check) => Promise<readonly Finding[] | null> | null,
): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (const check of checks) {
    const { name, remedy } = check;
    try {
      looked.push({ name, remedy, findings: await find(check) });
    } catch (error) {
      looked.push({ name, remedy, findings: [`the check failed: ${reasonOf(error)}`] });
    }
  }
  return looked;
}

function outOfReach(part: keyof typeof REACHED, problem: string, checks: readonly Check[]): Looked[] {
  const { name, remedy } = REACHED[part];
  const others = checks.map((check) => ({ name: check.name, remedy: check.remedy, findings: null }));
  return [{ name, remedy, findings: [problem] }, ...others];
}

async function lookAtDatabase(
  subject: Subject,
  onOperators: (found: readonly OperatorId[]) => void,
): Promise<Looked[]> {
  const checks = [...DATABASE_CHECKS, ...WORK_CHECKS];
  const db = openFor(subject);
  if (db === null) return outOfReach('database', 'MALIPO_DATABASE_URL is not set or cannot be used', checks);
  try {
    const { version } = await readTransport(db);
    const old = version < OLDEST_POSTGRESQL ? [`the PostgreSQL version is ${Math.floor(version / 10_000)}`] : [];
    const { name, remedy } = REACHED.database;
    let figures: Promise<ServiceFigures> | undefined;
    const inside = await lookAll(checks, async (check) => {
      if (check.on === 'figures') return check.find(await (figures ??= figuresOf(db, subject)), subject);
      return check.on === 'database' ? check.find(db, subject) : null;
    });
    // A database of another version may have none; the checks above say so.
    onOperators(
      await listOperatorAccounts(db).then(
        (found) => found.map(({ operator }) => operator),
        () => [],
      ),
    );
    return [{ name, remedy, findings: old }, ...inside];
  } catch (error) {
    return outOfReach('database', `PostgreSQL does not answer: ${reasonOf(error)}`, checks);
  } finally {
    await db.close();
  }
}

function figuresOf(db: Database, { settings }: Subject): Promise<ServiceFigures> {
  return readServiceFigures(db, {
    maxCount: settings.MALIPO_BACKLOG_MAX_COUNT ?? 1,
    maxPerMerchant: settings.MALIPO_BACKLOG_MAX_PER_MERCHANT ?? 1,
    maxAgeMs: settings.MALIPO_BACKLOG_MAX_AGE_MS ?? 1,
  });
}

function openFor({ settings }: Subject): Database | null {
  const { MALIPO_DATABASE_URL: url, MALIPO_ATTESTATION_KEYS: keyRing, MALIPO_ENVIRONMENT: environment } = settings;
  if (url === undefined) return null;
  const attestor = keyRing &&
    environment && { attestor: createRowAttestor({ environment, keyRing, report: () => undefined }) };
  return openDatabase({
    url: url.reveal(),
    poolSize: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
    onIdleError: () => undefined,
    ...attestor,
  });
}

async function lookAtTemporal(subject: Subject): Promise<Looked[]> {
  const { name, remedy } = REACHED.Temporal;
  const { settings } = subject;
  const { MALIPO_TEMPORAL_ADDRESS: address, MALIPO_TEMPORAL_TLS: tls, MALIPO_TASK_QUEUE_PREFIX: prefix } = settings;
  if (address === undefined || tls === undefined || prefix === undefined) {
    return outOfReach('Temporal', 'the settings of Temporal cannot be used', TEMPORAL_CHECKS);
  }
  const target = temporalTarget({ ...settings, MALIPO_TEMPORAL_ADDRESS: address, MALIPO_TEMPORAL_TLS: tls });
  const namespace = settings.MALIPO_TEMPORAL_NAMESPACE ?? `malipo-${settings.MALIPO_ENVIRONMENT ?? 'test'}`;
  const look = (temporal: TemporalLook) =>
    lookAll(TEMPORAL_CHECKS, (check) => (check.on === 'Temporal' ? check.find(temporal, subject) : null));
  try {
    const options = { target, namespace, taskQueuePrefix: prefix, timeoutMs: TIMEOUT_MS };
    return [{ name, remedy, findings: [] }, ...(await withTemporalLook(options, look))];
  } catch (error) {
    return outOfReach('Temporal', `${address} does not answer: ${reasonOf(error)}`, TEMPORAL_CHECKS);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError) return error.message.replace(/\s+/g, ' ');
  const [line = ''] = (error.message || error.name).split('\n');
  return line;
}
