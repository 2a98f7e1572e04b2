// Roles: who may do what, who may give what, and when a second factor is fresh.
import assert from 'node:assert/strict';
import { mayHandleKeys, SCOPES } from '../../../src/domain/accounts/api-key.ts';
import { newId } from '../../../src/domain/ids.ts';
import {
  FRESH_FOR_MS,
  hasFreshSecondFactor,
  holdsOneOf,
  mayEdit,
  mayGrant,
  ROLES,
  scopesOfRoles,
  type Person,
  type Role,
} from '../../../src/domain/accounts/member.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

function person(fields: Partial<Person>): Person {
  return {
    userId: newId('usr'),
    merchantId: newId('mer'),
    merchantCurrency: 'UGX',
    roles: ['approver'],
    hasSecondFactor: true,
    secondFactorAt: NOW,
    ...fields,
  };
}

describe('roles', () => {
  it('are all held by an owner, and no other by anybody else', () => {
    for (const role of ROLES) {
      assert.ok(holdsOneOf(['owner'], [role]), role);
      for (const held of ROLES.filter((other) => other !== 'owner' && other !== role)) {
        assert.equal(holdsOneOf([held], [role]), false, `${held} is no ${role}`);
      }
    }
    assert.equal(holdsOneOf([], ['viewer']), false);
  });

  it('all read; only makers and owners write', () => {
    const reading = ['balance:read', 'collections:read', 'payouts:read'];
    for (const role of ROLES) {
      const scopes = scopesOfRoles([role]).sort();
      const writes = role === 'maker' || role === 'owner';
      assert.deepEqual(scopes, writes ? [...SCOPES].sort() : reading, role);
    }
  });

  it('are granted only by who holds them', () => {
    assert.ok(mayGrant(['admin', 'approver'], ['approver']));
    assert.equal(mayGrant(['admin'], ['approver']), false);
    assert.equal(mayGrant(['admin'], ['owner']), false);
    assert.ok(mayGrant(['owner'], ROLES));
  });

  it('are changed by admins and owners, an owner’s by owners only', () => {
    const cases: readonly (readonly [boolean, Role[], Role[], Role[]])[] = [
      [true, ['admin'], ['viewer'], ['admin']],
      [true, ['admin'], ['maker', 'viewer'], ['viewer']],
      [true, ['admin'], ['maker', 'viewer'], ['maker']],
      [false, ['admin'], ['viewer'], ['maker']],
      [false, ['admin'], ['owner'], ['viewer']],
      [false, ['admin'], ['owner'], []],
      [true, ['owner'], ['owner'], []],
      [true, ['owner'], ['owner'], ['viewer']],
      [false, ['developer'], ['developer'], ['developer']],
      [false, ['approver'], ['viewer'], []],
    ];
    for (const [expected, held, before, after] of cases) {
      assert.equal(mayEdit(held, before, after), expected, `${held.join()} makes ${before.join()} ${after.join()}`);
    }
  });

  it('let developers handle keys, but none that moves money out', () => {
    assert.ok(mayHandleKeys(['developer'], ['collections:write', 'payouts:read']));
    assert.equal(mayHandleKeys(['developer'], ['payouts:read', 'payouts:write']), false);
    assert.ok(mayHandleKeys(['admin'], ['payouts:write']));
    for (const role of ['maker', 'approver', 'viewer'] as const)
      assert.equal(mayHandleKeys([role], ['balance:read']), false);
  });
});

describe('a second factor', () => {
  const at = (ageMs: number) => new Date(NOW.getTime() - ageMs);

  it('is fresh for five minutes after it was proved, and not a millisecond longer', () => {
    assert.equal(FRESH_FOR_MS, 300_000);
    assert.ok(hasFreshSecondFactor(person({ secondFactorAt: NOW }), NOW));
    assert.ok(hasFreshSecondFactor(person({ secondFactorAt: at(FRESH_FOR_MS - 1) }), NOW));
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: at(FRESH_FOR_MS) }), NOW), false);
  });

  it('is not fresh when it was never proved, is not there, or was proved in the time to come', () => {
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: null }), NOW), false);
    assert.equal(hasFreshSecondFactor(person({ hasSecondFactor: false }), NOW), false);
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: at(-1) }), NOW), false);
  });
});
