// Cases that the tests of collections, payouts and reversals share: a table of transitions, and rules of progress.
import assert from 'node:assert/strict';

/** What each state leads to, by the kind of transition. */
type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Tests every state with every kind; `expected` says where a pair such as `prompted paid` leads. */
export function itIsTheTable(
  transitions: Transitions,
  kinds: readonly string[],
  expected: Readonly<Record<string, string>>,
): void {
  const states = Object.keys(transitions);
  for (const state of states) {
    for (const kind of kinds) {
      const to = expected[`${state} ${kind}`];
      it(`${to === undefined ? 'leads nowhere' : `leads to ${to}`} from ${state} by ${kind}`, () => {
        assert.equal(transitions[state]?.[kind], to);
      });
    }
  }

  it('has no other kind of transition', () => {
    const known = new Set(Object.values(transitions).flatMap((ofState) => Object.keys(ofState)));
    assert.deepEqual([...known].sort(), [...kinds].sort());
  });

  it('leads to every state but the first, and never back to it', () => {
    const targets = new Set(Object.values(transitions).flatMap((ofState) => Object.values(ofState)));
    assert.deepEqual([...targets].sort(), states.slice(1).sort());
  });
}

export type ProgressRule<Case, Recorded> = {
  readonly title: string;
  readonly fits: (given: Case) => boolean;
  readonly records: (given: Case) => Recorded;
};

/** Tests each rule, that none is left out, and that only what the table of transitions allows is recorded. */
export function itFollowsTheTable<
  Case extends { readonly state: string },
  Recorded extends { readonly kind: string } | null,
>(
  rules: readonly ProgressRule<Case, Recorded>[],
  allCases: readonly Case[],
  decide: (given: Case) => Recorded,
  transitions: Transitions,
): void {
  const untried = itFollowsRules(rules, allCases, decide);

  it('is tested with every rule of the table', () => {
    assert.equal(untried.size, 0);
  });

  it('records only what the table of transitions allows in the state', () => {
    for (const given of allCases) {
      const recorded = decide(given);
      assert.ok(recorded === null || transitions[given.state]?.[recorded.kind] !== undefined);
    }
  });
}

/** Tests each rule with the cases that no rule before it fits. Returns the rules that were not tested yet. */
export function itFollowsRules<Case, Recorded>(
  rules: readonly ProgressRule<Case, Recorded>[],
  allCases: readonly Case[],
  decide: (given: Case) => Recorded,
): ReadonlySet<ProgressRule<Case, Recorded>> {
  const untried = new Set(rules);
  for (const rule of rules) {
    const cases = allCases.filter((given) => rules.find(({ fits }) => fits(given)) === rule);
    it(`${rule.title} (${cases.length} cases)`, () => {
      assert.ok(cases.length > 0);
      for (const given of cases) assert.deepEqual(decide(given), rule.records(given), JSON.stringify(given));
      untried.delete(rule);
    });
  }
  return untried;
}
