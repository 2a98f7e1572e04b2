// Wrong rows of people, their sessions, invitations, policies and the audit log, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import {
  insert,
  insertRow,
  keptForEver,
  wrongInserts,
  type RuleCase,
  type Sql,
  type RuleFixture,
} from '../rule-cases.ts';

const LONG_EMAIL = `${'x'.repeat(250)}@a.bc`;

const USER_CASES: readonly RuleCase[] = [
  ...wrongInserts('users', [
    ['an id of another form', { id: 'usr_1' }, 'users_id_check'],
    ['the same person twice', ({ ownerId }) => ({ id: ownerId }), 'users_pkey'],
    ['an address in capitals', { email: 'Amina@shop.example' }, 'users_email_check'],
    ['an address that is too long', { email: LONG_EMAIL }, 'users_email_check'],
    ['no name', { name: '' }, 'users_name_check'],
    ['a password as it is', { password_hash: 'correct horse' }, 'users_password_hash_check'],
    ['a used code without a secret', { totp_last_step: 1 }, 'users_step_of_a_secret'],
  ]),
  {
    what: 'one address for two people',
    breaks: (fixture) => {
      const email = { email: 'same@shop.example' };
      return [insert(fixture, 'users', email), insert(fixture, 'users', email)];
    },
    by: { constraint: 'users_email_key' },
  },
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
  ['a member of no merchant', () => ({ merchant_id: newId('mer') }), 'members_merchant_id_fkey'],
  ['a member nobody knows', () => ({ user_id: newId('usr') }), 'members_user_id_fkey'],
  ['a member without a role', () => ({ roles: [] }), 'members_roles_check'],
  ['a member in a role there is not', () => ({ roles: ['maker', 'king'] }), 'members_roles_check'],
  ['a member twice', ({ ownerId }) => ({ user_id: ownerId }), 'members_pkey'],
];

const MEMBER_CASES: readonly RuleCase[] = [
  ...MEMBER_ROWS.map(([what, columns, constraint]): RuleCase => ({
    what,
    breaks: (fixture) => [member(fixture, columns(fixture))],
    by: { constraint },
  })),
  {
    what: 'to take the role from the last owner',
    breaks: (fixture) => [changeOwner(fixture, "roles = ARRAY['admin']")],
    by: { says: /left without an owner/ },
  },
  {
    what: 'to remove the last owner',
    breaks: (fixture) => [changeOwner(fixture, 'removed_at = now()')],
    by: { says: /left without an owner/ },
  },
  ...keptForEver('members', ['DELETE', 'TRUNCATE']),
];

const INVITATION_CASES: readonly RuleCase[] = [
  ...wrongInserts('invitations', [
    ['an id of another form', { id: 'inv_1' }, 'invitations_id_check'],
    [
      'a merchant nobody knows',
      () => ({ merchant_id: newId('mer'), created_by: null }),
      'invitations_merchant_id_fkey',
    ],
    ['an address in capitals', { email: 'Amina@shop.example' }, 'invitations_email_check'],
    ['no role', { roles: [] }, 'invitations_roles_check'],
    ['a role there is not', { roles: ['king'] }, 'invitations_roles_check'],
    ['a digest of another length', { token_sha256: Buffer.alloc(31) }, 'invitations_token_sha256_check'],
    ['one by a stranger', ({ otherMemberId }) => ({ created_by: otherMemberId }), 'invitations_created_by_member'],
    [
      'one accepted by a stranger',
      ({ otherMemberId }) => ({ accepted_by: otherMemberId, accepted_at: new Date() }),
      'invitations_accepted_by_member',
    ],
    ['one accepted by nobody', { accepted_at: new Date() }, 'invitations_accepted'],
    [
      'one both accepted and withdrawn',
      ({ ownerId }) => ({ accepted_by: ownerId, accepted_at: new Date(), withdrawn_at: new Date() }),
      'invitations_one_end',
    ],
    [
      'one approved by who sent it',
      ({ ownerId }) => ({ approved_by: ownerId, approved_at: new Date(), approval_sha256: Buffer.alloc(32, 3) }),
      'invitations_by_two',
    ],
    [
      'one approved by a stranger',
      ({ otherMemberId }) => ({
        approved_by: otherMemberId,
        approved_at: new Date(),
        approval_sha256: Buffer.alloc(32, 3),
      }),
      'invitations_approved_by_member',
    ],
    ['one approved without a token', { approved_at: new Date() }, 'invitations_approved'],
    ['one approved at no time', ({ approverId }) => ({ approved_by: approverId }), 'invitations_approved'],
    [
      'an approval’s digest of another length',
      { approved_at: new Date(), approval_sha256: Buffer.alloc(31) },
      'invitations_approval_sha256_check',
    ],
  ]),
  {
    what: 'one invitation twice',
    breaks: (fixture) => {
      const id = { id: newId('inv') };
      return [insert(fixture, 'invitations', id), insert(fixture, 'invitations', id)];
    },
    by: { constraint: 'invitations_pkey' },
  },
  {
    what: 'one token for two invitations',
    breaks: (fixture) => {
      const token = { token_sha256: Buffer.alloc(32, 5) };
      return [insert(fixture, 'invitations', token), insert(fixture, 'invitations', token)];
    },
    by: { constraint: 'invitations_token_sha256_key' },
  },
];

const MEMBER_CHANGE_CASES: readonly RuleCase[] = [
  ...wrongInserts('member_changes', [
    ['an id of another form', { id: 'mch_1' }, 'member_changes_id_check'],
    ['a state there is not', { state: 'asleep', decided_at: new Date() }, 'member_changes_state_check'],
    ['one from no role', { roles_before: [] }, 'member_changes_roles_before_check'],
    ['one to a role there is not', { roles_after: ['king'] }, 'member_changes_roles_after_check'],
    ['one of a stranger', ({ otherMemberId }) => ({ user_id: otherMemberId }), 'member_changes_of_a_member'],
    ['one by a stranger', ({ otherMemberId }) => ({ proposed_by: otherMemberId }), 'member_changes_proposed_by_member'],
    ['one of the person who proposes it', ({ ownerId }) => ({ user_id: ownerId }), 'member_changes_of_another'],
    [
      'a decision without a time',
      ({ approverId }) => ({ state: 'rejected', decided_by: approverId }),
      'member_changes_decided',
    ],
    [
      'a decision by a stranger',
      ({ otherMemberId }) => ({ state: 'approved', decided_by: otherMemberId, decided_at: new Date() }),
      'member_changes_decided_by_member',
    ],
    [
      'an approval by the person who proposed it',
      ({ ownerId }) => ({ state: 'approved', decided_by: ownerId, decided_at: new Date() }),
      'member_changes_by_two',
    ],
    ['a rejection by nobody', { state: 'rejected', decided_at: new Date() }, 'member_changes_by_two'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'member_changes_merchant_id_fkey'],
  ]),
  {
    what: 'one proposal about a member twice',
    breaks: (fixture) => {
      const id = { id: newId('mch') };
      const decided = { state: 'withdrawn', decided_at: new Date() };
      return [insert(fixture, 'member_changes', id), insert(fixture, 'member_changes', { ...id, ...decided })];
    },
    by: { constraint: 'member_changes_pkey' },
  },
  {
    what: 'two proposals of one person about one member that wait',
    breaks: (fixture) => [insert(fixture, 'member_changes'), insert(fixture, 'member_changes')],
    by: { constraint: 'member_changes_one_pending' },
  },
];

const RECOVERY_CASES: readonly RuleCase[] = [
  ...wrongInserts('recoveries', [
    ['a digest of another length', { token_sha256: Buffer.alloc(33) }, 'recoveries_token_sha256_check'],
    ['one of nobody', () => ({ user_id: newId('usr') }), 'recoveries_user_id_fkey'],
    ['one that ends before it begins', { expires_at: new Date(0) }, 'recoveries_end_after_they_begin'],
  ]),
  {
    what: 'two recoveries of one person',
    breaks: (fixture) => [insert(fixture, 'recoveries'), insert(fixture, 'recoveries')],
    by: { constraint: 'recoveries_user_id_key' },
  },
  {
    what: 'one token for two people',
    breaks: (fixture) => {
      const token = { token_sha256: Buffer.alloc(32, 7) };
      return [
        insert(fixture, 'recoveries', token),
        insert(fixture, 'recoveries', { ...token, user_id: fixture.approverId }),
      ];
    },
    by: { constraint: 'recoveries_pkey' },
  },
];

const SESSION_CASES: readonly RuleCase[] = [
  ...wrongInserts('sessions', [
    ['a digest of another length', { token_sha256: Buffer.alloc(33) }, 'sessions_token_sha256_check'],
    ['one of a stranger', ({ otherMemberId }) => ({ user_id: otherMemberId }), 'sessions_of_a_member'],
    ['one that ends before it begins', { expires_at: new Date(0) }, 'sessions_end_after_they_begin'],
  ]),
  {
    what: 'one token for two sessions',
    breaks: (fixture) => {
      const token = { token_sha256: Buffer.alloc(32, 9) };
      return [insert(fixture, 'sessions', token), insert(fixture, 'sessions', token)];
    },
    by: { constraint: 'sessions_pkey' },
  },
];

const COUNTER_CASES: readonly RuleCase[] = [
  ...wrongInserts('attempt_counters', [
    ['a counter of nothing', { subject: '' }, 'attempt_counters_subject_check'],
    ['fewer failures than none', { failures: -1 }, 'attempt_counters_failures_check'],
  ]),
  {
    what: 'two counters of one subject',
    breaks: (fixture) => {
      const subject = { subject: 'address/203.0.113.7' };
      return [insert(fixture, 'attempt_counters', subject), insert(fixture, 'attempt_counters', subject)];
    },
    by: { constraint: 'attempt_counters_pkey' },
  },
];

const POLICY_CASES: readonly RuleCase[] = [
  ...wrongInserts('policies', [
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'policies_merchant_id_fkey'],
    ['an amount below zero', { two_approvers_above_minor: -1 }, 'policies_two_approvers_above_minor_check'],
    ['a limit of nothing', { approver_daily_limit_minor: 0 }, 'policies_approver_daily_limit_minor_check'],
    ['a payout that expires at once', { payout_expires_after_ms: 0 }, 'policies_payout_expires_after_ms_check'],
  ]),
  {
    what: 'two policies of one merchant',
    breaks: (fixture) => [insert(fixture, 'policies'), insert(fixture, 'policies')],
    by: { constraint: 'policies_pkey' },
  },
  ...wrongInserts('policy_changes', [
    ['an id of another form', { id: 'pch_1' }, 'policy_changes_id_check'],
    ['a state there is not', { state: 'asleep', decided_at: new Date() }, 'policy_changes_state_check'],
    ['changes that are a list', { changes: '[]' }, 'policy_changes_changes_check'],
    [
      'a proposal by a stranger',
      ({ otherMemberId }) => ({ proposed_by: otherMemberId }),
      'policy_changes_proposed_by_member',
    ],
    [
      'a decision without a time',
      ({ approverId }) => ({ state: 'rejected', decided_by: approverId }),
      'policy_changes_decided',
    ],
    [
      'a decision by a stranger',
      ({ otherMemberId }) => ({ state: 'rejected', decided_by: otherMemberId, decided_at: new Date() }),
      'policy_changes_decided_by_member',
    ],
    [
      'an approval by the person who proposed it',
      ({ ownerId }) => ({ state: 'approved', decided_by: ownerId, decided_at: new Date() }),
      'policy_changes_by_two',
    ],
    ['an approval by nobody', { state: 'approved', decided_at: new Date() }, 'policy_changes_by_two'],
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'policy_changes_merchant_id_fkey'],
  ]),
  {
    what: 'one proposal twice',
    breaks: (fixture) => {
      const id = { id: newId('pch') };
      return [
        insert(fixture, 'policy_changes', id),
        insert(fixture, 'policy_changes', { ...id, proposed_by: fixture.approverId }),
      ];
    },
    by: { constraint: 'policy_changes_pkey' },
  },
  {
    what: 'two proposals of one person that wait',
    breaks: (fixture) => [insert(fixture, 'policy_changes'), insert(fixture, 'policy_changes')],
    by: { constraint: 'policy_changes_one_pending' },
  },
];

const KEY_CASES: readonly RuleCase[] = wrongInserts('api_keys', [
  ['a creator who is a stranger', ({ otherMemberId }) => ({ created_by: otherMemberId }), 'api_keys_created_by_member'],
  ['payouts that nobody made', { scopes: ['payouts:write'] }, 'api_keys_payouts_have_a_maker'],
  ['a key in its place that is none', () => ({ replaced_by: newId('key') }), 'api_keys_replaced_by_fkey'],
]);

const AUDIT_CASES: readonly RuleCase[] = [
  ...wrongInserts('audit_entries', [
    ['a merchant nobody knows', () => ({ merchant_id: newId('mer') }), 'audit_entries_merchant_id_fkey'],
    ['a person nobody knows', () => ({ user_id: newId('usr') }), 'audit_entries_user_id_fkey'],
    ['a key nobody knows', () => ({ api_key_id: newId('key') }), 'audit_entries_api_key_id_fkey'],
    ['nothing that was done', { action: '' }, 'audit_entries_action_check'],
    ['an outcome there is not', { outcome: 'maybe' }, 'audit_entries_outcome_check'],
    ['a subject that is too long', { subject_id: 'x'.repeat(301) }, 'audit_entries_subject_id_check'],
  ]),
  ...keptForEver('audit_entries', ['UPDATE', 'DELETE', 'TRUNCATE'], 'action'),
];

export const PEOPLE_RULE_CASES: readonly RuleCase[] = [
  ...USER_CASES,
  ...MEMBER_CASES,
  ...INVITATION_CASES,
  ...MEMBER_CHANGE_CASES,
  ...RECOVERY_CASES,
  ...SESSION_CASES,
  ...COUNTER_CASES,
  ...POLICY_CASES,
  ...KEY_CASES,
  ...AUDIT_CASES,
];
