// Passkeys on the wire. The browser's WebAuthn has its own JSON, which requests carry as text.
import { z } from 'zod';
import { MAX_PASSKEYS_PER_PERSON, type Passkey } from '../../../domain/accounts/passkey.ts';
import { idOf, objectSchema, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { givenPassword } from './person.ts';

const EXAMPLE = '{"id":"mJ3b0q","rawId":"mJ3b0q","type":"public-key","clientExtensionResults":{},"response":{}}';

/** The result of the browser's `PublicKeyCredential.toJSON()`, as text. */
export const givenCredential = z
  .string()
  .max(20_000)
  .meta({ description: 'The JSON of the `PublicKeyCredential` that the browser returned, as text.', example: EXAMPLE });

const passkeyName = printable('name', 100).meta({
  description: 'The name by which the person recognizes the passkey.',
});

export const startPasskeySchema = objectSchema('StartPasskey', { password: givenPassword });
export const registerPasskeySchema = objectSchema('RegisterPasskey', {
  name: passkeyName,
  credential: givenCredential,
  password: givenPassword,
});
export const removePasskeySchema = objectSchema('RemovePasskey', { password: givenPassword });
export const namePasskeySchema = objectSchema('NamePasskey', { name: passkeyName });

/** Only the browser reads the options of WebAuthn, so the document names just their purpose. */
export const passkeyOptionsSchema = objectSchema('PasskeyOptions', {
  public_key: z
    .looseObject({ challenge: z.string().meta({ example: 'vJ0c4m1kq2n8s6t3u7w5x9y1z0a2b4c6d8e0f1g3h5i' }) })
    .meta({
      description: 'JSON options of WebAuthn, for `PublicKeyCredential.parse…OptionsFromJSON` of the browser.',
    }),
});

const passkeySchema = objectSchema('Passkey', {
  id: idOf('psk'),
  name: z.string(),
  created_at: time,
  last_used_at: time.nullable(),
});

export const passkeyListSchema = objectSchema('PasskeyList', {
  data: z.array(passkeySchema).max(MAX_PASSKEYS_PER_PERSON),
});

export function passkeyObject(passkey: Passkey) {
  return wireObject(passkeySchema, passkey);
}
