// Wrong withdrawals of approvals of payouts and refunds, each with the rule that refuses it.
import { insert, ruleCase, update, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

const RELEASE = `state = 'released', previous_state = state, version = version + 1, send_deadline_at = now() + interval '5 minutes',
  release_attestation = '${'a'.repeat(43)}'`;

export const WITHDRAWAL_RULE_CASES: readonly RuleCase[] = [
  ...casesOf('payouts', 'payout_approvals'),
  ...casesOf('reversals', 'reversal_approvals'),
];

function casesOf(table: 'payouts' | 'reversals', approvals: 'payout_approvals' | 'reversal_approvals'): RuleCase[] {
  const withdraw = (fixture: RuleFixture, more = ''): Sql => ({
    text: `UPDATE approvals SET withdrawn_at = now()${more} WHERE payment_id = $1`,
    values: [fixture[table].queued],
  });
  const release = (fixture: RuleFixture) => update('payments', fixture[table].queued, RELEASE);
  const approve = (fixture: RuleFixture, at = new Date()) => insert(fixture, approvals, { approved_at: at });
  return [
    ruleCase(`a second approval of one of the ${table} by the same person`, 'approvals_one_standing', (fixture) => [
      approve(fixture),
      approve(fixture, new Date(Date.now() - 1000)),
    ]),
    ruleCase(`an approval of one of the ${table} as it was withdrawn`, 'approvals_pkey', (fixture) => {
      const at = new Date();
      return [approve(fixture, at), withdraw(fixture), approve(fixture, at)];
    }),
    ruleCase(`an approval of one of the ${table} that is withdrawn twice`, /is withdrawn once/, (fixture) => [
      approve(fixture),
      withdraw(fixture),
      withdraw(fixture),
    ]),
    ruleCase(`an approval of one of the ${table} that is given back`, /is withdrawn once/, (fixture) => [
      approve(fixture),
      withdraw(fixture),
      { text: 'UPDATE approvals SET withdrawn_at = NULL', values: [] },
    ]),
    ruleCase(`an approval of one of the ${table} that changes otherwise`, /does not change otherwise/, (fixture) => [
      approve(fixture),
      withdraw(fixture, ", approved_at = approved_at - interval '1 s'"),
    ]),
    ruleCase(`a withdrawal of an approval of one of the ${table} that is released`, /is decided stays/, (fixture) => [
      approve(fixture),
      release(fixture),
      withdraw(fixture),
    ]),
    ruleCase(`a release of one of the ${table} by an approval that was withdrawn`, /lacks approvals/, (fixture) => [
      approve(fixture),
      withdraw(fixture),
      release(fixture),
    ]),
  ];
}
