// Roles: what each may do, who may grant which, and when a second factor is fresh.
import assert from 'node:assert/strict';
import { SCOPES, scopesOfRoles } from '../../../src/domain/accounts/api-key.ts';
import {
  FRESH_FOR_MS,
  hasFreshSecondFactor,
  isFreshlyVerified,
  holdsOneOf,
  mayChangeRoles,
  mayGrant,
  mustEnrol,
  ROLES,
  type Person,
  type Role,
} from '../../../src/domain/accounts/member.ts';
import { personWith } from './persons.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

const person = (fields: Partial<Person>) =>
  personWith({ hasSecondFactor: true, secondFactorAt: NOW, verifiedAt: NOW, ...fields });

describe('roles', () => {
  it('are all held by an owner, while other members hold only their own', () => {
    for (const role of ROLES) {
      assert.ok(holdsOneOf(['owner'], [role]), role);
      for (const held of ROLES.filter((other) => other !== 'owner' && other !== role)) {
        assert.equal(holdsOneOf([held], [role]), false, `${held} is not ${role}`);
      }
    }
    assert.equal(holdsOneOf([], ['viewer']), false);
  });

  it('all allow reading, and only maker and owner allow writing', () => {
    const reading = ['balance:read', 'collections:read', 'payouts:read'];
    for (const role of ROLES) {
      const scopes = scopesOfRoles([role]).sort();
      const writes = role === 'maker' || role === 'owner';
      assert.deepEqual(scopes, writes ? [...SCOPES].sort() : reading, role);
    }
  });

  it('are granted only by members who hold them', () => {
    assert.ok(mayGrant(['admin', 'approver'], ['approver']));
    assert.equal(mayGrant(['admin'], ['approver']), false);
    assert.equal(mayGrant(['admin'], ['owner']), false);
    assert.ok(mayGrant(['owner'], ROLES));
  });

  it('are changed by admins and owners, and those of an owner only by owners', () => {
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
      assert.equal(
        mayChangeRoles(held, before, after),
        expected,
        `${held.join()} changes ${before.join()} to ${after.join()}`,
      );
    }
  });
});

describe('a second factor', () => {
  const at = (ageMs: number) => new Date(NOW.getTime() - ageMs);

  it('is fresh for five minutes after its verification, and not a millisecond longer', () => {
    assert.equal(FRESH_FOR_MS, 300_000);
    assert.ok(hasFreshSecondFactor(person({ secondFactorAt: NOW }), NOW));
    assert.ok(hasFreshSecondFactor(person({ secondFactorAt: at(FRESH_FOR_MS - 1) }), NOW));
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: at(FRESH_FOR_MS) }), NOW), false);
  });

  it('is not fresh if it was never verified, does not exist, or was verified in the future', () => {
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: null }), NOW), false);
    assert.equal(hasFreshSecondFactor(person({ hasSecondFactor: false }), NOW), false);
    assert.equal(hasFreshSecondFactor(person({ secondFactorAt: at(-1) }), NOW), false);
  });
});

describe('a step-up', () => {
  const LONG_AGO = new Date(NOW.getTime() - FRESH_FOR_MS);

  it('is the second factor of those who have one, and never their password', () => {
    const stale = person({ roles: ['viewer'], secondFactorAt: LONG_AGO, verifiedAt: NOW });
    assert.equal(isFreshlyVerified(stale, NOW), false);
    assert.ok(isFreshlyVerified({ ...stale, secondFactorAt: NOW, verifiedAt: LONG_AGO }, NOW));
  });

  for (const role of ROLES) {
    const isReader = role === 'developer' || role === 'viewer';
    it(`is ${isReader ? 'the password' : 'nothing'} of somebody in the role ${role} without a second factor`, () => {
      const without = person({ roles: [role], hasSecondFactor: false, secondFactorAt: null });
      assert.equal(isFreshlyVerified(without, NOW), isReader);
      assert.equal(isFreshlyVerified({ ...without, verifiedAt: LONG_AGO }, NOW), false);
      assert.equal(mustEnrol(without), !isReader);
      assert.equal(mustEnrol({ ...without, hasSecondFactor: true }), false);
    });
  }
});
