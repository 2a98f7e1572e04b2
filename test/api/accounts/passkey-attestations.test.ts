// A new passkey’s statement about its maker: none is requested, and one with certificates is refused unread.
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cborBytes, cborText, createAuthenticator, type Faults } from '../../support/authenticator.ts';
import { der, extension, makeCertificate, type CertificateParts } from '../../support/certificates.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logIn, PASSWORD } from '../../support/people.ts';
import { API_ONLY, assertError } from '../responses.ts';

const PASSKEYS = '/v1/console/session/passkeys';
const [LIST, OCTETS, INTEGER, ENUMERATED] = [0x30, 0x04, 0x02, 0x0a];
const [KEY_DESCRIPTION, REVOCATION_LISTS] = ['2b06010401d679020111', '551d1f'];
const ES256 = Buffer.from([0x26]);

describe('a new passkey', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const register = async (faults: Faults) => {
    const browser = await logIn(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer']));
    const { json } = await browser.call('POST', `${PASSKEYS}/options`, { json: { password: PASSWORD } });
    const { public_key: options } = json as unknown as { public_key: { challenge: string } };
    const credential = createAuthenticator(testEnv.baseUrl).create(options, faults);
    return browser.call('POST', PASSKEYS, { json: { name: 'My key', credential, password: PASSWORD } });
  };

  it('leads to no request to an address in its own certificates', async () => {
    let requests = 0;
    const listener = createServer((_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = listener.address() as AddressInfo;
      const attest = statementWithRevocationList(`http://127.0.0.1:${port}/internal`);
      assertError(await register({ attest }), 'permission_denied');
      assert.equal(requests, 0);
    } finally {
      listener.close();
    }
  });

  it('is refused with certificates of any format, and accepted without, or with a signature of its own key', async () => {
    const x5c = Buffer.concat([cborText('x5c'), Buffer.from([0x81]), cborBytes(randomBytes(300))]);
    const withCertificates = Buffer.concat([Buffer.from([0xa1]), x5c]);
    for (const format of ['packed', 'fido-u2f', 'tpm', 'apple', 'android-key', 'android-safetynet', 'another'])
      assertError(await register({ attest: () => ({ format, cbor: withCertificates }) }), 'permission_denied');
    assert.equal((await register({})).status, 201);
    const fields = (signature: Buffer) => [cborText('alg'), ES256, cborText('sig'), cborBytes(signature)];
    const own = (signature: Buffer) => Buffer.concat([Buffer.from([0xa2]), ...fields(signature)]);
    const registered = await register({ attest: ({ signature }) => ({ format: 'packed', cbor: own(signature) }) });
    assert.equal(registered.status, 201, registered.text);
  });
});

/** As an Android phone would make it, of a root that is nobody's: it names where to ask whether the certificate is revoked. */
function statementWithRevocationList(url: string): NonNullable<Faults['attest']> {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = (parts: Pick<CertificateParts, 'subject' | 'publicKey' | 'more'>) =>
    new X509Certificate(makeCertificate({ ...parts, issuer: 'Anybody', signer: root.privateKey, isAuthority: true }))
      .raw;
  return ({ clientDataHash, publicKey }) => {
    const [version, level] = [der(INTEGER, Buffer.from([3])), der(ENUMERATED, Buffer.from([1]))];
    const [challenge, noId] = [der(OCTETS, clientDataHash), der(OCTETS)];
    const description = der(LIST, version, level, version, level, challenge, noId, der(LIST), der(LIST));
    const lists = der(LIST, der(LIST, der(0xa0, der(0xa0, der(0x86, Buffer.from(url))))));
    const more = [extension(KEY_DESCRIPTION, description), extension(REVOCATION_LISTS, lists)];
    const x5c = [
      certificate({ subject: 'A phone', publicKey, more }),
      certificate({ subject: 'Anybody', publicKey: root.publicKey }),
    ];
    const fields = [cborText('alg'), ES256, cborText('sig'), cborBytes(randomBytes(70)), cborText('x5c')];
    const cbor = Buffer.concat([Buffer.from([0xa3]), ...fields, Buffer.from([0x82]), ...x5c.map(cborBytes)]);
    return { format: 'android-key', cbor };
  };
}
