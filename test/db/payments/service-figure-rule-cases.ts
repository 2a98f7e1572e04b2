// What the database refuses of the figures of the service.
import { insertRow, ruleCase, type RuleCase } from '../rule-cases.ts';

const figure = (columns: object) =>
  insertRow('payment_figures', {
    ...{ kind: 'collection', operator: 'mtn-momo', state: 'rule', entered: 1, exited: 0, seconds: 0 },
    ...columns,
  });

export const SERVICE_FIGURE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('two figures of the same payments', 'payment_figures_key', () => [figure({}), figure({})]),
  ruleCase('two numbers of payments of the same duration', 'payment_figures_key', () => [
    figure({ at_most_seconds: 1 }),
    figure({ at_most_seconds: 1 }),
  ]),
];
