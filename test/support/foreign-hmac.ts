// Computes HMAC-SHA256 with programs that share no code with ours.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

const PYTHON = 'import hmac,sys;print(hmac.new(sys.argv[1].encode(),sys.stdin.buffer.read(),"sha256").hexdigest())';
const PROGRAMS: readonly (readonly [program: string, argumentsFor: (secret: string) => string[]])[] = [
  ['openssl', (secret) => ['dgst', '-sha256', '-hmac', secret]],
  ['python3', (secret) => ['-c', PYTHON, secret]],
];

/** The HMAC in lowercase hex. Fails where neither OpenSSL's program nor Python is installed. */
export function foreignHmac(secret: string, message: Buffer): string {
  for (const [program, argumentsFor] of PROGRAMS) {
    const { error, status, stdout } = spawnSync(program, argumentsFor(secret), { input: message });
    if (error === undefined && status === 0) return stdout.toString().trim().split(' ').at(-1) ?? '';
  }
  return assert.fail('the signature cannot be checked: neither openssl nor python3 is on this machine');
}

/** Fails unless the header has exactly one signature of the raw body for each secret, in this order. */
export function assertSigned(header: unknown, rawBody: Buffer, secrets: readonly string[]): void {
  const [time = '', ...pairs] = String(header).split(',');
  assert.match(time, /^t=\d+$/);
  const message = Buffer.concat([Buffer.from(`${time.slice(2)}.`), rawBody]);
  assert.deepEqual(
    pairs,
    secrets.map((secret) => `v1=${foreignHmac(secret, message)}`),
  );
}
