// Invalid rows of passkeys, their challenges and recovery codes, each with the rule that refuses it.
import { newId } from '../../../src/domain/ids.ts';
import { insert, ruleCase, twoRows, wrongInserts, type RuleCase, type RuleFixture } from '../rule-cases.ts';

export const PASSKEY_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('passkeys', [
    ['an id with a wrong prefix', { id: newId('usr') }, 'passkeys_id_check'],
    ['a passkey of an unknown user', () => ({ user_id: newId('usr') }), 'passkeys_user_id_fkey'],
    ['an empty name', { name: '' }, 'passkeys_name_check'],
    ['an empty credential', { credential_id: Buffer.alloc(0) }, 'passkeys_credential_id_check'],
    ['an empty key', { public_key: Buffer.alloc(0) }, 'passkeys_public_key_check'],
    ['a negative counter', { counter: -1 }, 'passkeys_counter_check'],
  ]),
  twoRows('one id for two passkeys', 'passkeys_pkey', 'passkeys', { id: newId('psk') }),
  ruleCase('one credential for two passkeys', 'passkeys_credential_id_key', (fixture) =>
    [newId('psk'), newId('psk')].map((id) => insert(fixture, 'passkeys', { id, credential_id: Buffer.alloc(32, 5) })),
  ),
  ...(
    [
      ['a counter that falls', 'counter = 0', /never falls/],
      ['another key for a passkey', "public_key = 'x'", /never changed/],
    ] as const
  ).map(([what, change, says]) => ({
    what,
    breaks: (fixture: RuleFixture) => [
      insert(fixture, 'passkeys', {}),
      { text: `UPDATE passkeys SET ${change} WHERE user_id = $1`, values: [fixture.ownerId] },
    ],
    by: { says },
  })),
  ...wrongInserts('passkey_challenges', [
    [
      'a digest of the wrong length',
      { challenge_sha256: Buffer.alloc(31) },
      'passkey_challenges_challenge_sha256_check',
    ],
    ['an unknown purpose', { purpose: 'pay' }, 'passkey_challenges_purpose_check'],
    ['an empty subject', { subject: '' }, 'passkey_challenges_subject_check'],
  ]),
  twoRows('one challenge twice', 'passkey_challenges_pkey', 'passkey_challenges', {
    challenge_sha256: Buffer.alloc(32, 3),
  }),
];

export const RECOVERY_CODE_RULE_CASES: readonly RuleCase[] = [
  ...wrongInserts('recovery_codes', [
    ['a digest of the wrong length', { code_sha256: Buffer.alloc(33) }, 'recovery_codes_code_sha256_check'],
    ['a code of an unknown user', () => ({ user_id: newId('usr') }), 'recovery_codes_user_id_fkey'],
  ]),
  twoRows('one code twice', 'recovery_codes_pkey', 'recovery_codes', { code_sha256: Buffer.alloc(32, 7) }),
  {
    what: 'a recovery code that is used twice',
    breaks: (fixture) => [
      insert(fixture, 'recovery_codes', { used_at: new Date() }),
      { text: 'UPDATE recovery_codes SET used_at = now() WHERE user_id = $1', values: [fixture.ownerId] },
    ],
    by: { says: /used once/ },
  },
];
