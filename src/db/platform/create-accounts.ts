// Creates the databases and the accounts that the service and Temporal log in with, each with no more rights than it needs.
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { APPLICATION, REPORTS, restrictFunctions } from './access.ts';
import { connectionTo } from './session-settings.ts';

export type AccountsOptions = {
  /** Of a superuser. It is needed for this alone. */
  readonly adminUrl: string;
  /** The addresses that the others will use: each names its account, its password and its database. */
  readonly ownerUrl: string;
  readonly applicationUrl: string;
  readonly reportUrl?: string | undefined;
  /** Of Temporal's own account and the first of its two databases; the second one has the suffix `_visibility`. */
  readonly temporalUrl?: string | undefined;
};

type Account = { readonly name: string; readonly password: string; readonly database: string };

const TIMEOUT_MS = 30_000;
/**
 * What a report reads stays locked until its transaction ends, and is kept from being vacuumed. A report may ask for more time in its own
 * session; the connections it cannot change.
 */
const REPORT_CONNECTIONS = 5;
const REPORT_SETTINGS = { statement_timeout: '60s', idle_in_transaction_session_timeout: '60s' };
/** Any fixed number: accounts belong to the whole server, and two processes that create one at once would disturb each other. */
const ADVISORY_LOCK = 7_261_544_037;

/**
 * Creates what is missing, sets password and rights of what is there, and takes the settings of the accounts away. Nobody but
 * superusers connects to the database of the superuser's address and to the template any more. The owner then
 * owns the database with all that is in it, so that `migrate` needs no other account; `migrate` grants the rights on the tables.
 * Safe to repeat and to run from several processes at once. Throws when an address lacks a part, when two accounts are one, and when one of them is a superuser.
 */
export async function createAccounts(options: AccountsOptions): Promise<void> {
  const { adminUrl, ownerUrl, applicationUrl, reportUrl, temporalUrl } = options;
  const owner = accountOf(ownerUrl);
  const application = accountOf(applicationUrl);
  const readers = [application, ...(reportUrl === undefined ? [] : [accountOf(reportUrl)])];
  const temporal = temporalUrl === undefined ? [] : [accountOf(temporalUrl)];
  const all = [owner, ...readers, ...temporal];
  checkAccounts(all, [owner, ...readers]);
  await withClient(adminUrl, async (client) => {
    const common = commonDatabases(adminUrl, [owner, ...temporal]);
    await endSessions(client, common, all);
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    for (const name of common) await client.query(accessToDatabase(name, []).join('; '));
    // Otherwise the passwords would be in the server's log.
    await client.query("SET log_statement = 'none'; SET log_min_error_statement = 'panic'");
    for (const group of [APPLICATION, REPORTS]) await ensureRole(client, group, 'NOLOGIN');
    for (const account of all) await ensureLogin(client, account);
    await joinGroup(client, application, APPLICATION);
    if (readers[1]) {
      await joinGroup(client, readers[1], REPORTS);
      await limitReports(client, readers[1]);
    }
    await ensureDatabase(client, owner.database, { owner, users: readers });
    for (const account of temporal)
      for (const name of temporalDatabases(account)) await ensureDatabase(client, name, { owner: account, users: [] });
    await takeOver(adminUrl, owner.database, owner);
    await withClient(addressOf(adminUrl, owner.database), (database) => restrictFunctions(database, owner.name));
    for (const account of temporal)
      for (const name of temporalDatabases(account)) await takeOver(adminUrl, name, account);
  });
}

/** Which PostgreSQL itself lets everybody into: that of the superuser's address and the template, unless one of these is ours. */
function commonDatabases(adminUrl: string, owners: readonly Account[]): readonly string[] {
  const own = owners.flatMap(temporalDatabases);
  const maintenance = decodeURIComponent(new URL(adminUrl).pathname.slice(1));
  return [...new Set([maintenance, 'template1'])].filter((name) => name !== '' && !own.includes(name));
}

/** Whoever had the address of an account could hold the lock there, and fill the disk. None of ours has any business there. */
async function endSessions(client: Client, databases: readonly string[], accounts: readonly Account[]): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid
     WHERE a.datname = ANY($1) AND r.rolname = ANY($2) AND NOT r.rolsuper`,
    [databases, accounts.map(({ name }) => name)],
  );
}

function accountOf(address: string): Account {
  const { username, password, pathname } = new URL(address);
  const [name, text, database] = [username, password, pathname.slice(1)].map(decodeURIComponent);
  if (!name || !text || !database)
    throw new Error('each address of an account needs its name, its password and its database');
  return { name, password: text, database };
}

function checkAccounts(all: readonly Account[], ofService: readonly Account[]): void {
  if (new Set(all.map(({ name }) => name)).size < all.length) throw new Error('each account needs a name of its own');
  if (new Set(ofService.map(({ database }) => database)).size > 1)
    throw new Error('owner, application and reports must have the same database');
}

function temporalDatabases({ database }: Account): readonly string[] {
  return [database, `${database}_visibility`];
}

async function ensureRole(client: Client, name: string, attributes: string): Promise<void> {
  const { rows } = await client.query<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_roles WHERE rolname = $1', [
    name,
  ]);
  if (rows[0]?.rolsuper) throw new Error(`the account ${name} is a superuser; choose another name`);
  // A group that is there already may be an account that logs in.
  if (rows[0] && attributes === 'NOLOGIN') return;
  await client.query(`${rows[0] ? 'ALTER' : 'CREATE'} ROLE ${escapeIdentifier(name)} ${attributes}`);
}

async function ensureLogin(client: Client, { name, password }: Account): Promise<void> {
  const nothingElse = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
  await ensureRole(client, name, `LOGIN ${nothingElse} PASSWORD ${escapeLiteral(password)}`);
  await resetSettings(client, name);
}

/** Whoever had its address may have given it some, which would outlive its password. */
async function resetSettings(client: Client, name: string): Promise<void> {
  const { rows } = await client.query<{ database: string | null }>(
    `SELECT d.datname AS database FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
     WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = $1)`,
    [name],
  );
  for (const { database } of rows) {
    const where = database === null ? '' : `IN DATABASE ${escapeIdentifier(database)} `;
    await client.query(`ALTER ROLE ${escapeIdentifier(name)} ${where}RESET ALL`);
  }
}

/** An account with a name of its own, for example of a second environment on one server, has the rights of the group. */
async function joinGroup(client: Client, { name }: Account, group: string): Promise<void> {
  if (name !== group) await client.query(`GRANT ${escapeIdentifier(group)} TO ${escapeIdentifier(name)}`);
}

async function limitReports(client: Client, { name }: Account): Promise<void> {
  const role = `ALTER ROLE ${escapeIdentifier(name)}`;
  await client.query(`${role} CONNECTION LIMIT ${REPORT_CONNECTIONS}`);
  for (const [setting, value] of Object.entries(REPORT_SETTINGS))
    await client.query(`${role} SET ${setting} = ${escapeLiteral(value)}`);
}

type Users = { readonly owner: Account; readonly users: readonly Account[] };

async function ensureDatabase(client: Client, name: string, { owner, users }: Users): Promise<void> {
  const [database, ownerName] = [escapeIdentifier(name), escapeIdentifier(owner.name)];
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  await client.query(
    rowCount === 1
      ? `ALTER DATABASE ${database} OWNER TO ${ownerName}`
      : `CREATE DATABASE ${database} OWNER ${ownerName}`,
  );
  const names = users.map((user) => user.name);
  for (const statement of accessToDatabase(name, names)) await client.query(statement);
}

/** Nobody but its owner, superusers and these accounts may connect, and nobody but its owner may create anything, not even for a session. */
export function accessToDatabase(name: string, accounts: readonly string[]): string[] {
  const database = escapeIdentifier(name);
  return [
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
    ...accounts.map((account) => `GRANT CONNECT ON DATABASE ${database} TO ${escapeIdentifier(account)}`),
  ];
}

/** Whatever an earlier version created there as another account. */
async function takeOver(adminUrl: string, database: string, owner: Account): Promise<void> {
  await withClient(addressOf(adminUrl, database), async (client) => {
    const { rows } = await client.query<{ what: string }>(FOREIGN_OBJECTS, [owner.name]);
    const to = escapeIdentifier(owner.name);
    for (const { what } of rows) await client.query(`ALTER ${what} OWNER TO ${to}`);
    await client.query(`ALTER SCHEMA public OWNER TO ${to}; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
  });
}

// The sequence of an identity column goes with its table, and what belongs to an extension with the extension.
const FOREIGN_OBJECTS = `
  SELECT CASE c.relkind WHEN 'v' THEN 'VIEW ' WHEN 'm' THEN 'MATERIALIZED VIEW ' WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END
         || c.oid::regclass AS what
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
    AND c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = $1)
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                    AND (d.deptype = 'e' OR (c.relkind = 'S' AND d.deptype IN ('i', 'a'))))
  UNION ALL
  SELECT 'ROUTINE ' || p.oid::regprocedure FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND p.proowner <> (SELECT oid FROM pg_roles WHERE rolname = $1)
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')`;

function addressOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const limits = { connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS };
  const client = new Client({ ...connectionTo(url), ...limits });
  // A connection that breaks rejects the statement under way; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
