// Invalid rows and changes of recoveries, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, twoRows, update, wrongInserts, type RuleCase } from '../rule-cases.ts';

const RECOVERY = newId('rcv');
const APPROVAL = { approved_by: 'brian', approved_at: new Date(), token_sha256: Buffer.alloc(32, 7) };
const APPROVE = `approved_by = 'brian', approved_at = now(), token_sha256 = decode(repeat('07', 32), 'hex')`;

/** A sound request, and then this change of it. */
function recoveryChange(assignments: string, columns: Readonly<Record<string, unknown>> = {}): RuleCase['breaks'] {
  return (fixture) => [
    insert(fixture, 'recoveries', { id: RECOVERY, ...columns }),
    update('recoveries', RECOVERY, assignments),
  ];
}

export const RECOVERY_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('recoveries', [
    ['a malformed id', { id: 'rcv_1' }, 'recoveries_id_check'],
    ['a recovery of an unknown user', () => ({ user_id: newId('usr') }), 'recoveries_user_id_fkey'],
    ['a recovery without a reason', { reason: '' }, 'recoveries_reason_check'],
    ['a request by nobody’s name', { requested_by: 'Amina' }, 'recoveries_requested_by_check'],
    ['an end before the beginning', { expires_at: new Date(0) }, 'recoveries_end_after_they_begin'],
    ['a token that nobody approved', { token_sha256: APPROVAL.token_sha256 }, 'recoveries_approved'],
    ['a moment of approval without an approver', { approved_at: new Date() }, 'recoveries_approved'],
  ]),
  ruleCase(
    'a recovery that is requested and approved at once',
    /must be requested before it is approved/,
    (fixture) => [insert(fixture, 'recoveries', APPROVAL)],
  ),
  ruleCase(
    'an approval by the one of the staff who requested the recovery',
    'recoveries_by_two',
    recoveryChange(APPROVE, { requested_by: 'brian' }),
  ),
  ruleCase(
    'an approval by nobody’s name',
    'recoveries_approved_by_check',
    recoveryChange(APPROVE.replace("'brian'", "'Brian'")),
  ),
  ruleCase('a token of the wrong length', 'recoveries_token_sha256_check', recoveryChange(APPROVE.replace('32', '31'))),
  ...[
    ['to change why a recovery was requested', `${APPROVE}, reason = 'other'`],
    ['to change who requested a recovery', `${APPROVE}, requested_by = 'carol'`],
    ['to change whose recovery it is', `${APPROVE}, user_id = (SELECT max(id) FROM users WHERE id <> user_id)`],
    ['to lengthen a request', "expires_at = expires_at + interval '1 h'"],
    ['to approve a recovery after its time', APPROVE.replace('now()', 'expires_at')],
  ].map(([what = '', assignments = '']) =>
    ruleCase(what, /can only be approved, once and before it expires/, recoveryChange(assignments)),
  ),
  ruleCase('to approve a recovery twice', /can only be approved, once/, (fixture) => [
    insert(fixture, 'recoveries', { id: RECOVERY }),
    update('recoveries', RECOVERY, APPROVE),
    update('recoveries', RECOVERY, APPROVE.replace("'brian'", "'carol'")),
  ]),
  twoRows('two recoveries of one user', 'recoveries_user_id_key', 'recoveries'),
  ruleCase('one id for two recoveries', 'recoveries_pkey', (fixture) => [
    insert(fixture, 'recoveries', { id: RECOVERY }),
    insert(fixture, 'recoveries', { id: RECOVERY, user_id: fixture.approverId }),
  ]),
  ruleCase('one token for two recoveries', 'recoveries_token_sha256_key', (fixture) => {
    const other = newId('rcv');
    return [
      insert(fixture, 'recoveries', { id: RECOVERY }),
      insert(fixture, 'recoveries', { id: other, user_id: fixture.approverId }),
      update('recoveries', RECOVERY, APPROVE),
      update('recoveries', other, APPROVE),
    ];
  }),
  ruleCase('to forget that an account was recovered', /recovery of user .* cannot be forgotten/, ({ ownerId }) => [
    update('users', ownerId, 'recovered_at = now()'),
    update('users', ownerId, 'recovered_at = NULL'),
  ]),
  ruleCase('to date the recovery of an account back', /recovery of user .* cannot be forgotten/, ({ ownerId }) => [
    update('users', ownerId, 'recovered_at = now()'),
    update('users', ownerId, "recovered_at = now() - interval '1 day'"),
  ]),
];
