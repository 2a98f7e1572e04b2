// What the database refuses of live updates.
import { insertRow, ruleCase, type RuleCase } from './rule-cases.ts';

export const LIVE_UPDATE_RULE_CASES: readonly RuleCase[] = [
  ruleCase('a live update of an unknown kind', 'live_updates_kind', ({ merchantId }) => [
    insertRow('live_updates', { merchant_id: merchantId, kind: 'gift', object_id: 'x', state: 'given' }),
  ]),
];
