// The names of the service's staff: one spelling for one person, because two of them must agree to let somebody in again.
import assert from 'node:assert/strict';
import { parseStaffName } from '../../../src/domain/accounts/staff.ts';

describe('the name of one of the staff', () => {
  it('is one person’s in upper and lower case', () => {
    for (const text of ['amina', 'Amina', 'AMINA']) assert.equal(parseStaffName(text), 'amina');
  });

  it('has two to a hundred letters, digits and signs of an address, and begins with neither sign nor space', () => {
    for (const text of ['a2', 'amina@malipo.example', 'a'.repeat(100)]) assert.equal(parseStaffName(text), text);
    const others = ['', 'a', 'a'.repeat(101), ' amina', 'amina ', 'amina k', '.amina', 'amína', 'amina\n', 'аmina'];
    for (const text of others) assert.equal(parseStaffName(text), null, JSON.stringify(text));
  });
});
