// What the database refuses of the figures of the service.
import { insertRow, ruleCase, type RuleCase } from '../rule-cases.ts';

const OF = { kind: 'collection', operator: 'mtn-momo', state: 'rule' };
const figure = insertRow('payment_figures', { ...OF, present: 1, entered: 1 });
const duration = insertRow('payment_durations', { ...OF, at_most_seconds: 1, count: 1, seconds: 1 });

export const SERVICE_FIGURE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two figures of the same payments', 'payment_figures_pkey', () => [figure, figure]),
  ruleCase('two numbers of payments of the same duration', 'payment_durations_pkey', () => [duration, duration]),
];
