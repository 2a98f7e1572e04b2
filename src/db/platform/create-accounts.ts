// Creates the databases and the accounts of the service and of Temporal, each with the least rights.
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { APPLICATION, REPORTS, restrictFunctions } from './access.ts';
import { connectionTo } from './session-settings.ts';

export type AccountsOptions = {
  /** The address of a superuser, needed only here. */
  readonly adminUrl: string;
  /** The addresses of the other accounts, each with account, password and database. */
  readonly ownerUrl: string;
  readonly applicationUrl: string;
  readonly reportUrl?: string | undefined;
  /** The address of Temporal's account and its first database; the second has the suffix `_visibility`. */
  readonly temporalUrl?: string | undefined;
};

type Account = { readonly name: string; readonly password: string; readonly database: string };

const TIMEOUT_MS = 30_000;
/**
 * A report keeps its tables locked, and their dead rows unvacuumed, until its transaction ends. A report can raise the
 * limits of its own session, but not the number of connections.
 */
const REPORT_CONNECTIONS = 5;
const REPORT_SETTINGS = { statement_timeout: '60s', idle_in_transaction_session_timeout: '60s' };
/** Any fixed number. Accounts belong to the whole server: two processes that create one would collide. */
const ADVISORY_LOCK = 7_261_544_037;

/**
 * Creates missing accounts, sets password and rights of existing ones, and resets their settings. Only superusers can
 * then connect to the template and the database of the superuser's address. The owner owns the database with all its
 * content, so that `migrate` needs no other account; `migrate` grants the rights on the tables.
 * Safe to repeat and to run concurrently. Throws if an address lacks a part, if two accounts are one, or if one is a
 * superuser.
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
    // Otherwise the server's log would contain the passwords.
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

/** Databases that PostgreSQL opens to everybody, that of the superuser's address and the template, without our own. */
function commonDatabases(adminUrl: string, owners: readonly Account[]): readonly string[] {
  const ownDatabases = owners.flatMap(temporalDatabases);
  const maintenance = decodeURIComponent(new URL(adminUrl).pathname.slice(1));
  return [...new Set([maintenance, 'template1'])].filter((name) => name !== '' && !ownDatabases.includes(name));
}

/** A thief of an account's address could hold the lock there or fill the disk. None of our accounts works there. */
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
  // An existing group may be an account that can log in.
  if (rows[0] && attributes === 'NOLOGIN') return;
  await client.query(`${rows[0] ? 'ALTER' : 'CREATE'} ROLE ${escapeIdentifier(name)} ${attributes}`);
}

async function ensureLogin(client: Client, { name, password }: Account): Promise<void> {
  const nothingElse = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
  await ensureRole(client, name, `LOGIN ${nothingElse} PASSWORD ${escapeLiteral(password)}`);
  await resetSettings(client, name);
}

/** A person with the account's address may have set some. They would outlive the password. */
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

/** An account with another name, for example of a second environment on one server, has the rights of the group. */
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

/**
 * Only the owner, superusers and these accounts may connect; only the owner may create objects, even temporary ones.
 */
export function accessToDatabase(name: string, accounts: readonly string[]): string[] {
  const database = escapeIdentifier(name);
  return [
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
    ...accounts.map((account) => `GRANT CONNECT ON DATABASE ${database} TO ${escapeIdentifier(account)}`),
  ];
}

/** Takes over the objects that an earlier version created as another account. */
async function takeOver(adminUrl: string, database: string, owner: Account): Promise<void> {
  await withClient(addressOf(adminUrl, database), async (client) => {
    const { rows } = await client.query<{ what: string }>(FOREIGN_OBJECTS, [owner.name]);
    const to = escapeIdentifier(owner.name);
    for (const { what } of rows) await client.query(`ALTER ${what} OWNER TO ${to}`);
    await client.query(`ALTER SCHEMA public OWNER TO ${to}; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
  });
}

// The sequence of an identity column moves with its table, and the objects of an extension with the extension.
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
  // A broken connection rejects its statement; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
