// Invalid rows and changes of the staff and of what they propose, each with the rule that refuses it.
import { newId, type StaffProposalId } from '../../../src/domain/ids.ts';
import { AMINA, BRIAN } from '../../support/staff.ts';
import { insert, ruleCase, twoRows, update, wrongInserts, type RuleCase } from '../rule-cases.ts';
import { confirmedProposal } from './staff-rows.ts';

const PROPOSAL = newId('spr');
const NOBODY = newId('stf');
const CONFIRM = `state = 'confirmed', decided_at = now(), decided_by = '${BRIAN.id}'`;
const HASH = "'$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA'";

/** A sound proposal, and then this change of it. */
function proposalChange(assignments: string, columns: Readonly<Record<string, unknown>> = {}): RuleCase['breaks'] {
  return (fixture) => [
    insert(fixture, 'staff_proposals', { id: PROPOSAL, ...columns }),
    update('staff_proposals', PROPOSAL, assignments),
  ];
}

/** Agreed proposals about the person, and then this change of their row. */
function memberChange(
  assignments: string,
  agreed: readonly (readonly [StaffProposalId, kind: string, payload: object])[] = [],
): RuleCase['breaks'] {
  return () => [
    ...agreed.flatMap((proposal) => confirmedProposal(...proposal)),
    update('staff_members', AMINA.id, assignments),
  ];
}

const dismissed = (state: string, proposal: string | null = PROPOSAL) =>
  `state = '${state}', ended_at = ${state === 'ended' ? 'now()' : 'NULL'}, proposal_id = ${proposal === null ? 'NULL' : `'${proposal}'`},
   password_hash = NULL, totp_secret_sealed = NULL, totp_last_step = NULL`;
const ABOUT_AMINA = { member: AMINA.id };
const AS_FOUNDER = { proposal_id: null, added_by: null, confirmed_by: null };

const PROPOSAL_CASES: readonly RuleCase[] = [
  ...wrongInserts('staff_proposals', [
    ['a malformed id', { id: 'spr_1' }, 'staff_proposals_id_check'],
    ['a malformed kind', { kind: 'Kind' }, 'staff_proposals_kind_check'],
    ['a payload that is no object', { payload: '[]' }, 'staff_proposals_payload_check'],
    ['a digest of another length', { token_sha256: Buffer.alloc(31) }, 'staff_proposals_token_sha256_check'],
    ['an end before the beginning', { expires_at: new Date(0) }, 'staff_proposals_end_after_they_begin'],
    ['one who decides what is pending', { decided_by: BRIAN.id }, 'staff_proposals_decided'],
    [
      'the token of a confirmation that is none',
      { confirmation_sha256: Buffer.alloc(32) },
      'staff_proposals_confirmation',
    ],
  ]),
  ruleCase('a proposal that is made as confirmed', /must be made before it is decided/, (fixture) => [
    insert(fixture, 'staff_proposals', { state: 'confirmed', decided_by: BRIAN.id, decided_at: new Date() }),
  ]),
  ruleCase('a proposal by none of the staff', /is none of the enrolled staff/, (fixture) => [
    insert(fixture, 'staff_proposals', { proposed_by: NOBODY }),
  ]),
  ruleCase('a proposal by one of the staff who has not enrolled', /is none of the enrolled staff/, (fixture) => [
    insert(fixture, 'staff_proposals', { proposed_by: fixture.staff.newcomerId }),
  ]),
  ruleCase(
    'a confirmation by the one who proposed it',
    'staff_proposals_by_two',
    proposalChange(CONFIRM, { proposed_by: BRIAN.id }),
  ),
  ruleCase(
    'a confirmation by none of the staff',
    /is none of the enrolled staff/,
    proposalChange(CONFIRM.replace(BRIAN.id, NOBODY)),
  ),
  ruleCase(
    'a confirmation of what somebody proposed who was ended since',
    /is none of the enrolled staff/,
    (fixture) => [
      insert(fixture, 'staff_proposals', { id: PROPOSAL }),
      ...endOf(AMINA.id),
      update('staff_proposals', PROPOSAL, CONFIRM),
    ],
  ),
  ruleCase(
    'a proposal in an unknown state',
    'staff_proposals_state_check',
    proposalChange(CONFIRM.replace('confirmed', 'done')),
  ),
  ruleCase(
    'a digest of a confirmation of another length',
    'staff_proposals_confirmation_sha256_check',
    proposalChange(`${CONFIRM}, confirmation_sha256 = '\\x00'`),
  ),
  ruleCase(
    'a confirmation from the end of a proposal on',
    /has expired/,
    proposalChange(CONFIRM.replace('now()', 'expires_at')),
  ),
  ruleCase('to decide a proposal twice', /is decided once/, (fixture) => [
    insert(fixture, 'staff_proposals', { id: PROPOSAL }),
    update('staff_proposals', PROPOSAL, CONFIRM.replace('confirmed', 'rejected')),
    update('staff_proposals', PROPOSAL, CONFIRM),
  ]),
  ruleCase('to make a decided proposal pending', /is decided once/, (fixture) => [
    insert(fixture, 'staff_proposals', { id: PROPOSAL }),
    update('staff_proposals', PROPOSAL, CONFIRM),
    update('staff_proposals', PROPOSAL, "state = 'pending', decided_by = NULL, decided_at = NULL"),
  ]),
  ...[
    ['payload', `'{"name": "frank"}'`],
    ['kind', "'recovery'"],
    ['proposed_by', `'${BRIAN.id}'`],
    ['expires_at', "expires_at + interval '1 h'"],
    ['token_sha256', "decode(repeat('07', 32), 'hex')"],
  ].map(([column = '', value = '']) =>
    ruleCase(
      `to change the ${column} of a proposal of the staff`,
      /what proposal .* proposes never changes/,
      proposalChange(`${column} = ${value}`),
    ),
  ),
  twoRows('one id for two proposals of the staff', 'staff_proposals_pkey', 'staff_proposals', { id: PROPOSAL }),
  twoRows('one token for two proposals of the staff', 'staff_proposals_token_sha256_key', 'staff_proposals', {
    token_sha256: Buffer.alloc(32, 7),
  }),
  ruleCase('one token for two confirmations', 'staff_proposals_confirmation_sha256_key', (fixture) => {
    const ids = [newId('spr'), newId('spr')];
    const confirm = `${CONFIRM}, confirmation_sha256 = decode(repeat('07', 32), 'hex')`;
    return [
      ...ids.map((id) => insert(fixture, 'staff_proposals', { id })),
      ...ids.map((id) => update('staff_proposals', id, confirm)),
    ];
  }),
];

/** Two of the staff agree that this one ends. */
function endOf(id: string) {
  const proposal = newId('spr');
  return [
    ...confirmedProposal(proposal, 'staff_end', { member: id }),
    update('staff_members', id, dismissed('ended', proposal)),
  ];
}

const MEMBER_CASES: readonly RuleCase[] = [
  ...wrongInserts('staff_members', [
    ['a malformed id', { id: 'stf_1' }, 'staff_members_id_check'],
    ['no name', { ...AS_FOUNDER, founder: 1, name: 'Amina' }, 'staff_members_name_check'],
    ['an unknown state', { state: 'away' }, 'staff_members_state_check'],
    ['a third founder', { ...AS_FOUNDER, founder: 3 }, 'staff_members_founder_check'],
    ['another founder', { ...AS_FOUNDER, founder: 1 }, 'staff_members_founder_key'],
    ['a founder whom others added', { founder: 1 }, 'staff_members_added'],
    ['one who is enrolled in part', { ...AS_FOUNDER, founder: 1, totp_last_step: 1 }, 'staff_members_enrolled'],
    ['one who ended and is active', { ended_at: new Date() }, 'staff_members_ended'],
  ]),
  ruleCase('a password that is not hashed, of one of the staff', 'staff_members_password_hash_check', (fixture) => [
    update(
      'staff_members',
      fixture.staff.newcomerId,
      "password_hash = 'x', totp_secret_sealed = 'x', totp_last_step = 1",
    ),
  ]),
  ruleCase('one of the staff by an unknown proposal', /two of the staff add another one/, (fixture) => [
    insert(fixture, 'staff_members', { proposal_id: newId('spr') }),
  ]),
  ruleCase('one of the staff of another name than was agreed', /two of the staff add another one/, (fixture) => [
    insert(fixture, 'staff_members', { name: 'frank' }),
  ]),
  ruleCase(
    'one of the staff whom somebody else added than who agreed',
    /two of the staff add another one/,
    (fixture) => [insert(fixture, 'staff_members', { added_by: BRIAN.id, confirmed_by: AMINA.id })],
  ),
  ruleCase('one of the staff who is enrolled as they are added', /who is not enrolled yet/, (fixture) => [
    insert(fixture, 'staff_members', { password_hash: '$argon2id$x', totp_secret_sealed: 'x', totp_last_step: 1 }),
  ]),
  ruleCase('one of the staff on whom nobody decided yet', /two of the staff add another one/, (fixture) => [
    insert(fixture, 'staff_proposals', { id: PROPOSAL, payload: '{"name": "dora"}' }),
    insert(fixture, 'staff_members', { proposal_id: PROPOSAL }),
  ]),
  twoRows('two of the staff with one id', 'staff_members_pkey', 'staff_members', { id: NOBODY }),
  ruleCase('one name for two of the staff', 'staff_members_name_key', (fixture) => [
    ...confirmedProposal(PROPOSAL, 'staff_addition', { name: 'dora' }),
    insert(fixture, 'staff_members'),
    insert(fixture, 'staff_members', { proposal_id: PROPOSAL }),
  ]),
  ruleCase('one of the first two without the other', /the first of the staff are two/, (fixture) => [
    { text: "SELECT set_config('session_replication_role', 'replica', true)", values: [] },
    { text: 'DELETE FROM staff_members', values: [] },
    { text: "SELECT set_config('session_replication_role', 'origin', true)", values: [] },
    insert(fixture, 'staff_members', { ...AS_FOUNDER, founder: 1 }),
  ]),
  ...["name = 'other'", 'founder = 2', `added_by = '${BRIAN.id}'`, 'created_at = now()'].map((change) =>
    ruleCase(
      `to change of one of the staff: ${change.split(' ')[0] ?? ''}`,
      /origin of a row of staff_members never/,
      () => [update('staff_members', AMINA.id, change)],
    ),
  ),
  ...(
    [
      ['to end one of the staff on whom no two agreed', memberChange(dismissed('ended', null))],
      [
        'to end one of the staff by an agreement to reset',
        memberChange(dismissed('ended'), [[PROPOSAL, 'staff_reset', ABOUT_AMINA]]),
      ],
      [
        'to reset one of the staff by an agreement to end',
        memberChange(dismissed('active'), [[PROPOSAL, 'staff_end', ABOUT_AMINA]]),
      ],
      [
        'to end one of the staff by an agreement about another one',
        memberChange(dismissed('ended'), [[PROPOSAL, 'staff_end', { member: BRIAN.id }]]),
      ],
      ['another password of one of the staff who is enrolled', memberChange(`password_hash = ${HASH}`)],
      [
        'another password of one of the staff, by an agreement to reset',
        memberChange(`password_hash = ${HASH}, proposal_id = '${PROPOSAL}'`, [[PROPOSAL, 'staff_reset', ABOUT_AMINA]]),
      ],
    ] as const
  ).map(([what, breaks]) => ruleCase(what, /two of the staff end or reset another one/, breaks)),
  ruleCase('to make one of the staff active again', /two of the staff end or reset another one/, () => [
    ...confirmedProposal(PROPOSAL, 'staff_reset', ABOUT_AMINA),
    ...endOf(AMINA.id),
    update('staff_members', AMINA.id, dismissed('active')),
  ]),
  ruleCase('to make a used code of one of the staff unused', /a used code stays used/, () => [
    update('staff_members', AMINA.id, 'totp_last_step = totp_last_step - 1'),
  ]),
];

export const STAFF_RULE_CASES: readonly RuleCase[] = [...PROPOSAL_CASES, ...MEMBER_CASES];
