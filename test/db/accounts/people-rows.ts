// Valid rows of proposals of each kind, and of second factors and their replacements.
import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';
import type { RuleFixture } from '../rule-cases.ts';

function pending({ merchantId, ownerId }: RuleFixture) {
  const times = { created_at: new Date(), expires_at: new Date() };
  return { merchant_id: merchantId, state: 'pending', proposed_by: ownerId, ...times };
}

export const PEOPLE_ROWS = {
  invitations: (fixture: RuleFixture) => ({
    ...pending(fixture),
    id: newId('inv'),
    kind: 'invitation',
    email: 'amina@shop.example',
    roles: ['maker'],
    token_sha256: randomBytes(32),
  }),
  member_changes: (fixture: RuleFixture) => ({
    ...pending(fixture),
    id: newId('mch'),
    kind: 'member_change',
    user_id: fixture.approverId,
    roles_before: ['approver'],
    roles: ['approver', 'admin'],
  }),
  policy_changes: (fixture: RuleFixture) => ({
    ...pending(fixture),
    id: newId('pch'),
    kind: 'policy_change',
    changes: '{"second_factor_required":true}',
  }),
  passkeys: ({ ownerId }: RuleFixture) => ({
    id: newId('psk'),
    user_id: ownerId,
    name: 'My key',
    credential_id: randomBytes(32),
    public_key: randomBytes(77),
    counter: 1,
    created_at: new Date(),
  }),
  passkey_challenges: () => ({
    challenge_sha256: randomBytes(32),
    purpose: 'log_in',
    subject: 'account/x',
    expires_at: new Date(),
  }),
  recovery_codes: ({ ownerId }: RuleFixture) => ({
    user_id: ownerId,
    code_sha256: randomBytes(32),
    created_at: new Date(),
  }),
};
