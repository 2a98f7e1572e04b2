// The doctor's checks of the database itself: for whom it is, what the account may do, its schema, its clock and its keys.
import { findExcessRights } from '../../db/platform/excess-rights.ts';
import { readSchemaDifferences } from '../../db/platform/schema-files.ts';
import { SEALED_COLUMNS } from '../../db/platform/sealed-secret.ts';
import { listOperatorAccounts } from '../../db/accounts/operator-account.ts';
import type { OperatorAccount } from '../../domain/payments/operator-account.ts';
import { ATTESTED_TABLES, listAttestedKeys, verifyRow } from '../../db/accounts/attested-rows.ts';
import { readTransport } from '../../db/platform/transport.ts';
import { findEnvironment } from '../../db/platform/deployment.ts';
import { findFence, listOpenRestores } from '../../db/platform/fence.ts';
import { RESTORE_TEXTS } from '../../domain/fence.ts';
import { tryToOpen } from '../../security/sealing.ts';
import { ageText, type Check } from './check.ts';

/** A clock that is off by more makes tokens, deadlines and ages wrong for people. */
const LARGEST_SKEW_MS = 2000;
/** Of each table or column: enough to see a key that is missing, at a cost that does not grow. */
const ROWS_LOOKED_AT = 50;
/** From then on nothing is sent. */
const OLDEST_FENCE_MS = 5000;
const NAMED = 8;

export const DATABASE_CHECKS: readonly Check[] = [
  {
    name: 'environment',
    on: 'database',
    looksAt: 'the database is migrated for the environment of MALIPO_ENVIRONMENT',
    remedy:
      'A new database: `npm run migrate`. Otherwise the address or MALIPO_ENVIRONMENT belongs to another deployment.',
    async find(db, { settings: { MALIPO_ENVIRONMENT: own } }) {
      const stamped = await findEnvironment(db);
      if (stamped === null) return ['the database was never migrated for an environment'];
      return stamped === own
        ? []
        : [`MALIPO_ENVIRONMENT is ${own ?? 'not usable'}, and the database is for ${stamped}`];
    },
  },
  {
    name: 'migrations',
    on: 'database',
    looksAt: 'the database has every migration of this version, unaltered, and no other',
    remedy: '`npm run migrate` with this version. A database with other files: its message says what to do.',
    async find(db) {
      const { missing, unknown, later } = await readSchemaDifferences(db);
      return [
        ...(missing.length === 0 ? [] : [`the database lacks ${listText(missing.map(({ name }) => name))}`]),
        ...(unknown.length === 0
          ? []
          : [`the database has migrations that this version does not know: ${listText(unknown)}`]),
        ...(later.length === 0
          ? []
          : [{ note: `a later version, beside which this one may run, added ${listText(later)}` }]),
      ];
    },
  },
  {
    name: 'recovery',
    on: 'database',
    looksAt: 'the service is not in recovery after a restore of the database',
    remedy: 'MalipoInRecovery in the runbook.',
    async find(db) {
      const restores = await listOpenRestores(db);
      return restores.map(
        ({ foundAt, reason }) => `in recovery since ${foundAt.toISOString()}: ${RESTORE_TEXTS[reason]}`,
      );
    },
  },
  {
    name: 'fence',
    on: 'database',
    looksAt: 'a process writes the fence every second. A note: none ever did',
    remedy: 'MalipoFenceStale in the runbook.',
    async find(db) {
      const { ageMs } = await findFence(db);
      if (ageMs === null) return [{ note: 'no process has written it yet' }];
      return Math.abs(ageMs) > OLDEST_FENCE_MS ? [`it was written ${ageText(Math.abs(ageMs))} ago`] : [];
    },
  },
  {
    name: 'account',
    on: 'database',
    looksAt: 'the account may do what the application needs, and no more: it is not the owner. In test, more is a note',
    remedy:
      '`npm run accounts` and `npm run migrate`. For rights that remain: operations.md, the accounts of the database.',
    async find(db, { settings: { MALIPO_ENVIRONMENT: own } }) {
      const excess = await findExcessRights(db);
      if (excess.length === 0) return [];
      const text = `the account has more than the application needs: ${listText(excess)}`;
      return [own === 'live' ? text : { note: `${text}; no live server starts with it` }];
    },
  },
  {
    name: 'transport',
    on: 'database',
    looksAt: 'in live, the connection to PostgreSQL is encrypted',
    remedy: 'Enable TLS in PostgreSQL, and set `sslmode=verify-full` in the address.',
    async find(db, { settings: { MALIPO_ENVIRONMENT: own } }) {
      const { isEncrypted } = await readTransport(db);
      return own === 'live' && !isEncrypted ? ['the connection to PostgreSQL is not encrypted'] : [];
    },
  },
  {
    name: 'clocks',
    on: 'database',
    looksAt: `the clocks of this machine and of PostgreSQL differ by ${LARGEST_SKEW_MS / 1000} s at most`,
    remedy: 'Synchronize both clocks over the network (chrony, systemd-timesyncd).',
    async find(db) {
      const before = Date.now();
      const { now } = await readTransport(db);
      // It was read at some moment in between.
      const [early, late] = [before - now.getTime(), Date.now() - now.getTime()];
      const skewMs = early > 0 ? early : late < 0 ? -late : 0;
      if (skewMs <= LARGEST_SKEW_MS) return [];
      return [`this machine is ${ageText(skewMs)} ${early > 0 ? 'ahead of' : 'behind'} PostgreSQL`];
    },
  },
  {
    name: 'sealing keys',
    on: 'database',
    looksAt: `MALIPO_SECRET_KEYS has the key of every sealed secret, and the first ${ROWS_LOOKED_AT} secrets of each kind can be opened`,
    remedy:
      'Put the key back into MALIPO_SECRET_KEYS, behind the first. The sweep then reseals the secrets of that key.',
    async find(db, { settings: { MALIPO_SECRET_KEYS: ring } }) {
      if (ring === undefined) return [];
      const names = ring.map(({ name }) => name);
      let [unknown, unopenable] = [0, 0];
      for (const column of SEALED_COLUMNS) {
        unknown += await column.countOthers(db, names);
        const secrets = await column.list(db, names, ROWS_LOOKED_AT);
        unopenable += secrets.filter(({ context, sealed }) => tryToOpen(sealed, context, ring) === null).length;
      }
      return [
        ...(unknown === 0 ? [] : [`${unknown} secrets are sealed with a key that MALIPO_SECRET_KEYS does not have`]),
        ...(unopenable === 0 ? [] : [`${unopenable} secrets cannot be opened with the key that they name`]),
      ];
    },
  },
  {
    name: 'attestation keys',
    on: 'database',
    looksAt: `the first ${ROWS_LOOKED_AT} rows of each table that says who may do what are attested by a key of MALIPO_ATTESTATION_KEYS`,
    remedy:
      'Put the key back into MALIPO_ATTESTATION_KEYS; `npm run staff -- attestations verify` names every such row.',
    async find(db, { settings: { MALIPO_ATTESTATION_KEYS: ring } }) {
      if (ring === undefined) return [];
      const faults: string[] = [];
      for (const table of ATTESTED_TABLES) {
        const states = [];
        for (const key of await listAttestedKeys(db, table, null, ROWS_LOOKED_AT))
          states.push(await verifyRow(db, table, key));
        const others = states.filter((state) => state !== 'attested' && state !== 'gone').length;
        if (others > 0) faults.push(`${others} of ${states.length} rows of ${table} are not attested by these keys`);
      }
      return faults;
    },
  },
  {
    name: 'operator accounts',
    on: 'database',
    looksAt:
      'an account is active, each is as two of the staff agreed, and MALIPO_OPERATOR_KEYS, if set, opens their credentials',
    remedy:
      '`npm run staff -- account list`; operations.md, accounts with operators. An altered row: restore it from a backup.',
    async find(db, { settings: { MALIPO_ATTESTATION_KEYS: attestationKeys, MALIPO_OPERATOR_KEYS: ring } }) {
      if (attestationKeys === undefined) return [];
      const found = await listOperatorAccounts(db);
      const ids = found.map(({ id }) => String(id));
      const keys = await listAttestedKeys(db, 'operator_accounts', null, ROWS_LOOKED_AT);
      const altered = keys.flat().filter((id) => !ids.includes(id));
      const isOpened = ({ id, credentialsSealed }: OperatorAccount) =>
        ring === undefined || tryToOpen(credentialsSealed, id, ring) !== null;
      return [
        ...(found.some(({ state }) => state === 'active') ? [] : ['no account is active: no payment is accepted']),
        ...altered.map((id) => `${id} is not as the service wrote it: nobody uses it`),
        ...found.filter((account) => !isOpened(account)).map(({ id }) => `no key opens the credentials of ${id}`),
      ];
    },
  },
];

function listText(all: readonly string[]): string {
  const more = all.length > NAMED ? `, and ${all.length - NAMED} more` : '';
  return `${all.slice(0, NAMED).join(', ')}${more}`;
}
