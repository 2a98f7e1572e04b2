// Invalid rows of users, members, sessions, invitations, policies and the audit log, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { RECOVERY_RULE_CASES } from './recovery-rule-cases.ts';
import { insert, insertRow, refusedChanges, ruleCase, twoRows, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';

const LONG_EMAIL = `${'x'.repeat(250)}@a.bc`;

const USER_CASES: readonly RuleCase[] = [
  ...wrongInserts('users', [
    ['a malformed id', { id: 'usr_1' }, 'users_id_check'],
    ['a duplicate id', ({ ownerId }) => ({ id: ownerId }), 'users_pkey'],
    ['an e-mail in capital letters', { email: 'Amina@shop.example' }, 'users_email_check'],
    ['an e-mail that is too long', { email: LONG_EMAIL }, 'users_email_check'],
    ['an empty name', { name: '' }, 'users_name_check'],
    ['a password that is not hashed', { password_hash: 'correct horse' }, 'users_password_hash_check'],
    ['a negative number of failed log-ins', { failed_log_ins: -1 }, 'users_failed_log_ins_check'],
    ['a used one-time code without a secret', { totp_last_step: 1 }, 'users_step_of_a_secret'],
  ]),
  twoRows('one e-mail for two users', 'users_email_key', 'users', { email: 'same@shop.example' }),
];

function member(fixture: RuleFixture, columns: Readonly<Record<string, unknown>>): Sql {
  const sound = {
    merchant_id: fixture.merchantId,
    user_id: fixture.otherMemberId,
    roles: ['maker'],
    created_at: new Date(),
  };
  return insertRow('members', { ...sound, ...columns });
}

function changeOwner({ merchantId, ownerId }: RuleFixture, assignments: string): Sql {
  const text = `UPDATE members SET ${assignments} WHERE merchant_id = $1 AND user_id = $2`;
  return { text, values: [merchantId, ownerId] };
}

const MEMBER_ROWS: readonly [string, (fixture: RuleFixture) => Record<string, unknown>, string][] = [
  ['a member of an unknown merchant', () => ({ merchant_id: newId('mer') }), 'members_merchant_id_fkey'],
  ['a member who is an unknown user', () => ({ user_id: newId('usr') }), 'members_user_id_fkey'],
  ['a member without a role', () => ({ roles: [] }), 'members_roles_check'],
  ['a member with an unknown role', () => ({ roles: ['maker', 'king'] }), 'members_roles_check'],
  ['the same member twice', ({ ownerId }) => ({ user_id: ownerId }), 'members_pkey'],
];

const MEMBER_CASES: readonly RuleCase[] = [
  ...MEMBER_ROWS.map(([what, columns, constraint]): RuleCase =>
    ruleCase(what, constraint, (fixture) => [member(fixture, columns(fixture))]),
  ),
  ruleCase('to take the owner role from the last owner', /left without an owner/, (fixture) => [
    changeOwner(fixture, "roles = ARRAY['admin']"),
  ]),
  ruleCase('to remove the last owner', /left without an owner/, (fixture) => [
    changeOwner(fixture, 'removed_at = now()'),
  ]),
  ...refusedChanges('members', ['DELETE', 'TRUNCATE']),
];

const SESSION_CASES: readonly RuleCase[] = [
  ...wrongInserts('sessions', [
    ['a digest of the wrong length', { token_sha256: Buffer.alloc(33) }, 'sessions_token_sha256_check'],
    ['a session of a non-member', ({ otherMemberId }) => ({ user_id: otherMemberId }), 'sessions_of_a_member'],
    ['an end before the beginning', { expires_at: new Date(0) }, 'sessions_end_after_they_begin'],
    ['an id with a wrong prefix', { id: newId('usr') }, 'sessions_id_check'],
    ['a negative number of failed log-ins', { failed_log_ins: -1 }, 'sessions_failed_log_ins_check'],
    ['a browser that calls itself nothing', { user_agent: '' }, 'sessions_user_agent_check'],
  ]),
  twoRows('one id for two sessions', 'sessions_named_once', 'sessions', { id: newId('ses') }),
  twoRows('one token for two sessions', 'sessions_pkey', 'sessions', { token_sha256: Buffer.alloc(32, 9) }),
];

function countOfRefusals({ merchantId, ownerId }: RuleFixture, times: number): Sql {
  const kind = { merchant_id: merchantId, user_id: ownerId, action: 'POST /', reason: 'needs a step-up first' };
  return insertRow('refusal_counts', { ...kind, began_at: new Date(), ends_at: new Date(), times });
}

const COUNTER_CASES: readonly RuleCase[] = [
  ...wrongInserts('attempt_counters', [
    ['an empty subject', { subject: '' }, 'attempt_counters_subject_check'],
    ['a negative number of failures', { failures: -1 }, 'attempt_counters_failures_check'],
  ]),
  twoRows('two counters of one subject', 'attempt_counters_pkey', 'attempt_counters', {
    subject: 'address/203.0.113.7',
  }),
  ruleCase('a count of no refusal', 'refusal_counts_times', (fixture) => [countOfRefusals(fixture, 0)]),
  ruleCase('two counts of one kind of refusal', 'refusal_counts_pkey', (fixture) => [
    countOfRefusals(fixture, 1),
    countOfRefusals(fixture, 2),
  ]),
];

const POLICY_CASES: readonly RuleCase[] = [
  ...wrongInserts('policies', [
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'policies_merchant_id_fkey'],
    ['a negative amount', { two_approvers_above_minor: -1 }, 'policies_two_approvers_above_minor_check'],
    ['a limit of zero', { approver_daily_limit_minor: 0 }, 'policies_approver_daily_limit_minor_check'],
    ['a waiting time of zero', { approver_wait_ms: 0 }, 'policies_approver_wait_ms_check'],
    ['a negative limit of what a key holds', { key_held_limit_minor: -1 }, 'policies_key_held_limit_minor_check'],
    ['a payout expiry of zero', { payout_expires_after_ms: 0 }, 'policies_payout_expires_after_ms_check'],
  ]),
  twoRows('two policies of one merchant', 'policies_pkey', 'policies'),
];

const KEY_CASES: readonly RuleCase[] = wrongInserts('api_keys', [
  [
    'a creator who is not a member',
    ({ otherMemberId }) => ({ created_by: otherMemberId }),
    'api_keys_created_by_member',
  ],
  [
    'the scope payouts:write without a creator',
    { scopes: ['payouts:write'], expires_at: new Date() },
    'api_keys_payouts_have_a_maker',
  ],
  ['a replacement that does not exist', () => ({ replaced_by: newId('key') }), 'api_keys_replaced_by_fkey'],
]);

// An active key that was used, one that is revoked and one that was rolled, to be changed in the same transaction.
const CHANGED_KEY = newId('key');
const KEY_THAT_ENDS = { id: CHANGED_KEY, expires_at: new Date('2030-01-01') };

function keyChange(assignments: string, columns: Readonly<Record<string, unknown>> = {}): RuleCase['breaks'] {
  return (fixture) => [
    insert(fixture, 'api_keys', { ...KEY_THAT_ENDS, created_by: fixture.ownerId, ...columns }),
    update('api_keys', CHANGED_KEY, assignments),
  ];
}

function changeOfUse(assignment: string): Sql {
  return { text: `UPDATE api_key_uses SET ${assignment} WHERE api_key_id = $1`, values: [CHANGED_KEY] };
}

const KEY_FIELDS: readonly string[] = [
  `id = '${newId('key')}'`,
  "name = 'Other'",
  "environment = 'live'",
  "hint = 'wxyz'",
  "key_sha256 = decode(repeat('ab', 32), 'hex')",
  "scopes = scopes || ARRAY['payouts:write']",
  'created_by = NULL',
  "created_at = created_at - interval '1 s'",
];

const KEY_CHANGE_CASES: readonly RuleCase[] = [
  ...KEY_FIELDS.map((assignment): RuleCase =>
    ruleCase(`a change of an API key with ${assignment}`, /created for cannot change/, keyChange(assignment)),
  ),
  ruleCase('to give an API key to another merchant', /created for cannot change/, (fixture) => [
    insert(fixture, 'api_keys', { id: CHANGED_KEY }),
    update('api_keys', CHANGED_KEY, `merchant_id = '${fixture.otherMerchantId}'`),
  ]),
  ruleCase('to forget that an API key was used', /use of API key .* cannot be cleared/, (fixture) => [
    insert(fixture, 'api_keys', { id: CHANGED_KEY }),
    ...['last_used_at = now()', 'last_used_at = NULL'].map(changeOfUse),
  ]),
  ruleCase('to give the use of an API key to another one', /use of API key .* cannot be cleared/, (fixture) => {
    const other = newId('key');
    return [
      insert(fixture, 'api_keys', { id: CHANGED_KEY }),
      insert(fixture, 'api_keys', { id: other }),
      changeOfUse(`api_key_id = '${other}'`),
    ];
  }),
  ruleCase('a second use of an API key', 'api_key_uses_pkey', (fixture) => [
    insert(fixture, 'api_keys', { id: CHANGED_KEY }),
    insertRow('api_key_uses', { api_key_id: CHANGED_KEY }),
  ]),
  ruleCase('the use of an API key that does not exist', 'api_key_uses_api_key_fkey', () => [
    insertRow('api_key_uses', { api_key_id: newId('key') }),
  ]),
  ...refusedChanges('api_key_uses', ['DELETE', 'TRUNCATE'], 'api_key_id'),
  ruleCase(
    'to let an API key live longer',
    /can only end sooner/,
    keyChange("expires_at = expires_at + interval '1 s'"),
  ),
  ruleCase('to take the expiry from an API key', /can only end sooner/, keyChange('expires_at = NULL')),
  ruleCase(
    'to make a revoked API key valid again',
    /can only end sooner/,
    keyChange('revoked_at = NULL', { revoked_at: new Date() }),
  ),
  ruleCase(
    'to change when an API key was revoked',
    /can only end sooner/,
    keyChange("revoked_at = revoked_at + interval '1 day'", { revoked_at: new Date() }),
  ),
  ruleCase('to replace an API key by another merchant’s', /replaced by a key of its own merchant/, (fixture) => {
    const id = newId('key');
    return [
      insert(fixture, 'api_keys', { id, merchant_id: fixture.otherMerchantId }),
      insert(fixture, 'api_keys', { id: CHANGED_KEY }),
      update('api_keys', CHANGED_KEY, `replaced_by = '${id}'`),
    ];
  }),
  ruleCase('to replace an API key by itself', /replaced by a key of its own merchant/, (fixture) => [
    insert(fixture, 'api_keys', { id: CHANGED_KEY }),
    update('api_keys', CHANGED_KEY, 'replaced_by = id'),
  ]),
  ruleCase('to change what replaced an API key', /can be replaced only once/, (fixture) => {
    const [first, second] = [newId('key'), newId('key')];
    return [
      ...[first, second].map((id) => insert(fixture, 'api_keys', { id })),
      insert(fixture, 'api_keys', { id: CHANGED_KEY, replaced_by: first }),
      update('api_keys', CHANGED_KEY, `replaced_by = '${second}'`),
    ];
  }),
  ...refusedChanges('api_keys', ['DELETE', 'TRUNCATE']),
];

const BY_STAFF = { user_id: null, staff_id: newId('stf'), staff: 'amina' };

const AUDIT_CASES: readonly RuleCase[] = [
  ...wrongInserts('audit_entries', [
    ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'audit_entries_merchant_id_fkey'],
    ['an unknown user', () => ({ user_id: newId('usr') }), 'audit_entries_user_id_fkey'],
    ['an unknown API key', () => ({ api_key_id: newId('key') }), 'audit_entries_api_key_id_fkey'],
    ['an empty action', { action: '' }, 'audit_entries_action_check'],
    ['an unknown outcome', { outcome: 'maybe' }, 'audit_entries_outcome_check'],
    ['one of the staff by no name', { ...BY_STAFF, staff: 'Amina' }, 'audit_entries_staff_form'],
    ['one of the staff by no id', { ...BY_STAFF, staff_id: null }, 'audit_entries_staff_form'],
    ['a person and one of the staff', { staff_id: BY_STAFF.staff_id, staff: 'amina' }, 'audit_entries_one_actor'],
    ['a subject id that is too long', { subject_id: 'x'.repeat(301) }, 'audit_entries_subject_id_check'],
  ]),
  ...refusedChanges('audit_entries', ['UPDATE', 'DELETE', 'TRUNCATE'], 'action'),
];

export const PEOPLE_RULE_CASES: readonly RuleCase[] = [
  ...USER_CASES,
  ...MEMBER_CASES,
  ...RECOVERY_RULE_CASES,
  ...SESSION_CASES,
  ...COUNTER_CASES,
  ...POLICY_CASES,
  ...KEY_CASES,
  ...KEY_CHANGE_CASES,
  ...AUDIT_CASES,
];
