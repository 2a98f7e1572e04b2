// The options for a browser that creates a passkey.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { registrationOptions } from '../../src/security/passkey.ts';
import { valuesOf } from '../support/values-of.ts';

describe('the options for a new passkey', () => {
  it('name the algorithms that every Node.js verifies: EdDSA, ES256 and RS256', async () => {
    const person = { userId: 'usr_1', email: 'owner@shop.example', name: 'Owner' };
    const { pubKeyCredParams } = await registrationOptions(
      { id: 'shop.example', origin: '' },
      person,
      randomBytes(32),
      [],
    );
    assert.deepEqual(valuesOf(pubKeyCredParams, 'alg'), [-8, -7, -257]);
  });
});
