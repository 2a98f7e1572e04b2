// An authenticator in software, as a browser and a security key are together: it holds ES256 keys and signs challenges.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** What may be wrong with what it returns. */
export type Faults = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isUserVerified?: boolean;
  readonly type?: string;
  readonly counter?: number;
  /** The attestation statement: its format and its CBOR. Without it, none. */
  readonly attest?: (of: Attested) => Statement;
};

export type Attested = {
  readonly clientDataHash: Buffer;
  readonly publicKey: KeyObject;
  /** By the passkey's own key, of all that an attestation covers. */
  readonly signature: Buffer;
};

type Statement = { readonly format: string; readonly cbor: Buffer };

type Options = { readonly challenge: string };
export type Authenticator = {
  /** The JSON text that `navigator.credentials.create` leads to. */
  create(options: Options, faults?: Faults): string;
  /** The JSON text that `navigator.credentials.get` leads to. */
  get(options: Options, faults?: Faults): string;
};

const [PRESENT, VERIFIED, WITH_CREDENTIAL] = [0x01, 0x04, 0x40];

export function createAuthenticator(baseUrl: string): Authenticator {
  const { hostname, origin: ownOrigin } = new URL(baseUrl);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let signatures = 0;

  const clientData = (type: string, { challenge }: Options, faults: Faults): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: faults.type ?? type,
        challenge: faults.challenge ?? challenge,
        origin: faults.origin ?? ownOrigin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (faults: Faults, attested: Buffer | null): Buffer => {
    const flags = PRESENT | (faults.isUserVerified === false ? 0 : VERIFIED) | (attested ? WITH_CREDENTIAL : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(faults.counter ?? ++signatures, 1);
    return Buffer.concat([sha256(faults.rpId ?? hostname), head, ...(attested ? [attested] : [])]);
  };
  const credential = (response: object): string =>
    JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });

  return {
    create(options, faults = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)]);
      const client = clientData('webauthn.create', options, faults);
      const data = authenticatorData(faults, attested);
      const clientDataHash = sha256(client);
      const signature = sign('sha256', Buffer.concat([data, clientDataHash]), privateKey);
      const statement = faults.attest?.({ clientDataHash, publicKey, signature }) ?? NONE;
      const attestation = attestationObject(data, statement).toString('base64url');
      const clientDataJSON = client.toString('base64url');
      return credential({ clientDataJSON, attestationObject: attestation, transports: ['usb'] });
    },
    get(options, faults = {}) {
      const client = clientData('webauthn.get', options, faults);
      const data = authenticatorData(faults, null);
      return credential({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
      });
    },
  };
}

/** The key in COSE: a map of key type, algorithm, curve and the two coordinates. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const part = (text: string) => Buffer.from(text, 'base64url');
  return Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), part(x), Buffer.from('225820', 'hex'), part(y)]);
}

const NONE: Statement = { format: 'none', cbor: Buffer.from('a0', 'hex') };

/** CBOR of `{fmt, attStmt, authData}`. */
function attestationObject(authData: Buffer, { format, cbor }: Statement): Buffer {
  const parts = [
    cborText('fmt'),
    cborText(format),
    cborText('attStmt'),
    cbor,
    cborText('authData'),
    cborBytes(authData),
  ];
  return Buffer.concat([Buffer.from('a3', 'hex'), ...parts]);
}

/** A text of fewer than 24 bytes. */
export function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

export function cborBytes(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([Buffer.from('59', 'hex'), length, bytes]);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
