// Holds docs/privacy.md against the settings of retention and the code that removes old rows: it names every table, and promises no
// removal that nothing makes.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clockSetting } from '../../src/settings/clocks.ts';
import { APPLICATION_RIGHTS } from '../../src/db/platform/access.ts';
import { CLOCK_NAMES, leastClockMs, REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { IDEMPOTENCY_KEPT_FOR_MS } from '../../src/domain/payments/payment-request.ts';
import { RETAINED_TABLES, RETENTION } from '../../src/domain/retention.ts';
import { findProjectRoot } from '../../src/project-root.ts';

const root = findProjectRoot();
const page = readFileSync(join(root, 'docs/privacy.md'), 'utf8');
const DAY_MS = 86_400_000;
/** Nobody has a use for it once it has ended, so no setting keeps it. */
const REMOVED_AT_THEIR_END = ['passkey_challenges', 'state_changes'];

type Kind = {
  readonly what: string;
  readonly tables: string[];
  readonly setting: string;
  readonly byDefault: string;
  readonly today: string;
};

const kinds: Kind[] = page
  .slice(page.indexOf('## What is stored'), page.indexOf('## Where no personal data is'))
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => {
    const [, what = '', where = '', , setting = '', byDefault = '', today = ''] = line.split('|').map((c) => c.trim());
    return { what, tables: namesIn(where), setting: setting.replaceAll('`', ''), byDefault, today };
  });

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
}

/** The tables whose rows a bounded deletion removes by their age. */
function tablesThatArePurged(): string[] {
  const files = readdirSync(join(root, 'src/db'), { recursive: true, encoding: 'utf8' });
  const code = files.filter((file) => file.endsWith('.ts'));
  const sources = code.map((file) => readFileSync(join(root, 'src/db', file), 'utf8'));
  return sources.flatMap((source) =>
    [...source.matchAll(/boundedDelete\('\w+', \{\s+table: '(\w+)'/g)].map(([, table = '']) => table),
  );
}

describe('docs/privacy.md', () => {
  it('says of each kind of data what happens to it today, and has a setting only where something obeys it', () => {
    assert.ok(kinds.length > 15);
    for (const { what, setting, byDefault, today } of kinds) {
      assert.ok(what !== '' && today !== '', what);
      if (setting === 'none') {
        assert.match(
          today,
          /^(kept; nothing removes it yet|kept for ever: it cannot|kept until|removed by the next sweep)/,
          what,
        );
        assert.equal(byDefault, '', what);
      } else {
        assert.match(today, /^removed so long after/, what);
      }
    }
  });

  it('has the name and the default of every setting of retention, and no other', () => {
    const withSetting = kinds.filter(({ setting }) => setting !== 'none');
    const stated = withSetting.map(({ tables, setting, byDefault }) => [tables.join(), setting, byDefault]);
    const expected = RETAINED_TABLES.map((table) => {
      const clock = RETENTION[table];
      return [table, clockSetting(clock), `${REAL_CLOCKS[clock] / DAY_MS} days`];
    });
    assert.deepEqual(stated.sort(), expected.sort());
    const keptFor = CLOCK_NAMES.filter((name) => name.endsWith('KeptForMs'));
    assert.deepEqual(keptFor.sort(), [...new Set(Object.values(RETENTION))].sort());
  });

  it('says that a table is removed from exactly where the sweep does so', () => {
    assert.deepEqual(tablesThatArePurged().sort(), [...RETAINED_TABLES, ...REMOVED_AT_THEIR_END].sort());
    const removed = kinds.filter(({ today }) => today.startsWith('removed')).flatMap(({ tables }) => tables);
    assert.deepEqual(removed.sort(), [...RETAINED_TABLES, ...REMOVED_AT_THEIR_END].sort());
  });

  it('has a place for every table of the database', () => {
    const named = new Set([...kinds.flatMap(({ tables }) => tables), ...namesIn(page)]);
    const summed = /_transitions$|^schema_migrations$/;
    const missing = Object.keys(APPLICATION_RIGHTS).filter((table) => !named.has(table) && !summed.test(table));
    assert.deepEqual(missing, []);
  });

  it('keeps an Idempotency-Key for as long as it counts, whatever is set', () => {
    assert.equal(leastClockMs('idempotencyKeysKeptForMs'), IDEMPOTENCY_KEPT_FOR_MS);
  });
});
