// Creates certificates for TLS receivers: valid ones, and ones that no sender may trust.
import { createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

export type Certificate = { readonly key: string; readonly cert: string };

export type Authority = {
  /** The certificate of the authority, for clients to trust. */
  readonly cert: string;
  issue(request: CertificateRequest): Certificate;
};

export type CertificateRequest = {
  /** The host names and IPv4 addresses that the certificate is for. */
  readonly hosts: readonly string[];
  readonly validFrom?: Date;
  readonly validTo?: Date;
};

const DAY_MS = 86_400_000;

export function createAuthority(name: string): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = makeCertificate({ subject: name, issuer: name, publicKey, signer: privateKey, isAuthority: true });
  return {
    cert,
    issue(request) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const subject = request.hosts[0] ?? '';
      return {
        key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        cert: makeCertificate({ ...request, subject, issuer: name, publicKey: pair.publicKey, signer: privateKey }),
      };
    },
  };
}

export function selfSigned(host: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const parties = { subject: host, issuer: host, publicKey, signer: createPrivateKey(key) };
  return { key, cert: makeCertificate({ ...parties, hosts: [host] }) };
}

export type CertificateParts = Partial<CertificateRequest> & {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly isAuthority?: boolean;
  /** Further ones, made by `extension`. */
  readonly more?: readonly Buffer[];
};

// X.509 in DER, RFC 5280: each element is a tag, a length and its content.
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  time: 0x18,
  list: 0x30,
  set: 0x31,
};
const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
};

export function makeCertificate(parts: CertificateParts): string {
  const now = Date.now();
  const algorithm = der(TAG.list, oid(OID.ecdsaWithSha256));
  const body = der(
    TAG.list,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(parts.issuer),
    der(TAG.list, time(parts.validFrom ?? new Date(now - DAY_MS)), time(parts.validTo ?? new Date(now + DAY_MS))),
    nameOf(parts.subject),
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(TAG.list, ...extensions(parts))),
  );
  const signature = sign('sha256', body, parts.signer);
  const whole = der(TAG.list, body, algorithm, der(TAG.bits, Buffer.from([0]), signature));
  return new X509Certificate(whole).toString();
}

function extensions({ hosts = [], isAuthority = false, more = [] }: CertificateParts): Buffer[] {
  const isCa = isAuthority ? [der(TAG.boolean, Buffer.from([0xff]))] : [];
  const constraints = extension(OID.basicConstraints, der(TAG.list, ...isCa));
  if (hosts.length === 0) return [constraints, ...more];
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  return [constraints, extension(OID.subjectAltName, der(TAG.list, ...names))];
}

/** The id is in hexadecimal digits, as DER has it. */
export function extension(id: string, value: Buffer): Buffer {
  return der(TAG.list, oid(id), der(TAG.octets, value));
}

function nameOf(commonName: string): Buffer {
  return der(TAG.list, der(TAG.set, der(TAG.list, oid(OID.commonName), der(TAG.text, Buffer.from(commonName)))));
}

function time(at: Date): Buffer {
  return der(TAG.time, Buffer.from(`${at.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`));
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, 'hex'));
}

export function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const inside = Buffer.concat(content);
  const { length } = inside;
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), inside]);
}
