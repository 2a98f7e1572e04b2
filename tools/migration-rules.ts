// What a migration may contain, so that it stops no payment: everything that is not named here is refused (decision 44).
import { FIRST_MIGRATION, schemaFile, type SchemaFile } from '../src/db/platform/schema-files.ts';
import { splitAtCommas, statementsOf } from './sql-statements.ts';

const LARGEST_BATCH = 10_000;
const NAME = '(?:PUBLIC\\.)?([A-Z_][A-Z0-9_]*)';
// None that brings a default or a rule of its own, as `serial` and domains do.
const TYPES = 'TEXT|BIGINT|INTEGER|INT|SMALLINT|BOOLEAN|NUMERIC|TIMESTAMPTZ|DATE|JSONB|UUID|BYTEA|INET|CIDR|XID8';
const TYPE = `(?:${TYPES})(?: ?\\([0-9, ]+\\))?(?:\\[\\])?(?: COLLATE "C")?`;
// The same for every row, so that no row is written.
const CONSTANT = `DEFAULT (?:-?[0-9.]+|''(?:::[A-Z]+(?:\\[\\])?)?|TRUE|FALSE|NULL|NOW\\(\\))`;
const form = (pattern: string) => new RegExp(`^${pattern}$`);

/** What waits for nobody, or for a moment, and reads no table. */
const STATEMENTS = [
  `CREATE TABLE ${NAME} \\(.*\\)(?: WITH \\(.*\\))?`,
  'CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE|VIEW) .+',
  'CREATE (?:TYPE|SEQUENCE) .+',
  `COMMENT ON .+ IS (?:''|NULL)`,
  'DROP (?:FUNCTION|PROCEDURE|VIEW|TABLE) (?!.* CASCADE$).+',
  `INSERT INTO ${NAME} \\(.*\\) VALUES .+`,
].map(form);
/** Statements on a table that may be in use. Its name is the first group. */
const ON_TABLES = [
  `CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER .+? ON ${NAME} .+`,
  `DROP TRIGGER [A-Z0-9_]+ ON ${NAME}`,
].map(form);
const ALTER = form(`ALTER TABLE ${NAME} (.+)`);
const ACTIONS = [
  `ADD COLUMN [A-Z0-9_]+ ${TYPE}(?: ${CONSTANT}(?: NOT NULL)?| NOT NULL ${CONSTANT})?`,
  'ADD CONSTRAINT [A-Z0-9_]+ (?:CHECK|FOREIGN KEY) .+ NOT VALID',
  'ADD CONSTRAINT [A-Z0-9_]+ UNIQUE USING INDEX [A-Z0-9_]+',
  'ALTER COLUMN [A-Z0-9_]+ (?:SET DEFAULT .+|DROP DEFAULT|DROP NOT NULL|SET STATISTICS [0-9]+)',
  'DROP (?:COLUMN|CONSTRAINT) [A-Z0-9_]+',
  '(?:RE)?SET \\(.+\\)',
].map(form);
const VALIDATE = form('VALIDATE CONSTRAINT [A-Z0-9_]+');
const INDEX = form(`CREATE (?:UNIQUE )?INDEX [A-Z0-9_]+ ON ${NAME} .+`);
const ALONE = [
  'CREATE (?:UNIQUE )?INDEX CONCURRENTLY [A-Z0-9_]+ ON .+',
  'DROP INDEX CONCURRENTLY IF EXISTS [A-Z0-9_]+',
].map(form);
/** As `migrate` finds the name of an index, to remove it where it was not completed. */
const INDEX_LINE = /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY [a-z0-9_]+ ON |DROP INDEX )/m;
const BATCH = form('(?:UPDATE|DELETE) .+ LIMIT ([0-9]+)\\b.*');

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^CREATE (?:UNIQUE )?INDEX/, 'build it CONCURRENTLY, in a file that says `-- runs: outside of a transaction`'],
  [/^(?:UPDATE|DELETE)/, 'change rows in a file that says `-- runs: in batches`'],
  [
    /^(?:ADD CONSTRAINT .+ (?:CHECK|FOREIGN KEY)|ADD CHECK|ADD FOREIGN KEY)/,
    'add it NOT VALID, with a name, and validate it in a later file',
  ],
  [
    /^ADD (?:COLUMN )?/,
    'add the column without a rule, or with a constant as its default; indexes and rules come in later files',
  ],
  [/SET NOT NULL/, 'add CHECK (… IS NOT NULL) NOT VALID, and validate it in a later file'],
  [/ TYPE |^RENAME/, 'add another column, fill it in batches, and drop this one in a later version'],
  [/^VALIDATE/, 'validate in a file that does nothing else: it reads the whole table'],
];

/** Whatever is wrong with the migrations among the files of the folder, by name and content. */
export function findMigrationFaults(files: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(files).sort();
  const misnamed = names.filter((name) => !/^[0-9]{3}-[a-z0-9-]+\.sql$/.test(name));
  return [
    ...misnamed.map((name) => `${name}: its name is not a number of three digits and words`),
    ...names
      .filter((name) => name >= FIRST_MIGRATION)
      .flatMap((name) => faultsOf(name, files[name] ?? '', names).map((fault) => `${name}: ${fault}`)),
  ];
}

function faultsOf(name: string, sql: string, names: readonly string[]): string[] {
  let file: SchemaFile;
  try {
    file = schemaFile(name, sql);
  } catch (error) {
    return [String(error)];
  }
  const { oldestServers, mode } = file;
  const faults = mode === 'transaction' ? faultsInTransaction(statementsOf(sql)) : faultsBySelf(file);
  if (oldestServers === null || oldestServers > name || !names.includes(oldestServers))
    faults.push('no line `-- oldest servers: FILE` names the file that the oldest servers beside it know');
  return faults;
}

function faultsBySelf({ sql, mode }: SchemaFile): string[] {
  const statements = statementsOf(sql);
  const [only = ''] = statements;
  if (statements.length !== 1) return ['a file that runs in no transaction has one statement'];
  if (mode === 'alone')
    return ALONE.some((allowed) => allowed.test(only)) && INDEX_LINE.test(sql) ? [] : [refused(only)];
  const size = BATCH.exec(only)?.[1];
  return size !== undefined && Number(size) > 0 && Number(size) <= LARGEST_BATCH
    ? []
    : [`a batch updates or deletes with a LIMIT of ${LARGEST_BATCH} or less: ${only}`];
}

function faultsInTransaction(statements: readonly string[]): string[] {
  const created = new Set(statements.flatMap((text) => form(`CREATE TABLE ${NAME} \\(.*`).exec(text)?.[1] ?? []));
  const used = new Set<string>();
  const onlyValidates = statements.every((text) => actionsOf(text)?.actions.every((action) => VALIDATE.test(action)));
  const faults = statements.flatMap((text) => {
    if (STATEMENTS.some((allowed) => allowed.test(text))) return [];
    const altered = actionsOf(text);
    const table = altered?.table ?? [INDEX, ...ON_TABLES].map((one) => one.exec(text)?.[1]).find((found) => found);
    // Nobody uses it yet.
    if (table !== undefined && created.has(table)) return [];
    if (table !== undefined) used.add(table);
    if (ON_TABLES.some((allowed) => allowed.test(text))) return [];
    if (altered === null) return [refused(text)];
    const isAllowed = (action: string) =>
      VALIDATE.test(action) ? onlyValidates : ACTIONS.some((allowed) => allowed.test(action));
    return altered.actions.filter((action) => !isAllowed(action)).map(refused);
  });
  // Those that it has stay locked while it waits for the next one.
  if (used.size > 1) faults.push(`it changes several tables, which takes a file each: ${[...used].join(', ')}`);
  return faults;
}

function actionsOf(text: string): { readonly table: string; readonly actions: readonly string[] } | null {
  const [, table, actions] = ALTER.exec(text) ?? [];
  return table === undefined || actions === undefined ? null : { table, actions: splitAtCommas(actions) };
}

function refused(text: string): string {
  const remedy = REMEDIES.find(([of]) => of.test(text))?.[1];
  return `no migration may ${text}${remedy === undefined ? '' : ` (${remedy})`}`;
}
