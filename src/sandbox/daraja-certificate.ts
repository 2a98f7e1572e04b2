// The self-signed certificate of the sandbox operator's Daraja API, with which clients encrypt an initiator's password.
import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
};
const SHA256_WITH_RSA = '2a864886f70d01010b';
const COMMON_NAME = '550403';
const NAME = 'Malipo sandbox operator';
const [VALID_FROM, VALID_UNTIL] = ['200101000000Z', '491231235959Z'];
const PEM_LINE = /.{1,64}/g;

/** The certificate as PEM. The same key has the same certificate at every start. */
export function certificateOf(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const algorithm = element(TAG.sequence, element(TAG.oid, bytesOf(SHA256_WITH_RSA)), element(TAG.null));
  const attribute = element(TAG.sequence, element(TAG.oid, bytesOf(COMMON_NAME)), element(TAG.utf8, Buffer.from(NAME)));
  const name = element(TAG.sequence, element(TAG.set, attribute));
  const times = [VALID_FROM, VALID_UNTIL].map((text) => element(TAG.utcTime, Buffer.from(text)));
  // The certificate is of version 1, which has no extensions.
  const content = element(
    TAG.sequence,
    ...[element(TAG.integer, serialOf(publicKey)), algorithm, name, element(TAG.sequence, ...times), name, publicKey],
  );
  const signature = element(TAG.bitString, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = element(TAG.sequence, content, algorithm, signature).toString('base64');
  const lines = base64.match(PEM_LINE) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function serialOf(publicKey: Buffer): Buffer {
  const serial = createHash('sha256').update(publicKey).digest().subarray(0, 8);
  // The serial must be positive and without leading zeros.
  serial.writeUInt8((serial.readUInt8(0) & 0x3f) | 0x40, 0);
  return serial;
}

/** One element of the DER encoding: tag, length, content. */
function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = bytesOf(hex.padStart(hex.length + (hex.length % 2), '0'));
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}
