// Wrong withdrawals of approvals of payouts and refunds, each with the rule that refuses it.
import { insert, ruleCase, update, type RuleCase, type RuleFixture, type Sql } from '../rule-cases.ts';

type Approved = { readonly table: 'payouts' | 'reversals'; readonly kind: 'payout' | 'reversal' };

const RELEASE = `state = 'released', send_deadline_at = now() + interval '5 minutes', release_attestation = '${'a'.repeat(43)}'`;
/** Payouts count their states. */
const RELEASES = { payouts: `${RELEASE}, version = version + 1, previous_state = state`, reversals: RELEASE };

export const WITHDRAWAL_RULE_CASES: readonly RuleCase[] = (
  [
    { table: 'payouts', kind: 'payout' },
    { table: 'reversals', kind: 'reversal' },
  ] as const
).flatMap(casesOf);

function casesOf({ table, kind }: Approved): RuleCase[] {
  const approvals = `${kind}_approvals` as const;
  const withdraw = (fixture: RuleFixture, more = ''): Sql => ({
    text: `UPDATE ${approvals} SET withdrawn_at = now()${more} WHERE ${kind}_id = $1`,
    values: [fixture[table].queued],
  });
  const release = (fixture: RuleFixture) => update(table, fixture[table].queued, RELEASES[table]);
  const approve = (fixture: RuleFixture, at = new Date()) => insert(fixture, approvals, { approved_at: at });
  return [
    ruleCase(`a second approval of one of the ${table} by the same person`, `${approvals}_one_standing`, (fixture) => [
      approve(fixture),
      approve(fixture, new Date(Date.now() - 1000)),
    ]),
    ruleCase(`an approval of one of the ${table} as it was withdrawn`, `${approvals}_pkey`, (fixture) => {
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
      { text: `UPDATE ${approvals} SET withdrawn_at = NULL`, values: [] },
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
