// What the database refuses of the checkpoints of the ledger.
import { refusedChanges, ruleCase, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

const CHECKPOINT = `INSERT INTO ledger_checkpoints (account_id, entry, balance_minor, attestation)
  SELECT credit_account_id, credit_entry, credit_balance_minor, $2 FROM ledger_transfers`;
const NEWEST_LAST = 'ORDER BY credit_entry LIMIT 1 OFFSET';
const WITH_UNATTESTED = `INSERT INTO ledger_checkpoints (account_id, entry, balance_minor, attestation, unattested_minor)
  SELECT credit_account_id, credit_entry, credit_balance_minor, $2, -1 FROM ledger_transfers WHERE credit_account_id = $1`;
/** A checkpoint at the entry of the merchant's available balance that so many are before. */
export const checkpointAt = (
  { merchantId }: RuleFixture,
  { before, attestation }: { readonly before: number; readonly attestation: string | null },
): Sql => ({
  text: `${CHECKPOINT} WHERE credit_account_id = $1 ${NEWEST_LAST} ${before}`,
  values: [`${merchantId}/available`, attestation],
});
const checkpoint = (fixture: RuleFixture, before: number): Sql => checkpointAt(fixture, { before, attestation: '' });
const insert = (account: string, entry: number, balance: number): Sql => ({
  text: 'INSERT INTO ledger_checkpoints (account_id, entry, balance_minor) VALUES ($1, $2, $3)',
  values: [account, entry, balance],
});
const update = (assignments: string): Sql => ({ text: `UPDATE ledger_checkpoints SET ${assignments}`, values: [] });

const FORWARD = /the checkpoint of .* goes forward alone/;
const NO_ENTRY = /no entry .* leaves the balance of its checkpoint/;

export const LEDGER_CHECKPOINT_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two checkpoints of an account', 'ledger_checkpoints_pkey', (fixture) => [
    checkpoint(fixture, 0),
    checkpoint(fixture, 0),
  ]),
  ruleCase('a checkpoint with less than nothing that is not attested', 'ledger_checkpoints_unattested', (fixture) => [
    { ...checkpoint(fixture, 0), text: `${WITH_UNATTESTED} ORDER BY credit_entry LIMIT 1` },
  ]),
  ruleCase('a checkpoint of no account', NO_ENTRY, () => [insert('mer_x/available', 1, 0)]),
  ruleCase('a checkpoint at an entry that is not there', NO_ENTRY, ({ merchantId }) => [
    insert(`${merchantId}/available`, 1_000_000, 0),
  ]),
  ruleCase('a checkpoint with another balance than its entry leaves', NO_ENTRY, ({ merchantId }) => [
    insert(`${merchantId}/available`, 1, 1),
  ]),
  ruleCase('a checkpoint that stays where it is, with another balance', FORWARD, (fixture) => [
    checkpoint(fixture, 0),
    update('balance_minor = balance_minor + 1'),
  ]),
  ruleCase('a checkpoint that goes back', FORWARD, (fixture) => [checkpoint(fixture, 1), update('entry = entry - 1')]),
  ruleCase('the checkpoint of one account as that of another', FORWARD, (fixture) => [
    checkpoint(fixture, 0),
    update("account_id = 'mer_x/available', entry = entry + 1"),
  ]),
  ...refusedChanges('ledger_checkpoints', ['DELETE', 'TRUNCATE'], 'account_id'),
];
