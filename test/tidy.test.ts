// Checks the rules of the source tree: import directions, sizes, names and vocabulary. All else is a matter of style.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import ts from 'typescript';
import {
  circlesIn,
  codeFiles,
  files,
  importsOf,
  isWithin,
  root,
  sourceOf,
  type Import,
} from './support/source-files.ts';

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;
const MAX_PARAMETERS = 4;
const BANNED_NAMES = /^(utils?|helpers?|common|shared|misc|manager|lib|core|base|handlers?)(\.|-|$)/;

/**
 * From each part, the parts (or single files) it may import; `type` entries by `import type` only. The dispatcher and
 * the activities call operations and queries, and reach src/db directly only for thin reads and writes: single
 * statements that decide nothing. The files with such statements are named one by one.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/domain': ['src/domain'],
  'src/security': ['src/domain', 'src/security'],
  'src/db': ['src/domain', 'src/security', 'src/db', 'type src/log.ts'],
  // Binds the operations of payments to their context.
  'src/operations/payments/create-payments.ts': ['src/operations'],
  'src/operations': ['src/domain', 'src/security', 'src/db', 'type src/operations'],
  'src/queries': ['src/domain', 'src/security', 'src/db'],
  'src/outbound': ['src/outbound'],
  'src/operators': ['src/domain', 'src/outbound', 'src/operators'],
  'src/webhooks': ['src/domain', 'src/security', 'src/outbound', 'src/webhooks', 'type src/log.ts'],
  'src/temporal': ['src/domain', 'src/temporal', 'workflows/contract.ts', 'type src/log.ts'],
  // The sandbox shares no code with the adapters, so that the same mistake cannot hide in both.
  'src/sandbox': ['src/sandbox'],
  'src/dispatcher': [
    'src/domain',
    'src/operations',
    'src/queries',
    'src/webhooks',
    'src/temporal',
    'src/dispatcher',
    'src/db/batcher.ts',
    'src/db/work.ts',
    'src/db/work-checks.ts',
    'src/db/rechecks.ts',
    'src/db/housekeeping.ts',
    'src/db/payments/totals.ts',
    'src/db/backlog.ts',
    'src/db/service-figures.ts',
    'src/db/webhooks/delivery.ts',
    'type src/db/database.ts',
    'type src/log.ts',
  ],
  'src/api': [
    'src/domain',
    'src/security',
    'src/operations',
    'src/queries',
    'src/api',
    'type src/temporal/client.ts',
    'type src/temporal/workflow-links.ts',
    'type src/db/database.ts',
    'type src/log.ts',
  ],
  // A client of the public HTTP API. Beyond that it knows only the domain's names.
  'src/cli': ['src/domain', 'src/security', 'src/cli'],
  'src/dev': [
    'src/dev',
    'src/domain',
    'src/security',
    'src/operations',
    'src/queries',
    'src/config.ts',
    'src/temporal/setup.ts',
    'src/temporal/transport.ts',
    'src/db/database.ts',
    'src/db/access.ts',
    'src/db/create-accounts.ts',
    'type src/log.ts',
  ],
  // It only looks: at what nothing else of the staff's commands may reach.
  'src/admin/doctor': [
    'src/admin/doctor',
    'src/config.ts',
    'src/clock-settings.ts',
    'src/domain',
    'src/security',
    'src/queries',
    'src/temporal',
    'src/db/attested-rows.ts',
    'src/db/database.ts',
    'src/db/excess-rights.ts',
    'src/db/migrate.ts',
    'src/db/sealed-secret.ts',
    'src/db/transport.ts',
  ],
  'src/admin': [
    'src/admin',
    'src/config.ts',
    'src/domain',
    'src/security',
    'src/operations',
    'src/queries',
    'src/db/database.ts',
  ],
  'src/arguments.mjs': [],
  'src/config.ts': [
    'src/domain',
    'src/security',
    'src/unsafe-settings.ts',
    'src/secret-files.ts',
    'src/clock-settings.ts',
    'src/trace-settings.ts',
    'src/setting-values.ts',
  ],
  'src/setting-values.ts': ['src/domain', 'src/security'],
  'src/clock-settings.ts': ['src/domain'],
  'src/secret-files.ts': [],
  'src/trace-settings.ts': ['src/setting-values.ts'],
  'src/unsafe-settings.ts': ['src/domain'],
  // What a line about a payment is found by.
  'src/log.ts': ['src/domain/trace.ts'],
  activities: [
    'src/domain',
    'src/security',
    'src/operations',
    'src/queries',
    'src/operators',
    'src/webhooks',
    'activities',
    'workflows/contract.ts',
    'src/db/payments/payment-progress.ts',
    'src/db/payments/operator-exchange.ts',
    'src/db/rechecks.ts',
    'src/db/housekeeping.ts',
    'src/db/webhooks/delivery.ts',
    'type src/db/database.ts',
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
  'src/processes': ['src', 'activities', 'workflows/contract.ts'],
  // A client of the HTTP API, like any other. It writes amounts and CSV as the domain does, and reads what people type as the domain does.
  console: [
    'console',
    ...['money', 'csv', 'typed-amount', 'payments/typed-phone'].map((name) => `src/domain/${name}.ts`),
  ],
};

/** In these parts no file imports itself through others, neither values nor types. */
const PARTS_WITHOUT_CIRCLES = ['src/domain', 'activities', 'workflows'];

/** Packages that only these parts may use. */
const PACKAGE_OWNERS: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/db', 'src/dev'],
  koa: ['src/api', 'src/sandbox'],
  '@koa/router': ['src/api', 'src/sandbox'],
  '@koa/bodyparser': ['src/api', 'src/sandbox'],
  undici: ['src/outbound', 'src/webhooks', 'src/operators', 'src/sandbox'],
  '@opentelemetry/api': ['src/processes'],
  '@opentelemetry/core': ['src/processes'],
  '@opentelemetry/exporter-trace-otlp-http': ['src/processes'],
  '@opentelemetry/resources': ['src/processes'],
  '@opentelemetry/sdk-trace': ['src/processes'],
  '@temporalio/client': ['src/temporal', 'src/dev'],
  '@temporalio/worker': ['src/temporal', 'src/processes'],
  '@temporalio/testing': ['src/dev'],
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

function isAllowed({ from, to, isType }: Import): boolean {
  const allowed = MAY_IMPORT[partOf(from) ?? ''] ?? [];
  return allowed.some((entry) =>
    entry.startsWith('type ') ? isType && isWithin(to, entry.slice('type '.length)) : isWithin(to, entry),
  );
}

// `settlement` is a field of stored audit entries, which never change.
function isRetired(name: string): boolean {
  if (name === 'settlement') return false;
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.some((word) => RETIRED_WORDS.has(word)) || RETIRED_NAMES.test(words.join(''));
}

function identifiersOf(file: string): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(sourceOf(file));
  return [...found];
}

function functionsOf(file: string): { name: string; lines: number; parameters: number }[] {
  const source = sourceOf(file);
  const found: { name: string; lines: number; parameters: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      const name = node.name && ts.isIdentifier(node.name) ? node.name.text : `line ${first + 1}`;
      found.push({ name, lines: last - first + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
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

  for (const part of PARTS_WITHOUT_CIRCLES) {
    it(`has no circle of imports in ${part}`, () => {
      assert.deepEqual(circlesIn(part), []);
    });
  }

  it('keeps the checker of campaigns free of the code that it judges', () => {
    const shared = files
      .filter((file) => isWithin(file, 'chaos/checker'))
      .flatMap(importsOf)
      .filter(({ to }) => /^(src|workflows|activities|test|bench|chaos)\//.test(to) && !isWithin(to, 'chaos/checker'));
    assert.deepEqual(shared, []);
  });

  it('calls no operation from another, because each is one transaction', () => {
    const chained = codeFiles
      .filter((file) => isWithin(file, 'src/operations') || isWithin(file, 'src/queries'))
      .flatMap(importsOf)
      .filter(({ to, isType }) => (isWithin(to, 'src/operations') || isWithin(to, 'src/queries')) && !isType)
      // It binds operations to their context and calls none itself.
      .filter(({ from }) => from !== 'src/operations/payments/create-payments.ts');
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
      readers.filter((file) => !isWithin(file, 'src/processes') && !isWithin(file, 'src/admin')),
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

  it('names files for what they hold, in kebab-case', () => {
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

  it('has each doc comment right above what it describes', () => {
    const stray = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = text.matchAll(/\*\/\s*\n\s*(?:\/\*\*|[}\])])/g);
      return [...found].map(({ index }) => `${file}:${text.slice(0, index).split('\n').length}`);
    });
    assert.deepEqual(stray, []);
  });

  it('begins every file with a sentence on what it is for', () => {
    const withoutSentence = files.filter(
      (file) => !/^(#!.*\n)?\/\/ ([A-Z“]|`npm|`malipo|docker-compose)/.test(readFileSync(join(root, file), 'utf8')),
    );
    assert.deepEqual(withoutSentence, []);
  });

  it('contains no machine paths, no registry hosts and no marks of a merge', () => {
    const textFiles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
      .toString()
      .split('\n')
      .filter((file) => file !== '' && !/\.(png|ico)$/.test(file) && file !== relative(root, import.meta.filename));
    const UNWANTED =
      /registry\.(npmjs|yarnpkg)\.|proxy\.golang\.org|\/work\/main|\/root\/|\/home\/[a-z]|<{7} |>{7} |(?:> ){7}/;
    assert.deepEqual(
      textFiles.filter((file) => UNWANTED.test(readFileSync(join(root, file), 'utf8'))),
      [],
    );
  });
});
