// The database itself refuses every wrong row: a case for each constraint and each trigger of the schema.
import assert from 'node:assert/strict';
import { DatabaseError } from 'pg';
import type { Database } from '../../src/db/platform/database.ts';
import { CURRENCIES, exponentOf, type Currency } from '../../src/domain/money.ts';
import { COLLECTION_TRANSITIONS } from '../../src/domain/payments/collection.ts';
import { PAYOUT_TRANSITIONS } from '../../src/domain/payments/payout.ts';
import { REVERSAL_TRANSITIONS } from '../../src/domain/payments/reversal.ts';
import { API_KEY_RULE_CASES } from './accounts/api-key-rule-cases.ts';
import { ATTESTED_ROW_RULE_CASES } from './accounts/attested-row-rule-cases.ts';
import { AUDIT_CHAIN_RULE_CASES } from './accounts/audit-chain-rule-cases.ts';
import { BREAKER_RULE_CASES, TOKEN_RULE_CASES } from './operator-rule-cases.ts';
import { CALL_GRANT_RULE_CASES, WORK_RULE_CASES } from './work-rule-cases.ts';
import { FENCE_RULE_CASES } from './fence-rule-cases.ts';
import { FIGURE_RULE_CASES } from './figure-rule-cases.ts';
import { CHECKOUT_RULE_CASES } from './payments/checkout-rule-cases.ts';
import { DISCREPANCY_RULE_CASES } from './payments/discrepancy-rule-cases.ts';
import { LEDGER_CHECKPOINT_RULE_CASES } from './payments/ledger-checkpoint-rule-cases.ts';
import { LEDGER_RULE_CASES } from './payments/ledger-rule-cases.ts';
import { MESSAGE_RULE_CASES } from './payments/message-rule-cases.ts';
import { GENERATION_RULE_CASES } from './payments/generation-rule-cases.ts';
import { ONCE_RULE_CASES } from './payments/once-rule-cases.ts';
import { PAYMENT_RULE_CASES } from './payments/payment-rule-cases.ts';
import { PAYOUT_MONEY_RULE_CASES } from './payments/payout-money-rule-cases.ts';
import { PAYOUT_RULE_CASES } from './payments/payout-rule-cases.ts';
import { REQUEST_RULE_CASES } from './payments/request-rule-cases.ts';
import { PASSKEY_RULE_CASES, RECOVERY_CODE_RULE_CASES } from './accounts/passkey-rule-cases.ts';
import { OPERATOR_ACCOUNT_RULE_CASES } from './accounts/operator-account-rule-cases.ts';
import { PEOPLE_RULE_CASES } from './accounts/people-rule-cases.ts';
import { PROPOSAL_RULE_CASES } from './accounts/proposal-rule-cases.ts';
import { REVERSAL_RULE_CASES } from './payments/reversal-rule-cases.ts';
import { WITHDRAWAL_RULE_CASES } from './payments/withdrawal-rule-cases.ts';
import { STAFF_RULE_CASES } from './accounts/staff-rule-cases.ts';
import { SERVICE_RULE_CASES } from './service-rule-cases.ts';
import { insert, makeRuleFixture, VALID_ROWS } from './rule-cases.ts';
import type { RuleCase, Sql, ValidTable, RuleFixture } from './rule-cases.ts';
import { WEBHOOK_RULE_CASES } from './webhooks/webhook-rule-cases.ts';
import { SEND_RULE_CASES } from './payments/send-rule-cases.ts';
import { valuesOf } from '../support/values-of.ts';
import { useDatabase } from './use-database.ts';
import { inOpenTransaction } from './rows.ts';

const CASES: readonly RuleCase[] = [
  ...PAYMENT_RULE_CASES,
  ...OPERATOR_ACCOUNT_RULE_CASES,
  ...LEDGER_RULE_CASES,
  ...LEDGER_CHECKPOINT_RULE_CASES,
  ...WEBHOOK_RULE_CASES,
  ...PEOPLE_RULE_CASES,
  ...PROPOSAL_RULE_CASES,
  ...STAFF_RULE_CASES,
  ...PASSKEY_RULE_CASES,
  ...RECOVERY_CODE_RULE_CASES,
  ...API_KEY_RULE_CASES,
  ...ATTESTED_ROW_RULE_CASES,
  ...AUDIT_CHAIN_RULE_CASES,
  ...PAYOUT_RULE_CASES,
  ...PAYOUT_MONEY_RULE_CASES,
  ...REVERSAL_RULE_CASES,
  ...DISCREPANCY_RULE_CASES,
  ...SEND_RULE_CASES,
  ...ONCE_RULE_CASES,
  ...GENERATION_RULE_CASES,
  ...MESSAGE_RULE_CASES,
  ...REQUEST_RULE_CASES,
  ...CALL_GRANT_RULE_CASES,
  ...BREAKER_RULE_CASES,
  ...TOKEN_RULE_CASES,
  ...WITHDRAWAL_RULE_CASES,
  ...SERVICE_RULE_CASES,
  ...FENCE_RULE_CASES,
  ...FIGURE_RULE_CASES,
  ...CHECKOUT_RULE_CASES,
  ...WORK_RULE_CASES,
];

describe('the database', () => {
  const db = useDatabase();
  let fixture: RuleFixture;

  before(async () => {
    fixture = await makeRuleFixture(db);
  });

  for (const table of Object.keys(VALID_ROWS) as ValidTable[]) {
    it(`accepts a valid row of ${table}`, async () => {
      await inOpenTransaction(db, (client) => client.query(toQuery(insert(fixture, table))));
    });
  }

  for (const { what, breaks, by } of CASES) {
    it(`refuses ${what}`, async () => {
      const error = await refusalOf(db, breaks(fixture));
      if ('constraint' in by) assert.equal(error.constraint, by.constraint, error.message);
      else assert.match(error.message, by.says);
    });
  }

  it('checks every change of a payment', async () => {
    const { rows } = await db.pool.query<{ name: string }>(
      `SELECT a.attname AS name FROM pg_attribute a
       WHERE a.attrelid = 'payments'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND NOT EXISTS (
         SELECT FROM pg_trigger t WHERE t.tgrelid = a.attrelid AND t.tgtype & 16 > 0 AND a.attnum = ANY (t.tgattr::int2[])
           AND t.tgname IN ('payments_requested_kept', 'payments_check_change'))
       ORDER BY 1`,
    );
    assert.deepEqual(valuesOf(rows, 'name'), ['updated_at']);
  });

  it('has a case here for every constraint', async () => {
    const tried = new Set(CASES.flatMap(({ by }) => ('constraint' in by ? [by.constraint] : [])));
    const { rows } = await db.pool.query<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'u', 'p') ORDER BY 1`,
    );
    const untried = rows.map(({ name }) => name).filter((name) => !tried.has(name));
    assert.deepEqual(untried, NEEDS_NO_CASE);
  });

  it('has the currencies of the code', async () => {
    const { rows } = await db.pool.query<{ code: Currency; exponent: number }>('SELECT code, exponent FROM currencies');
    const inCode = CURRENCIES.map((code) => [code, exponentOf(code)] as const);
    assert.deepEqual(new Map(rows.map(({ code, exponent }) => [code, exponent])), new Map(inCode));
  });

  const tables: readonly (readonly [string, Readonly<Record<string, Partial<Record<string, string>>>>])[] = [
    ['collection', COLLECTION_TRANSITIONS],
    ['payout', PAYOUT_TRANSITIONS],
    ['reversal', REVERSAL_TRANSITIONS],
  ];
  for (const [kind, transitions] of tables) {
    it(`has the transitions of the code of a ${kind}`, async () => {
      const { rows } = await db.pool.query<{ pair: string }>(
        `SELECT from_state || ' > ' || to_state AS pair FROM payment_transitions WHERE kind = $1
         ORDER BY from_state COLLATE "C", to_state COLLATE "C"`,
        [kind],
      );
      const pairs = Object.entries(transitions).flatMap(([from, transitions]) =>
        Object.values(transitions).map((to) => `${from} > ${to}`),
      );
      assert.deepEqual(valuesOf(rows, 'pair'), [...new Set(pairs)].sort());
    });
  }
});

const NEEDS_NO_CASE: readonly string[] = [
  'api_keys_pkey',
  // Numbered by the database.
  'audit_entries_pkey',
  // A trigger refuses such a link first, as do those of the chain that it moves.
  'audit_links_chain_fkey',
  'audit_links_hash_check',
  'audit_links_pkey',
  'audit_links_position_check',
  // A trigger refuses such an attempt first.
  'checkout_attempts_checkout_id_fkey',
  'checkout_attempts_collection_id_fkey',
  'discrepancies_pkey',
  // Serves a foreign key only, as do the others that end in `_key`.
  'endpoints_id_merchant_id_key',
  // A trigger refuses such a row first: a new account has no balance, and only transfers change it.
  'ledger_accounts_balance',
  'ledger_accounts_entry_count',
  'ledger_accounts_id_currency_key',
  // Numbered by the database.
  'ledger_transfers_pkey',
  'merchants_id_currency_key',
  // A trigger refuses such an account first.
  'operator_accounts_confirmed_by_fkey',
  'operator_accounts_proposal_id_fkey',
  'operator_accounts_proposal_id_key',
  'operator_accounts_proposed_by_fkey',
  'operator_callbacks_pkey',
  'operator_exchanges_pkey',
  'payment_transitions_pkey',
  // A trigger refuses such a refund first.
  'payments_collection_id_fkey',
  // A trigger refuses such a recovery first.
  'recoveries_proposal_id_fkey',
  'schema_migrations_pkey',
  // A trigger refuses such a row first, or the name that goes with the proposal is there twice.
  'staff_members_added_by_fkey',
  'staff_members_by_two',
  'staff_members_confirmed_by_fkey',
  'staff_members_proposal_id_fkey',
  'staff_members_proposal_id_key',
  // A trigger refuses such a proposal first.
  'staff_proposals_decided_by_fkey',
  'staff_proposals_proposed_by_fkey',
  // Numbered by the database.
  'state_changes_pkey',
];

function toQuery({ text, values }: Sql): { text: string; values: unknown[] } {
  return { text, values: [...values] };
}

/** The error of the last statement or of the commit; fails when an earlier statement is refused, or none is. */
async function refusalOf(db: Database, statements: readonly Sql[]): Promise<DatabaseError> {
  const [last, ...earlier] = [...statements].reverse();
  assert.ok(last);
  return inOpenTransaction(db, async (client) => {
    for (const sql of earlier.reverse()) await client.query(toQuery(sql));
    try {
      await client.query(toQuery(last));
      await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    } catch (error) {
      assert.ok(error instanceof DatabaseError, String(error));
      return error;
    }
    return assert.fail('the database accepted it');
  });
}
