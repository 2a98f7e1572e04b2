// Invalid rows and changes of recoveries, each with the rule that refuses it.
import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, twoRows, update, wrongInserts, type RuleCase } from '../rule-cases.ts';
import { confirmedProposal } from './staff-rows.ts';

const RECOVERY = newId('rcv');
const PROPOSAL = newId('spr');
const NOBODY = newId('usr');

/** Two of the staff agree on the recovery of this person. */
function agreedFor(userId: string) {
  return confirmedProposal(PROPOSAL, 'recovery', { user_id: userId });
}

export const RECOVERY_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('recoveries', [
    ['a malformed id', { id: 'rcv_1' }, 'recoveries_id_check'],
    ['an end before the beginning', { expires_at: new Date(0) }, 'recoveries_end_after_they_begin'],
    ['a token of the wrong length', { token_sha256: Buffer.alloc(31) }, 'recoveries_token_sha256_check'],
  ]),
  ruleCase('a recovery of an unknown user', 'recoveries_user_id_fkey', (fixture) => [
    ...agreedFor(NOBODY),
    insert(fixture, 'recoveries', { user_id: NOBODY, proposal_id: PROPOSAL }),
  ]),
  ruleCase('a recovery that nobody of the staff proposed', /two of the staff agree/, (fixture) => [
    insert(fixture, 'recoveries', { proposal_id: PROPOSAL }),
  ]),
  ruleCase('a recovery that one of the staff proposed alone', /two of the staff agree/, (fixture) => [
    ...agreedFor(fixture.ownerId).slice(0, 1),
    insert(fixture, 'recoveries', { proposal_id: PROPOSAL }),
  ]),
  ruleCase('a recovery of somebody else than the staff agreed on', /two of the staff agree/, (fixture) => [
    insert(fixture, 'recoveries', { user_id: fixture.approverId }),
  ]),
  ruleCase('a recovery by an agreement on something else', /two of the staff agree/, (fixture) => [
    ...confirmedProposal(PROPOSAL, 'staff_end', { user_id: fixture.ownerId }),
    insert(fixture, 'recoveries', { proposal_id: PROPOSAL }),
  ]),
  ...["expires_at = expires_at + interval '1 h'", "token_sha256 = decode(repeat('07', 32), 'hex')"].map((change) =>
    ruleCase(`to change of a recovery: ${change.split(' ')[0] ?? ''}`, /is never changed/, (fixture) => [
      insert(fixture, 'recoveries', { id: RECOVERY }),
      update('recoveries', RECOVERY, change),
    ]),
  ),
  twoRows('two recoveries of one user', 'recoveries_user_id_key', 'recoveries'),
  ...(
    [
      ['one id for two recoveries', 'recoveries_pkey', { id: RECOVERY }],
      ['one token for two recoveries', 'recoveries_token_sha256_key', { token_sha256: randomBytes(32) }],
    ] as const
  ).map(([what, constraint, same]) =>
    ruleCase(what, constraint, (fixture) => [
      ...agreedFor(fixture.approverId),
      insert(fixture, 'recoveries', same),
      insert(fixture, 'recoveries', { ...same, user_id: fixture.approverId, proposal_id: PROPOSAL }),
    ]),
  ),
  ruleCase('to forget that an account was recovered', /recovery of user .* cannot be forgotten/, ({ ownerId }) => [
    update('users', ownerId, 'recovered_at = now()'),
    update('users', ownerId, 'recovered_at = NULL'),
  ]),
  ruleCase('to date the recovery of an account back', /recovery of user .* cannot be forgotten/, ({ ownerId }) => [
    update('users', ownerId, 'recovered_at = now()'),
    update('users', ownerId, "recovered_at = now() - interval '1 day'"),
  ]),
];
