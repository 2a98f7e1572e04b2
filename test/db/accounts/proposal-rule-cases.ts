// Invalid rows of proposals, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, twoRows, update, wrongInserts } from '../rule-cases.ts';
import type { RuleCase, RuleFixture, Sql } from '../rule-cases.ts';

const DIGEST = Buffer.alloc(32, 3);
const decided = (columns: Readonly<Record<string, unknown>>) => ({ decided_at: new Date(), ...columns });
const ended = (columns: Readonly<Record<string, unknown>>) => ({ ended_at: new Date(), ...columns });

const INVITATION_CASES: readonly RuleCase[] = [
  ...wrongInserts('invitations', [
    ['a malformed id', { id: 'inv_1' }, 'proposals_id'],
    ['the id of another kind', () => ({ id: newId('mch') }), 'proposals_id'],
    ['an unknown merchant', () => ({ merchant_id: newId('mer'), proposed_by: null }), 'proposals_merchant_id_fkey'],
    ['an e-mail in capital letters', { email: 'Amina@shop.example' }, 'proposals_email_check'],
    ['an empty set of roles', { roles: [] }, 'proposals_roles_check'],
    ['an unknown role', { roles: ['king'] }, 'proposals_roles_check'],
    ['a digest of the wrong length', { token_sha256: Buffer.alloc(31) }, 'proposals_token_sha256_check'],
    ['no e-mail', { email: null }, 'proposals_of_kind'],
    ['no roles', { roles: null }, 'proposals_of_kind'],
    ['no token', { token_sha256: null }, 'proposals_of_kind'],
    ['the roles of a member', { roles_before: ['viewer'] }, 'proposals_of_kind'],
    ['a change of the policy', { changes: '{}' }, 'proposals_of_kind'],
    ['the state of a change', ended({ state: 'replaced' }), 'proposals_state'],
    ['an invitation by a non-member', ({ otherMemberId }) => ({ proposed_by: otherMemberId }), 'proposals_by_a_member'],
    [
      'an acceptance by a non-member',
      ({ otherMemberId }) => ended({ state: 'accepted', user_id: otherMemberId }),
      'proposals_about_a_member',
    ],
    ['an acceptance without a person', ended({ state: 'accepted' }), 'proposals_accepted'],
    ['an acceptance without a time', ({ ownerId }) => ({ state: 'accepted', user_id: ownerId }), 'proposals_ended'],
    ['a person who did not accept', ({ ownerId }) => ({ user_id: ownerId }), 'proposals_accepted'],
    [
      'an invitation that is both accepted and withdrawn',
      ({ ownerId }) => ended({ state: 'withdrawn', user_id: ownerId }),
      'proposals_accepted',
    ],
    ['a withdrawal without a time', { state: 'withdrawn' }, 'proposals_ended'],
    ['the time of an end that did not come', ended({}), 'proposals_ended'],
    [
      'an approval by the person who sent the invitation',
      ({ ownerId }) => decided({ state: 'approved', decided_by: ownerId, approval_sha256: DIGEST }),
      'proposals_by_two',
    ],
    [
      'an acceptance after an approval by the person who sent the invitation',
      ({ ownerId: id }) => decided(ended({ state: 'accepted', user_id: id, decided_by: id, approval_sha256: DIGEST })),
      'proposals_by_two',
    ],
    [
      'an approval by a non-member',
      ({ otherMemberId }) => decided({ state: 'approved', decided_by: otherMemberId, approval_sha256: DIGEST }),
      'proposals_decided_by_a_member',
    ],
    ['an approval without a token', decided({ state: 'approved' }), 'proposals_approved'],
    ['a token without an approval', { approval_sha256: DIGEST }, 'proposals_approved'],
    ['an approval without a time', { state: 'approved' }, 'proposals_decided'],
    ['an approval with a token but no time', { state: 'approved', approval_sha256: DIGEST }, 'proposals_approved'],
    ['an approver without an approval', ({ approverId }) => ({ decided_by: approverId }), 'proposals_by_two'],
    ['the time of an approval while it is pending', decided({ approval_sha256: DIGEST }), 'proposals_decided'],
    ['a rejection without a person', decided({ state: 'rejected' }), 'proposals_by_two'],
    [
      'an approval digest of the wrong length',
      decided({ state: 'approved', approval_sha256: Buffer.alloc(31) }),
      'proposals_approval_sha256_check',
    ],
  ]),
  twoRows('the same invitation twice', 'proposals_pkey', 'invitations', { id: newId('inv') }),
  twoRows('one token for two invitations', 'proposals_token_sha256_key', 'invitations', {
    token_sha256: Buffer.alloc(32, 5),
  }),
];

/** Of a change of a member and of the policy alike. */
const WRONG_CHANGES: Parameters<typeof wrongInserts>[1] = [
  ['an unknown state', { state: 'asleep' }, 'proposals_state'],
  ['a proposal by nobody', { proposed_by: null }, 'proposals_of_kind'],
  ['the e-mail of an invitation', { email: 'amina@shop.example' }, 'proposals_of_kind'],
  ['the token of an invitation', { token_sha256: DIGEST }, 'proposals_of_kind'],
  ['a proposal by a non-member', ({ otherMemberId }) => ({ proposed_by: otherMemberId }), 'proposals_by_a_member'],
  ['a decision without a time', { state: 'rejected' }, 'proposals_decided'],
  [
    'a decision by somebody without a time',
    ({ approverId }) => ({ state: 'rejected', decided_by: approverId }),
    'proposals_by_two',
  ],
  [
    'an approval by the person who proposed it',
    ({ ownerId }) => decided({ state: 'approved', decided_by: ownerId }),
    'proposals_by_two',
  ],
  ['a rejection without a person', decided({ state: 'rejected' }), 'proposals_by_two'],
  ['an unknown merchant', () => ({ merchant_id: newId('mer') }), 'proposals_merchant_id_fkey'],
];

const MEMBER_CHANGE_CASES: readonly RuleCase[] = [
  ...wrongInserts('member_changes', [
    ...WRONG_CHANGES,
    ['a malformed id', { id: 'mch_1' }, 'proposals_id'],
    ['an unknown kind', { kind: 'wish' }, 'proposals_id'],
    ['the state of an invitation', ended({ state: 'accepted' }), 'proposals_state'],
    ['a proposal for a member without a role', { roles_before: [] }, 'proposals_roles_before_check'],
    ['a proposal for an unknown role', { roles: ['king'] }, 'proposals_roles_check'],
    ['a proposal about nobody', { user_id: null }, 'proposals_of_kind'],
    ['a proposal without the roles of the member', { roles_before: null }, 'proposals_of_kind'],
    ['a change of the policy', { changes: '{}' }, 'proposals_of_kind'],
    ['a proposal about a non-member', ({ otherMemberId }) => ({ user_id: otherMemberId }), 'proposals_about_a_member'],
    ['a proposal about the proposer', ({ ownerId }) => ({ user_id: ownerId }), 'proposals_about_another'],
    ['the time of a decision that was not made', decided({}), 'proposals_decided'],
    ['the time of a decision in place of a withdrawal', decided(ended({ state: 'withdrawn' })), 'proposals_decided'],
    [
      'a withdrawal by a second person',
      ({ approverId }) => ended({ state: 'withdrawn', decided_by: approverId }),
      'proposals_by_two',
    ],
    ['a replacement without a time', { state: 'replaced' }, 'proposals_ended'],
    [
      'a decision by a non-member',
      ({ otherMemberId }) => decided({ state: 'approved', decided_by: otherMemberId }),
      'proposals_decided_by_a_member',
    ],
    [
      'a rejection by the person who proposed it',
      ({ ownerId }) => decided({ state: 'rejected', decided_by: ownerId }),
      'proposals_by_two',
    ],
    ['an approval with a token', decided({ state: 'approved', approval_sha256: DIGEST }), 'proposals_approved'],
  ]),
  ruleCase('the same proposal about a member twice', 'proposals_pkey', (fixture) => {
    const id = { id: newId('mch') };
    return [
      insert(fixture, 'member_changes', id),
      insert(fixture, 'member_changes', { ...id, ...ended({ state: 'withdrawn' }) }),
    ];
  }),
  twoRows('two pending proposals by one person about one member', 'proposals_one_pending', 'member_changes'),
];

const POLICY_CHANGE_CASES: readonly RuleCase[] = [
  ...wrongInserts('policy_changes', [
    ...WRONG_CHANGES,
    ['a malformed id', { id: 'pch_1' }, 'proposals_id'],
    ['changes that are an array', { changes: '[]' }, 'proposals_changes_check'],
    ['no changes', { changes: null }, 'proposals_of_kind'],
    ['a member', ({ approverId }) => ({ user_id: approverId }), 'proposals_of_kind'],
    ['roles', { roles: ['viewer'] }, 'proposals_of_kind'],
    ['the roles of a member', { roles_before: ['viewer'] }, 'proposals_of_kind'],
    [
      'a decision by a non-member',
      ({ otherMemberId }) => decided({ state: 'rejected', decided_by: otherMemberId }),
      'proposals_decided_by_a_member',
    ],
    ['an approval without a person', decided({ state: 'approved' }), 'proposals_by_two'],
  ]),
  ruleCase('the same proposal twice', 'proposals_pkey', (fixture) => {
    const id = { id: newId('pch') };
    return [
      insert(fixture, 'policy_changes', id),
      insert(fixture, 'policy_changes', { ...id, proposed_by: fixture.approverId }),
    ];
  }),
  twoRows('two pending proposals by one person', 'proposals_one_pending', 'policy_changes'),
];

const ENDS: readonly (readonly [what: string, breaks: (fixture: RuleFixture) => readonly Sql[]])[] = (
  [
    ['invitations', 'inv', 'withdrawn'],
    ['member_changes', 'mch', 'replaced'],
    ['policy_changes', 'pch', 'withdrawn'],
  ] as const
).flatMap(([kind, prefix, state]) => {
  const id = newId(prefix);
  const isEnded = (fixture: RuleFixture) => insert(fixture, kind, { id, ...ended({ state }) });
  const isRejected = (fixture: RuleFixture) =>
    insert(fixture, kind, { id, ...decided({ state: 'rejected', decided_by: fixture.approverId }) });
  const reopened = "state = 'pending', decided_by = NULL, decided_at = NULL, ended_at = NULL";
  return [
    [
      `a ${state} row of ${kind} that is pending again`,
      (f: RuleFixture) => [isEnded(f), update('proposals', id, reopened)],
    ],
    [
      `a rejected row of ${kind} that is pending again`,
      (f: RuleFixture) => [isRejected(f), update('proposals', id, reopened)],
    ],
    [
      `another time of the end of a row of ${kind}`,
      (f: RuleFixture) => [isEnded(f), update('proposals', id, "ended_at = ended_at - interval '1 s'")],
    ],
    [
      `another time of the decision on a row of ${kind}`,
      (f: RuleFixture) => [isRejected(f), update('proposals', id, "decided_at = decided_at - interval '1 s'")],
    ],
    [
      `another person who decided on a row of ${kind}`,
      (f: RuleFixture) => [isRejected(f), update('proposals', id, `decided_by = '${f.makerId}'`)],
    ],
  ] as const;
});

const KINDS: readonly RuleCase[] = (['kind', 'merchant_id', 'id'] as const).map((column) =>
  ruleCase(`another ${column} for a proposal`, /kind and merchant of a row of proposals never change/, (fixture) => {
    const id = newId('pch');
    const other = { kind: 'member_change', merchant_id: fixture.otherMerchantId, id: newId('pch') }[column];
    return [insert(fixture, 'policy_changes', { id }), update('proposals', id, `${column} = '${other}'`)];
  }),
);

export const PROPOSAL_RULE_CASES: readonly RuleCase[] = [
  ...INVITATION_CASES,
  ...MEMBER_CHANGE_CASES,
  ...POLICY_CHANGE_CASES,
  ...ENDS.map(([what, breaks]) => ruleCase(what, /stays as it was decided/, breaks)),
  ...KINDS,
];
