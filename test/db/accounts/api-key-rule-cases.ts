// Invalid rows of API keys that concern when a key ends and from where it works, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, update, wrongInserts, type RuleCase } from '../rule-cases.ts';

const YEAR_MS = 365 * 24 * 60 * 60_000;
const CREATED_AT = new Date();
const ADDRESS = '203.0.113.7/32';

function payoutKey(what: string, expiresAt: Date | null): RuleCase {
  return ruleCase(`a key that creates payouts and ${what}`, /must end within 365 days/, (fixture) => [
    insert(fixture, 'api_keys', {
      scopes: ['payouts:read', 'payouts:write'],
      created_by: fixture.makerId,
      created_at: CREATED_AT,
      expires_at: expiresAt,
    }),
  ]);
}

function changedAddresses(what: string, before: readonly string[] | null, assignment: string): RuleCase {
  const id = newId('key');
  return ruleCase(
    `to change the addresses of an API key ${what}`,
    /what API key .* was created for cannot change/,
    (fixture) => [insert(fixture, 'api_keys', { id, allowed_addresses: before }), update('api_keys', id, assignment)],
  );
}

export const API_KEY_RULE_CASES: readonly RuleCase[] = [
  payoutKey('never ends', null),
  payoutKey('lives for a year and a moment', new Date(CREATED_AT.getTime() + YEAR_MS + 1)),
  ...wrongInserts('api_keys', [
    ['an empty list of addresses', { allowed_addresses: [] }, 'api_keys_allowed_addresses'],
    ['an unknown address in the list', { allowed_addresses: [ADDRESS, null] }, 'api_keys_allowed_addresses'],
    [
      'more than twenty addresses',
      { allowed_addresses: Array.from({ length: 21 }, (_, n) => `203.0.113.${n}/32`) },
      'api_keys_allowed_addresses',
    ],
  ]),
  ruleCase('a block with bits beyond its prefix', /invalid cidr value/, (fixture) => [
    insert(fixture, 'api_keys', { allowed_addresses: ['203.0.113.7/24'] }),
  ]),
  changedAddresses('to others', [ADDRESS], "allowed_addresses = '{0.0.0.0/0}'"),
  changedAddresses('to none', [ADDRESS], 'allowed_addresses = NULL'),
  changedAddresses('that had none', null, `allowed_addresses = '{${ADDRESS}}'`),
];
