// Checks the rules of the source tree: import directions, sizes, names and vocabulary. All else is a matter of style.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { OPERATOR_IDS } from '../src/domain/payments/operator-catalogue.ts';
import {
  circlesIn,
  codeFiles,
  files,
  functionsOf,
  identifiersOf,
  importsOf,
  isWithin,
  linesNaming,
  root,
  trackedFiles,
  writingReadsOf,
  type Import,
} from './support/source-tree.ts';

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;
const MAX_PARAMETERS = 4;
const BANNED_NAMES = /^(utils?|helpers?|common|shared|misc|manager|lib|core|base|handlers?)(\.|-|$)/;

/**
 * From each part, the parts (or single files) it may import: of a `type` entry types alone, of a `reads` entry besides them only
 * functions whose name says that they read. A read that only selects is called where it stands, in src/db. The dispatcher and the
 * activities write there directly, too, but only by single statements that decide nothing: the files are named one by one.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/domain': ['src/domain'],
  'src/security': ['src/domain', 'src/security'],
  'src/db': ['src/domain', 'src/security', 'src/db', 'type src/log.ts'],
  'src/operations': ['src/domain', 'src/security', 'src/db', 'type src/operations'],
  'src/outbound': ['src/outbound'],
  'src/operators': ['src/domain', 'src/outbound', 'src/operators'],
  'src/webhooks': ['src/domain', 'src/security', 'src/outbound', 'src/webhooks', 'type src/log.ts'],
  'src/temporal': ['src/domain', 'src/temporal', 'workflows/contract.ts', 'type src/log.ts'],
  // The sandbox shares no code with the adapters, so that the same mistake cannot hide in both.
  'src/sandbox': ['src/sandbox'],
  'src/dispatcher': [
    'src/domain',
    'src/operations',
    'reads src/db',
    'src/webhooks',
    'src/temporal',
    'src/dispatcher',
    'src/coalescing-loop.ts',
    'src/db/platform/batcher.ts',
    'src/db/work/work.ts',
    'src/db/work/work-checks.ts',
    'src/db/work/status-queries.ts',
    'src/db/payments/payment-progress.ts',
    'src/db/platform/housekeeping.ts',
    'src/db/state-changes.ts',
    'src/db/webhooks/delivery.ts',
    'type src/log.ts',
  ],
  'src/api': [
    'src/domain',
    'src/security',
    'src/operations',
    'reads src/db',
    'src/api',
    'src/coalescing-loop.ts',
    'type src/temporal/client.ts',
    'type src/temporal/workflow-links.ts',
    'type src/log.ts',
  ],
  // A client of the public HTTP API. Beyond that it knows only the domain's names.
  'src/cli': ['src/domain', 'src/security', 'src/cli'],
  // Other people's servers as child processes. PostgreSQL is given the accounts of the service.
  'src/engines': [
    'src/engines',
    'src/project-root.ts',
    'src/domain',
    'src/db/platform/access.ts',
    'src/db/platform/create-accounts.ts',
    'type src/log.ts',
  ],
  'src/project-root.ts': [],
  'src/dev': [
    'src/dev',
    'src/engines',
    'src/project-root.ts',
    'src/domain',
    'src/security',
    'src/operations',
    'reads src/db',
    'src/settings/config.ts',
    'src/temporal/setup.ts',
    'src/temporal/transport.ts',
    'src/db/platform/database.ts',
    'type src/log.ts',
  ],
  // It only looks: at what nothing else of the staff's commands may reach.
  'src/admin/doctor': [
    'src/admin/doctor',
    ...['clocks', 'config'].map((name) => `src/settings/${name}.ts`),
    'src/domain',
    'src/security',
    'src/operations/accounts/list-members.ts',
    'src/operations/read-service-figures.ts',
    'reads src/db',
    'src/temporal',
    'src/db/accounts/attested-rows.ts',
    'src/db/platform/database.ts',
    'src/db/platform/schema-files.ts',
    'src/db/platform/sealed-secret.ts',
  ],
  'src/admin': [
    'src/admin',
    'src/settings/config.ts',
    'src/domain',
    'src/security',
    'src/operations',
    'reads src/db',
    'src/db/platform/database.ts',
  ],
  'src/arguments.mjs': [],
  'src/coalescing-loop.ts': [],
  // The settings alone know what the environment is called.
  'src/settings': ['src/domain', 'src/security', 'src/settings'],
  // What a line about a payment is found by.
  'src/log.ts': ['src/domain/trace.ts'],
  activities: [
    'src/domain',
    'src/security',
    'src/operations',
    'reads src/db',
    'src/operators',
    'src/webhooks',
    'activities',
    'workflows/contract.ts',
    'src/db/payments/payment-progress.ts',
    ...['src/db/payments/operator-exchange.ts', 'src/db/payments/operator-message.ts'],
    'src/db/payments/payee-name.ts',
    'src/coalescing-loop.ts',
    'src/db/work/breakers.ts',
    'src/db/work/call-grants.ts',
    'src/db/work/status-queries.ts',
    'src/db/platform/batcher.ts',
    'src/db/platform/housekeeping.ts',
    'type src/log.ts',
  ],
  // Workflows are replayed, so the other code that they run is named file by file.
  workflows: [
    'workflows',
    'type activities',
    'src/domain/payments/lifecycle.ts',
    'src/domain/payments/payment.ts',
    'src/domain/payments/waiting-party.ts',
    'type src/domain',
  ],
  'src/server': ['src', 'activities', 'workflows/contract.ts'],
  // A client of the HTTP API, like any other. It writes amounts and CSV as the domain does, and reads what people type as the domain does.
  console: [
    'console',
    ...['money', 'csv', 'typed-amount', 'payments/typed-phone'].map((name) => `src/domain/${name}.ts`),
  ],
};

/** The name of a function of src/db that only reads. One that also locks its rows is called `…Locked`. */
const READ_NAME = /^(find|get|list|count|page|measure|read)[A-Z](?!\w*Locked$)/;

/** Parts in which no file imports itself by way of others, values and types alike. */
const PARTS_WITHOUT_CIRCLES = [
  ...[
    'activities',
    'src/api',
    'src/cli',
    'src/db',
    'src/dispatcher',
    'src/domain',
    'src/operations',
    'src/operators',
    'src/security',
  ],
  ...['src/server', 'src/settings', 'src/temporal', 'src/webhooks', 'workflows'],
];

/**
 * Where code may name an operator: the catalogue, the operator's own files, its registrations, and texts for people. All else takes what
 * differs between operators from the catalogue or the port, so that no new operator is forgotten in an `if`.
 */
const MAY_NAME_OPERATORS: readonly string[] = [
  ...['account', 'catalogue', 'prefixes'].map((name) => `src/domain/payments/operator-${name}.ts`),
  ...OPERATOR_IDS.map((id) => `src/operators/${id}`),
  // Another company's systems, which know nothing of the catalogue.
  'src/sandbox',
  // Registrations, and texts for people.
  'src/server/operators.ts',
  'src/api/routes/payments/operator-callbacks.ts',
  'src/dev/embedded-start.ts',
  'src/dev/demo-accounts.ts',
  'src/api/pay/operator-instructions.ts',
  'console/src/ui/operator-names.ts',
];

/** Packages that only these parts may use. */
const PACKAGE_OWNERS: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/db', 'src/engines'],
  koa: ['src/api', 'src/sandbox'],
  '@koa/router': ['src/api', 'src/sandbox'],
  '@koa/bodyparser': ['src/api', 'src/sandbox'],
  undici: ['src/outbound', 'src/webhooks', 'src/operators', 'src/sandbox'],
  '@opentelemetry/api': ['src/server'],
  '@opentelemetry/core': ['src/server'],
  '@opentelemetry/exporter-trace-otlp-http': ['src/server'],
  '@opentelemetry/resources': ['src/server'],
  '@opentelemetry/sdk-trace': ['src/server'],
  '@temporalio/client': ['src/temporal', 'src/engines'],
  '@temporalio/worker': ['src/temporal', 'src/server'],
  '@temporalio/testing': ['src/engines'],
  '@temporalio/activity': ['activities'],
  '@temporalio/workflow': ['workflows'],
  '@temporalio/common': ['workflows', 'activities', 'src/temporal'],
};

/** Words that docs/glossary.md replaced: none may be a part of an identifier or a file name. */
const RETIRED_WORDS = new Set(
  (
    'heard unheard witness standing knock knocks courier couriers parcel parcels fact facts door doors house houses world ' +
    'worlds desk desks ruler rulers proof proofs lapse lapsed settling settlement untaken'
  ).split(' '),
);
/** Names that it replaced; each of their words alone is allowed. */
const RETIRED_NAMES =
  /operatorword|keptanswer|keepanswer|istaken|takenat|notetaken|nevertaken|prompttaken|issettled|untilsettled|checksettled|hasended|isanswered|lookagain|releaseoverdue|toomuchwaits|keyofanopenpayout/;

function partOf(file: string): string | undefined {
  return Object.keys(MAY_IMPORT).find((part) => isWithin(file, part));
}

function isAllowed({ from, to, values, isType }: Import): boolean {
  return (MAY_IMPORT[partOf(from) ?? ''] ?? []).some((entry) => {
    const [part = '', kind] = entry.split(' ').reverse();
    if (!isWithin(to, part)) return false;
    return kind === undefined || isType || (kind === 'reads' && values.every((name) => READ_NAME.test(name)));
  });
}

// `settlement` is a field of stored audit entries, which never change.
function isRetired(name: string): boolean {
  if (name === 'settlement') return false;
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.some((word) => RETIRED_WORDS.has(word)) || RETIRED_NAMES.test(words.join(''));
}

describe('the source tree', () => {
  it('has every source file in a part that the import rules know', () => {
    assert.deepEqual(
      codeFiles.filter((file) => partOf(file) === undefined),
      [],
    );
  });

  it('imports only in the directions that the architecture allows', () => {
    const wrong = codeFiles
      .flatMap(importsOf)
      .filter(({ to }) => /^(src|workflows|activities|test|bench|console)\//.test(to))
      .filter((entry) => !isAllowed(entry));
    assert.deepEqual(
      wrong.map(({ from, to, isType }) => `${from} -> ${isType ? 'type ' : ''}${to}`),
      [],
    );
  });

  it('has no circle of imports in a part', () => {
    assert.deepEqual(PARTS_WITHOUT_CIRCLES.flatMap(circlesIn), []);
  });

  it('changes nothing by a function of src/db whose name says that it reads', () => {
    // The statements of every kind are in one table there.
    const isOneTable = (file: string) => file === 'src/db/accounts/attested-rows.ts';
    const reading = codeFiles.filter((file) => isWithin(file, 'src/db') && !isOneTable(file));
    assert.deepEqual(
      reading.flatMap((file) => writingReadsOf(file, READ_NAME)),
      [],
    );
  });

  it('keeps the checker of campaigns free of the code that it judges', () => {
    const shared = files
      .filter((file) => isWithin(file, 'chaos/checker'))
      .flatMap(importsOf)
      .filter(({ to }) => /^(src|workflows|activities|test|bench|chaos)\//.test(to) && !isWithin(to, 'chaos/checker'));
    assert.deepEqual(shared, []);
  });

  it('names an operator in the catalogue, in its own files and at its registrations, and nowhere else', () => {
    const mayName = (file: string) => MAY_NAME_OPERATORS.some((part) => isWithin(file, part));
    const naming = (file: string) => linesNaming(OPERATOR_IDS, file);
    assert.deepEqual(codeFiles.filter((file) => !mayName(file)).flatMap(naming), []);
    assert.notDeepEqual(codeFiles.filter(mayName).flatMap(naming), []);
  });

  it('calls no operation from another, because each is one transaction', () => {
    const chained = codeFiles
      .filter((file) => isWithin(file, 'src/operations'))
      .flatMap(importsOf)
      .filter(({ to, isType }) => isWithin(to, 'src/operations') && !isType);
    assert.deepEqual(chained, []);
  });

  it('uses packages only in the parts that own them', () => {
    const strays = codeFiles.flatMap(importsOf).filter(({ from, to, isType }) => {
      const owners = PACKAGE_OWNERS[to];
      // Type imports are allowed: a process passes connections on.
      return owners && !isType && !owners.some((part) => isWithin(from, part));
    });
    assert.deepEqual(
      strays.map(({ from, to }) => `${from} -> ${to}`),
      [],
    );
  });

  it('reads the environment in the processes and the staff commands only', () => {
    const readers = codeFiles.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(
      readers.filter((file) => !isWithin(file, 'src/server') && !isWithin(file, 'src/admin')),
      [],
    );
  });

  it('connects the service to PostgreSQL in no other way than with the settings that its statements rely on', () => {
    const connecting = codeFiles.filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return file.startsWith('src/db/') && text.includes("from 'pg'") && /\bnew (Client|Pool)\(/.test(text);
    });
    assert.ok(connecting.length > 3);
    const bare = connecting.filter((file) => !readFileSync(join(root, file), 'utf8').includes('...connectionTo('));
    assert.deepEqual(bare, []);
  });

  it('has no file longer than 400 lines', () => {
    const long = files
      .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_FILE_LINES);
    assert.deepEqual(long, []);
  });

  it('has no function longer than 70 lines or with more than 4 parameters', () => {
    const large = codeFiles.flatMap((file) =>
      functionsOf(file)
        .filter(({ lines, parameters }) => lines > MAX_FUNCTION_LINES || parameters > MAX_PARAMETERS)
        .map(({ name, lines, parameters }) => `${file}: ${name} has ${lines} lines, ${parameters} parameters`),
    );
    assert.deepEqual(large, []);
  });

  it('names files after their content, in kebab-case', () => {
    const wrong = files.filter((file) => {
      const name = basename(file);
      return BANNED_NAMES.test(name) || !/^[a-z0-9]+([.-][a-z0-9]+)*\.(tsx?|mjs)$/.test(name);
    });
    assert.deepEqual(wrong, []);
  });

  it('uses no retired word in an identifier or a file name', () => {
    const identifiers = files.flatMap((file) =>
      identifiersOf(file).map((name) => ({ name, where: `${file}: ${name}` })),
    );
    const names = [...identifiers, ...files.map((file) => ({ name: file, where: file }))];
    assert.deepEqual(
      names.filter(({ name }) => isRetired(name)).map(({ where }) => where),
      [],
    );
  });

  it('has each doc comment directly above its declaration', () => {
    const stray = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = text.matchAll(/\*\/\s*\n\s*(?:\/\*\*|[}\])])/g);
      return [...found].map(({ index }) => `${file}:${text.slice(0, index).split('\n').length}`);
    });
    assert.deepEqual(stray, []);
  });

  it('begins every file with a sentence on its purpose', () => {
    const withoutSentence = files.filter(
      (file) => !/^(#!.*\n)?\/\/ ([A-Z“]|`npm|`malipo|docker-compose)/.test(readFileSync(join(root, file), 'utf8')),
    );
    assert.deepEqual(withoutSentence, []);
  });

  it('contains no machine paths, no registry hosts and no marks of a merge', () => {
    const textFiles = trackedFiles.filter(
      (file) => !/\.(png|ico)$/.test(file) && file !== relative(root, import.meta.filename),
    );
    const UNWANTED =
      /registry\.(npmjs|yarnpkg)\.|proxy\.golang\.org|\/work\/main|\/root\/|\/home\/[a-z]|<{7} |>{7} |(?:> ){7}/;
    assert.deepEqual(
      textFiles.filter((file) => UNWANTED.test(readFileSync(join(root, file), 'utf8'))),
      [],
    );
  });
});
