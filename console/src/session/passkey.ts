// Requests a passkey of the person from the browser.
import { startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import type { Schemas } from '../api/client.ts';

/** The browser's signature in the form of the API. Rejects with `NotAllowedError` if the person gave none. */
export async function signedByPasskey({ public_key }: Schemas['PasskeyOptions']): Promise<string> {
  const optionsJSON = public_key as unknown as PublicKeyCredentialRequestOptionsJSON;
  return JSON.stringify(await startAuthentication({ optionsJSON }));
}
