// The settings of M-Pesa: a group, with hosts and addresses that are refused where they would lose money.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { coverageOf } from '../../src/domain/payments/operator-catalogue.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { reachIn, withoutOperatorCredentials } from '../../src/settings/operators.ts';
import { selfSigned } from '../support/certificates.ts';
import { runFolder } from '../support/engines.ts';
import { pemFile } from '../support/tls.ts';
import { DARAJA, LIVE, problemsOf, SOUND } from './sound-settings.ts';

const BASE_URL = 'MALIPO_DARAJA_BASE_URL';
const CERTIFICATE = 'MALIPO_DARAJA_CERTIFICATE_FILE';

describe('the settings of M-Pesa', () => {
  let whole: Readonly<Record<string, string>>;

  before(() => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ format: 'pem', type: 'spki' });
    whole = { ...DARAJA, [CERTIFICATE]: pemFile(runFolder(), 'daraja-key.pem', pem.toString()) };
  });

  it('may all be absent, and nothing is led there then', () => {
    const config = loadConfig(SOUND);
    assert.equal(config.daraja, null);
    assert.deepEqual(coverageOf(reachIn(config.settings)).daraja, []);
    const { daraja, settings } = loadConfig({ ...SOUND, ...whole });
    assert.equal(daraja?.passkey.reveal(), 'daraja-passkey');
    assert.deepEqual(
      coverageOf(reachIn(settings)).daraja.map(({ country }) => country),
      ['KE'],
    );
  });

  it('are set whole by a worker, and by the other roles without what calls the operator', () => {
    for (const name of Object.keys(whole)) {
      assert.deepEqual(problemsOf({ ...SOUND, ...whole, [name]: '' }), [name]);
    }
    const api = { ...SOUND, MALIPO_ROLES: 'api' };
    assert.deepEqual(problemsOf({ ...api, [BASE_URL]: DARAJA[BASE_URL] }), []);
    assert.deepEqual(problemsOf({ ...api, MALIPO_DARAJA_SHORTCODE: '174379' }), [BASE_URL]);
    const left = Object.keys(withoutOperatorCredentials(whole));
    assert.deepEqual(left, [BASE_URL]);
  });

  it('have shortcodes of digits and a certificate of an RSA key, and no message shows a secret', () => {
    for (const name of ['MALIPO_DARAJA_SHORTCODE', 'MALIPO_DARAJA_PAYOUT_SHORTCODE']) {
      for (const value of ['1234', '12345678', 'till1']) {
        assert.deepEqual(problemsOf({ ...SOUND, ...whole, [name]: value }), [name]);
      }
    }
    const elliptic = pemFile(runFolder(), 'daraja-elliptic.pem', selfSigned('daraja').cert);
    const empty = pemFile(runFolder(), 'daraja-empty.pem', 'no certificate');
    for (const file of [elliptic, empty, `${empty}.absent`]) {
      assert.deepEqual(problemsOf({ ...SOUND, ...whole, [CERTIFICATE]: file }), [CERTIFICATE]);
    }
    const shown = JSON.stringify(loadConfig({ ...SOUND, ...whole }));
    for (const secret of ['daraja-secret', 'daraja-passkey', 'daraja-password']) assert.ok(!shown.includes(secret));
  });

  it('keep test keys from real money, and live ones from the test system', () => {
    const [real, test] = ['https://api.safaricom.co.ke', 'https://sandbox.safaricom.co.ke'];
    assert.deepEqual(problemsOf({ ...SOUND, ...whole, [BASE_URL]: test }), []);
    assert.deepEqual(problemsOf({ ...SOUND, ...whole, [BASE_URL]: real }), [BASE_URL]);
    assert.deepEqual(problemsOf({ ...SOUND, ...whole, [BASE_URL]: 'https://other.safaricom.com' }), [BASE_URL]);
    assert.deepEqual(problemsOf({ ...LIVE, ...whole, [BASE_URL]: real }), []);
    assert.deepEqual(problemsOf({ ...LIVE, ...whole, [BASE_URL]: test }), [BASE_URL]);
    assert.deepEqual(problemsOf({ ...LIVE, ...whole, [BASE_URL]: real.replace('https', 'http') }), [BASE_URL]);
  });

  it('refuse an address for callbacks that Daraja would refuse with every payment', () => {
    for (const host of ['pay-mpesa.example', 'M-PESA.example', 'exec.example', 'mysql.example', 'query.example']) {
      const MALIPO_PUBLIC_URL = `https://${host}`;
      assert.deepEqual(problemsOf({ ...SOUND, ...whole, MALIPO_PUBLIC_URL }), ['MALIPO_PUBLIC_URL']);
      assert.deepEqual(problemsOf({ ...SOUND, MALIPO_PUBLIC_URL }), []);
      const MALIPO_CALLBACK_URL = 'https://calls.example';
      assert.deepEqual(problemsOf({ ...SOUND, ...whole, MALIPO_PUBLIC_URL, MALIPO_CALLBACK_URL }), []);
    }
  });
});
