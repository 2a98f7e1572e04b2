// Valid rows of what people use as second factors, and in place of one.
import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/domain/ids.ts';

type Owner = { readonly ownerId: string };

export const FACTOR_ROWS = {
  passkeys: ({ ownerId }: Owner) => ({
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
  recovery_codes: ({ ownerId }: Owner) => ({
    user_id: ownerId,
    code_sha256: randomBytes(32),
    created_at: new Date(),
  }),
};
