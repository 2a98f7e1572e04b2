// Rows that say who may do what, without their attestation or away from their place, each with the rule that refuses it.
import { ATTESTED_TABLES, type AttestedTable } from '../../../src/db/accounts/attested-rows.ts';
import { checkpointAt } from '../payments/ledger-checkpoint-rule-cases.ts';
import { insert, insertRow, ruleCase, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

/** What finds the row of a case again. */
const MARK = '1.by the test';

function attestedRow(fixture: RuleFixture, table: AttestedTable, attestation: string | null): Sql {
  if (table === 'ledger_checkpoints') return checkpointAt(fixture, { before: 0, attestation });
  if (table === 'proposals') return insert(fixture, 'invitations', { attestation });
  if (table !== 'members') return insert(fixture, table, { attestation });
  const { merchantId, otherMemberId: userId } = fixture;
  const row = { merchant_id: merchantId, user_id: userId, roles: ['maker'], created_at: new Date() };
  return insertRow(table, { ...row, attestation });
}

/** What rules of their own say, which refuse the change first. */
const OTHER_REFUSALS = 'is never changed|cannot change|proposes never changes|goes forward alone';

/** The columns that identify a row, where that is more than its id, or something else. */
const KEYS_OF: Readonly<Partial<Record<AttestedTable, readonly string[]>>> = {
  members: ['merchant_id', 'user_id'],
  policies: ['merchant_id'],
  ledger_checkpoints: ['account_id'],
  proposals: ['id', 'merchant_id'],
};

export const ATTESTED_ROW_RULE_CASES: readonly RuleCase[] = ATTESTED_TABLES.flatMap((table) => {
  const change = (assignment: string) => (fixture: RuleFixture) => [
    attestedRow(fixture, table, MARK),
    { text: `UPDATE ${table} SET ${assignment} WHERE attestation = $1`, values: [MARK] },
  ];
  const attestation = new RegExp(`null value in column "attestation" of relation "${table}"`);
  return [
    ruleCase(`a new row of ${table} without an attestation`, attestation, (fixture) => [
      attestedRow(fixture, table, null),
    ]),
    ruleCase(`a row of ${table} that loses its attestation`, attestation, change('attestation = NULL')),
    ruleCase(`a row of ${table} as it was before, with its attestation`, /has a greater number/, (fixture) => [
      attestedRow(fixture, table, '1.first'),
      { text: `UPDATE ${table} SET attestation = '2.second' WHERE attestation = '1.first'`, values: [] },
      { text: `UPDATE ${table} SET attestation = '1.first' WHERE attestation = '2.second'`, values: [] },
    ]),
    ...(KEYS_OF[table] ?? ['id']).map((key) =>
      ruleCase(
        `another ${key} for a row of ${table}`,
        new RegExp(`of a row of ${table} never changes?|${OTHER_REFUSALS}`),
        change(`${key} = overlay(${key} placing 'ZZZZ' from 10)`),
      ),
    ),
  ];
});
