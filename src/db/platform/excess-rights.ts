// The rights of a connection's account beyond those of the application. A live server refuses to start with them.
import { APPLICATION, APPLICATION_FUNCTIONS, tableRights } from './access.ts';
import { statement, type Queryable } from './database.ts';
import { SESSION_SETTINGS } from './session-settings.ts';

// For every role that the account may act as.
const ATTRIBUTES = statement('excess_attributes')`
  SELECT bool_or(rolsuper) AS superuser, bool_or(rolcreaterole) AS createrole, bool_or(rolcreatedb) AS createdb,
         bool_or(rolreplication) AS replication, bool_or(rolbypassrls) AS bypassrls
  FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')`;
const MEMBERSHIPS = statement('excess_memberships')`
  SELECT 'membership in ' || rolname AS excess FROM pg_roles
  WHERE rolname NOT IN (session_user, $1) AND pg_has_role(session_user, oid, 'MEMBER')
  UNION ALL SELECT 'the right to make others members of ' || rolname FROM pg_roles
  WHERE rolname = $1 AND pg_has_role(session_user, oid, 'MEMBER WITH ADMIN OPTION')`;
const OWNED = statement('excess_ownership')`
  SELECT 'ownership of ' || pg_describe_object(s.classid, s.objid, s.objsubid) AS excess
  FROM pg_shdepend s JOIN pg_database d ON d.datname = current_database()
  WHERE s.deptype = 'o' AND s.refclassid = 'pg_authid'::regclass
    AND s.refobjid = (SELECT oid FROM pg_roles WHERE rolname = session_user)
    AND (s.dbid = d.oid OR (s.classid = 'pg_database'::regclass AND s.objid = d.oid))`;
// Distinguishes our own tables from other relations.
const RELATION = `CASE WHEN c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace THEN 'table '
                  ELSE 'relation ' END || c.oid::regclass`;
// Granted to everybody or to a role of the account. PUBLIC may run most functions: only named grants count there.
const GRANTS = statement('excess_grants')`
  SELECT DISTINCT a.privilege_type || o.columns AS right, o.name AS on, a.is_grantable
  FROM (
    SELECT c.relacl AS acl, '' AS columns, ${RELATION} AS name, false AS by_name_only
    FROM pg_class c WHERE c.relnamespace <> ALL ($1::regnamespace[])
    UNION ALL
    SELECT a.attacl, ' (' || a.attname || ')', ${RELATION}, false
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace <> ALL ($1::regnamespace[])
    UNION ALL
    SELECT nspacl, '', 'schema ' || nspname, false FROM pg_namespace
    UNION ALL
    SELECT coalesce(datacl, acldefault('d', datdba)), '', 'database ' || datname, false
    FROM pg_database WHERE datname = current_database()
    UNION ALL
    SELECT paracl, '', 'parameter ' || parname, false FROM pg_parameter_acl
    UNION ALL
    SELECT proacl, '', 'function ' || oid::regprocedure, true FROM pg_proc
  ) o, aclexplode(o.acl) a
  WHERE (a.grantee = 0 AND NOT o.by_name_only)
     OR a.grantee IN (SELECT oid FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER'))
  ORDER BY 2, 1`;
const OWN_SETTINGS = statement('excess_settings')`
  SELECT 'a setting of its own, ' || split_part(setting, '=', 1) AS excess
  FROM pg_db_role_setting s, unnest(s.setconfig) AS setting
  WHERE s.setrole = (SELECT oid FROM pg_roles WHERE rolname = session_user)
    AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`;
const LACKING_SETTINGS = statement('excess_lacking_settings')`
  SELECT 'a connection without our setting of ' || name AS excess
  FROM unnest($1::text[], $2::text[]) AS ours (name, value) WHERE current_setting(name) IS DISTINCT FROM value`;
const SYSTEM_SCHEMAS = ['pg_catalog', 'information_schema'];

type Excess = { readonly excess: string };
type Grant = { readonly right: string; readonly on: string; readonly isGrantable: boolean };

/**
 * The excess rights in plain words: attributes, memberships, ownership and settings of the account, rights missing in
 * `access.ts`, and settings of the connection that do not apply, for example behind a pooler that drops them.
 */
export async function findExcessRights(db: Queryable): Promise<string[]> {
  const attributes = await findAttributes(db);
  // A superuser has every other right.
  if (attributes.includes('SUPERUSER')) return attributes;
  // The pool sets its own timeouts.
  const settings = Object.entries(SESSION_SETTINGS).filter(([name]) => !name.endsWith('_timeout'));
  const found = [
    await db.run<Excess>(MEMBERSHIPS, [APPLICATION]),
    await db.run<Excess>(OWNED, []),
    await db.run<Excess>(OWN_SETTINGS, []),
    await db.run<Excess>(LACKING_SETTINGS, [settings.map(([name]) => name), settings.map(([, value]) => value)]),
  ];
  return [...attributes, ...found.flat().map(({ excess }) => excess), ...(await findGrants(db))];
}

async function findAttributes(db: Queryable): Promise<string[]> {
  const [row = {}] = await db.run<Readonly<Record<string, boolean>>>(ATTRIBUTES, []);
  return Object.keys(row)
    .filter((attribute) => row[attribute])
    .map((attribute) => attribute.toUpperCase());
}

async function findGrants(db: Queryable): Promise<string[]> {
  const grants = await db.run<Grant>(GRANTS, [SYSTEM_SCHEMAS]);
  return grants
    .filter((grant) => grant.isGrantable || !isNeeded(grant))
    .map(({ right, on, isGrantable }) => `${right} on ${on}${isGrantable ? ', to be passed on' : ''}`);
}

function isNeeded({ right, on }: Grant): boolean {
  const [, what = '', name = ''] = /^(\w+) (.*)$/.exec(on) ?? [];
  const [kind = ''] = right.split(' ');
  if (what === 'schema') return right === 'USAGE';
  if (what === 'database') return right === 'CONNECT';
  if (what === 'function') return APPLICATION_FUNCTIONS.includes(name);
  if (what === 'relation') return kind === 'SELECT';
  const needed: readonly string[] = what === 'table' ? ['SELECT', ...tableRights(name)] : [];
  // A right on the whole table covers each of its columns.
  return needed.includes(right) || needed.includes(kind);
}
