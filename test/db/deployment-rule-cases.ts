// What the database refuses of the row that says for which environment it is.
import { refusedChanges, type RuleCase } from './rule-cases.ts';

const insert = (values: string) => () => [{ text: `INSERT INTO deployment VALUES (${values})`, values: [] }];

export const DEPLOYMENT_RULE_CASES: readonly RuleCase[] = [
  {
    what: 'a second environment for one database',
    breaks: insert("true, 'live', now()"),
    by: { constraint: 'deployment_pkey' },
  },
  {
    what: 'a second environment beside the first',
    breaks: insert("false, 'live', now()"),
    by: { constraint: 'deployment_one_row' },
  },
  {
    what: 'an unknown environment of a database',
    breaks: insert("true, 'staging', now()"),
    by: { constraint: 'deployment_environment' },
  },
  ...refusedChanges('deployment', ['UPDATE', 'DELETE', 'TRUNCATE'], 'environment'),
];
