// Passkeys by WebAuthn: the options for a browser, and the checks of its responses. User verification is required.
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { COSEALG, decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';

/** The service for an authenticator: a passkey is bound to the host, and each signature to the origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin };
}

/** A browser's response, read only far enough to find the challenge and the passkey. Nothing is verified. */
export type GivenCredential = { readonly json: object; readonly credentialId: Buffer; readonly challenge: string };

/** Null if the text cannot be the JSON of a credential. */
export function readCredential(text: string): GivenCredential | null {
  try {
    const json = JSON.parse(text) as { id: unknown; response: { clientDataJSON: unknown } };
    const { id } = json;
    const { clientDataJSON } = json.response;
    if (typeof id !== 'string' || typeof clientDataJSON !== 'string') return null;
    const client = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge: unknown };
    if (typeof client.challenge !== 'string') return null;
    return { json, credentialId: Buffer.from(id, 'base64url'), challenge: client.challenge };
  } catch {
    return null;
  }
}

/**
 * The signature algorithms of passkeys, preferred first. The library's default depends on the Node.js version, so the
 * list is fixed: every process must be able to verify a passkey that another process accepted.
 */
const ALGORITHMS = [COSEALG.EdDSA, COSEALG.ES256, COSEALG.RS256];

type Enrolling = { readonly userId: string; readonly email: string; readonly name: string };

/** For `navigator.credentials.create`. The passkey is discoverable, so that a log-in need not name it. */
export function registrationOptions(
  { id: rpID }: RelyingParty,
  { userId, email, name }: Enrolling,
  challenge: Buffer,
  registered: readonly Buffer[],
) {
  return generateRegistrationOptions({
    rpName: 'Malipo',
    rpID,
    userID: new Uint8Array(Buffer.from(userId)),
    userName: email,
    userDisplayName: name,
    challenge: new Uint8Array(challenge),
    attestationType: 'none',
    excludeCredentials: registered.map((credentialId) => ({ id: credentialId.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** For `navigator.credentials.get`: one of these passkeys or, if the list is empty, any for this host. */
export function requestOptions({ id: rpID }: RelyingParty, challenge: Buffer, allowed: readonly Buffer[]) {
  return generateAuthenticationOptions({
    rpID,
    challenge: new Uint8Array(challenge),
    userVerification: 'required',
    ...(allowed.length > 0 && {
      allowCredentials: allowed.map((credentialId) => ({ id: credentialId.toString('base64url') })),
    }),
  });
}

export type NewCredential = { readonly credentialId: Buffer; readonly publicKey: Buffer; readonly counter: number };

/** The credential that the browser created; null if anything is wrong. The caller has checked the challenge. */
export async function verifyRegistration(
  rp: RelyingParty,
  { json, challenge }: GivenCredential,
): Promise<NewCredential | null> {
  try {
    const response = json as RegistrationResponseJSON;
    if (hasCertificates(response)) return null;
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!registrationInfo) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: Buffer.from(id, 'base64url'), publicKey: Buffer.from(publicKey), counter };
  } catch {
    // The library throws for every fault.
    return null;
  }
}

/**
 * Whether the authenticator names its maker by certificates, which the service never requests. To verify them, the
 * library would call the revocation addresses in them, which their author chose. Throws if the object cannot be read.
 */
function hasCertificates({ response: { attestationObject } }: RegistrationResponseJSON): boolean {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = attestation.get('fmt');
  // Without certificates, the passkey's own key signs `packed`: browsers leave that in place.
  return format !== 'none' && (format !== 'packed' || attestation.get('attStmt').get('x5c') !== undefined);
}

/** The counter that the authenticator signed; null if anything is wrong. The caller has checked the challenge. */
export async function verifyAssertion(
  rp: RelyingParty,
  { json, challenge }: GivenCredential,
  { credentialId, publicKey }: Omit<NewCredential, 'counter'>,
): Promise<number | null> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: json as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      // The counter is compared with the stored one, so that a decrease is distinguished from a wrong signature.
      credential: { id: credentialId.toString('base64url'), publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}
