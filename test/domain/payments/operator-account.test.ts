// The terms and credentials of accounts with operators: what would lose money is refused before anybody agrees on it.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  accountText,
  CREDENTIALS,
  credentialProblem,
  credentialsOf,
  currencyOf,
  reachOf,
  termsProblem,
  type AccountTerms,
} from '../../../src/domain/payments/operator-account.ts';
import { coverageOf, OPERATOR_IDS, OPERATORS } from '../../../src/domain/payments/operator-catalogue.ts';
import { targetEnvironmentOf } from '../../../src/operators/mtn-momo/target-environment.ts';

import { selfSigned } from '../../support/certificates.ts';

const TERMS = { operator: 'mtn-momo', country: 'UG', baseUrl: 'https://operator.example', callsPerSecond: 20 } as const;
const TEST = { environment: 'test', callbackUrl: 'https://pay.example' } as const;
const LIVE = { environment: 'live', callbackUrl: 'https://pay.example' } as const;
const ofTest = (terms: Partial<AccountTerms>) => termsProblem({ ...TERMS, ...terms }, TEST);
const ofLive = (terms: Partial<AccountTerms>) => termsProblem({ ...TERMS, ...terms }, LIVE);

describe('the terms of an account with an operator', () => {
  it('are for a market of the operator; only MTN’s test system serves every one with one account', () => {
    assert.deepEqual([ofTest({}), ofLive({}), ofTest({ country: null })], [null, null, null]);
    assert.equal(ofLive({ country: null }), 'an account with MTN MoMo is for one country');
    assert.equal(ofTest({ operator: 'daraja', country: null }), 'an account with M-Pesa is for one country');
    assert.match(
      ofTest({ operator: 'airtel-money', country: 'CM' }) ?? '',
      /^Airtel Money has no market in CM; it has UG,/,
    );
    assert.deepEqual([currencyOf('daraja', 'KE'), currencyOf('mtn-momo', null)], ['KES', null]);
  });

  const hosts = [
    ['mtn-momo', 'UG', 'https://proxy.momoapi.mtn.com', 'https://sandbox.momodeveloper.mtn.com'],
    ['airtel-money', 'UG', 'https://openapi.airtel.africa', 'https://openapiuat.airtel.africa'],
    ['daraja', 'KE', 'https://api.safaricom.co.ke', 'https://sandbox.safaricom.co.ke'],
  ] as const;
  for (const [operator, country, real, test] of hosts) {
    it(`keep test keys from the real money of ${operator}, and live keys from its test system`, () => {
      const of = (baseUrl: string) => ({ operator, country, baseUrl });
      assert.deepEqual([ofTest(of(test)), ofLive(of(real))], [null, null]);
      assert.equal(ofTest(of(real)), 'the base URL must be no live system in the test environment');
      assert.equal(ofLive(of(test)), 'the base URL must not be the test system in the live environment');
      assert.equal(ofLive(of(real.replace('https', 'http'))), 'the base URL must be https in the live environment');
    });
  }

  it('have an address and a number of calls', () => {
    for (const baseUrl of ['', 'operator.example', 'https:///x']) assert.match(ofTest({ baseUrl }) ?? '', /base URL/);
    for (const callsPerSecond of [0, 1.5, 10_001]) assert.match(ofTest({ callsPerSecond }) ?? '', /calls per second/);
  });

  it('are refused where M-Pesa would refuse our address with every payment', () => {
    for (const host of ['pay-mpesa.example', 'M-PESA.example', 'exec.example', 'mysql.example', 'query.example']) {
      const deployment = { ...TEST, callbackUrl: `https://${host}` };
      assert.match(termsProblem({ ...TERMS, operator: 'daraja', country: 'KE' }, deployment) ?? '', /refuses the word/);
      assert.equal(termsProblem(TERMS, deployment), null);
    }
  });
});

describe('the credentials of an account with an operator', () => {
  it('have shortcodes of digits, a PIN of four, and a certificate of an RSA key; no problem shows a secret', () => {
    const { pin } = CREDENTIALS['airtel-money'];
    const { shortcode, certificate } = CREDENTIALS.daraja;
    for (const value of ['12345', '123', 'abcd']) {
      assert.equal(
        credentialProblem(pin, value),
        'the PIN of the wallet from which payouts are paid must be four digits',
      );
    }
    for (const value of ['1234', '12345678', 'till1'])
      assert.match(credentialProblem(shortcode, value) ?? '', /digits$/);
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    assert.equal(credentialProblem(certificate, publicKey.export({ format: 'pem', type: 'spki' }).toString()), null);
    for (const pem of [selfSigned('daraja').cert, 'no certificate']) {
      assert.match(credentialProblem(certificate, pem) ?? '', /must be a certificate of an RSA key, as PEM$/);
    }
    for (const operator of OPERATOR_IDS) {
      for (const [, credential] of credentialsOf(operator)) {
        assert.equal(credentialProblem(credential, ''), `the ${credential.text} is missing`);
      }
    }
  });

  it('are shown to people only where they are no secret', () => {
    const account = { ...TERMS, operator: 'daraja', country: 'KE' } as const;
    assert.equal(
      accountText(account, { shortcode: '174379', payoutShortcode: '600997' }),
      'M-Pesa in KE at https://operator.example, 20 calls a second; shortcode to which customers pay 174379, ' +
        'shortcode from which payouts are paid 600997',
    );
    const shown = OPERATOR_IDS.flatMap((id) => credentialsOf(id).filter(([, { kind }]) => kind === 'shown'));
    assert.doesNotMatch(shown.map(([name]) => name).join(), /secret|pin|pass|subscription|apiKey/i);
  });
});

describe('the reach of accounts', () => {
  it('is that of the active ones', () => {
    const accounts = [
      { operator: 'mtn-momo', country: 'RW', state: 'active' },
      { operator: 'airtel-money', country: 'UG', state: 'closed' },
    ] as const;
    const coverage = coverageOf(reachOf(accounts));
    assert.deepEqual(
      OPERATOR_IDS.map((id) => coverage[id].map(({ country }) => country)),
      [['RW'], [], []],
    );
  });

  it('has a system of MTN for each of its markets', () => {
    for (const { country } of OPERATORS['mtn-momo'].markets)
      assert.match(targetEnvironmentOf(country, 'live'), /^mtn[a-z]+$/);
    assert.equal(targetEnvironmentOf(null, 'test'), 'sandbox');
    assert.throws(() => targetEnvironmentOf(null, 'live'), /MTN has no system/);
  });
});
