// Passkeys on the wire. What goes to and comes from the browser's WebAuthn is its own JSON, as text in requests.
import { z } from 'zod';
import { MAX_PASSKEYS_PER_PERSON, type Passkey } from '../../../domain/accounts/passkey.ts';
import { idOf, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { givenPassword } from './person.ts';

const EXAMPLE = '{"id":"mJ3b0q","rawId":"mJ3b0q","type":"public-key","clientExtensionResults":{},"response":{}}';

/** What `PublicKeyCredential.toJSON()` of the browser returns, as text. */
export const givenCredential = z
  .string()
  .max(20_000)
  .meta({ description: 'The JSON of the `PublicKeyCredential` that the browser returned, as text.', example: EXAMPLE });

const passkeyName = printable('name', 100).meta({
  description: 'The name by which the person recognizes the passkey.',
});

export const startPasskeySchema = z.strictObject({ password: givenPassword }).meta({ id: 'StartPasskey' });
export const registerPasskeySchema = z
  .strictObject({ name: passkeyName, credential: givenCredential, password: givenPassword })
  .meta({ id: 'RegisterPasskey' });
export const removePasskeySchema = z.strictObject({ password: givenPassword }).meta({ id: 'RemovePasskey' });
export const namePasskeySchema = z.strictObject({ name: passkeyName }).meta({ id: 'NamePasskey' });

/** The options of WebAuthn are the browser's to read: our document names what they are for. */
export const passkeyOptionsSchema = z
  .strictObject({
    public_key: z
      .looseObject({ challenge: z.string().meta({ example: 'vJ0c4m1kq2n8s6t3u7w5x9y1z0a2b4c6d8e0f1g3h5i' }) })
      .meta({
        description: 'JSON options of WebAuthn, for `PublicKeyCredential.parse…OptionsFromJSON` of the browser.',
      }),
  })
  .meta({ id: 'PasskeyOptions' });

const passkeySchema = z
  .strictObject({
    id: idOf('psk'),
    name: z.string(),
    created_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Passkey' });

export const passkeyListSchema = z
  .strictObject({ data: z.array(passkeySchema).max(MAX_PASSKEYS_PER_PERSON) })
  .meta({ id: 'PasskeyList' });

export function passkeyObject(passkey: Passkey) {
  return wireObject(passkeySchema, passkey);
}
