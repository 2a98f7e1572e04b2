// Asking the browser for a passkey of the person.
import { startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import type { Schemas } from '../api/client.ts';

/** What the browser signed, as the API takes it. Rejects with `NotAllowedError` when the person gave none. */
export async function signedByPasskey({ public_key }: Schemas['PasskeyOptions']): Promise<string> {
  const optionsJSON = public_key as unknown as PublicKeyCredentialRequestOptionsJSON;
  return JSON.stringify(await startAuthentication({ optionsJSON }));
}
