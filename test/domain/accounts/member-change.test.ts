// Changes that need a second person: no series of changes by one person alone gives somebody a part in moving money out.
import assert from 'node:assert/strict';
import { newId, type UserId } from '../../../src/domain/ids.ts';
import { toNamedPerson, holdsOneOf, ROLES, type Member, type Role } from '../../../src/domain/accounts/member.ts';
import {
  agreementOn,
  approvalOf,
  requireApplicable,
  secondPersonRole,
  type People,
} from '../../../src/domain/accounts/member-change.ts';
import type { Invitation, MemberChange } from '../../../src/domain/accounts/proposal.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const MONEY: readonly Role[] = ['owner', 'admin', 'maker', 'approver'];

/** Every set of roles, the empty one too. */
const SETS: readonly (readonly Role[])[] = Array.from({ length: 2 ** ROLES.length }, (_, bits) =>
  ROLES.filter((_role, index) => (bits >> index) % 2 === 1),
);

function member(...roles: Role[]): Member {
  const userId = newId('usr');
  return { userId, name: roles.join(), email: `${userId}@x.example`, roles, hasSecondFactor: false, createdAt: NOW };
}

function invitation(proposedBy: UserId | null, roles: readonly Role[], fields: Partial<Invitation> = {}): Invitation {
  return {
    kind: 'invitation',
    id: newId('inv'),
    merchantId: newId('mer'),
    email: 'amina@shop.example',
    roles,
    state: 'pending',
    proposedBy: proposedBy === null ? null : { id: proposedBy, name: '', email: '' },
    createdAt: NOW,
    expiresAt: NOW,
    decidedBy: null,
    decidedAt: null,
    ...fields,
  };
}

function ofMembers(...members: Member[]): People {
  return { members, invitations: [] };
}

describe('the approval by a second person', () => {
  it('is needed somewhere in every series of changes that gives a part in moving money out', () => {
    const reached = new Set([[], ['viewer'], ['developer']].map((roles) => roles.join()));
    for (let before = 0; before !== reached.size;) {
      before = reached.size;
      for (const from of [...reached]) {
        const roles = from.split(',').filter((role) => role !== '') as Role[];
        for (const after of SETS) if (secondPersonRole(roles, after) === null) reached.add(after.join());
      }
    }
    for (const role of MONEY) assert.ok(![...reached].some((set) => set.split(',').includes(role)), role);
    assert.ok(reached.has('developer,viewer'));
  });

  it('is needed to take administration from a member, and to grant any of the four money roles', () => {
    for (const before of SETS) {
      for (const after of SETS) {
        const where = `${before.join()} → ${after.join()}`;
        const gains = MONEY.filter((role) => holdsOneOf(after, [role]) && !holdsOneOf(before, [role]));
        const loses = holdsOneOf(before, ['admin']) && !holdsOneOf(after, ['admin']);
        const role = secondPersonRole(before, after);
        if (gains.length > 0 || loses) assert.notEqual(role, null, where);
        assert.equal(role === 'owner', gains.includes('owner'), where);
        const isOwnerDemoted = before.includes('owner') && !after.includes('owner');
        if (gains.length === 0 && !loses && !isOwnerDemoted) assert.equal(role, null, where);
      }
    }
  });

  it('is not needed for one’s own roles, for the service’s staff, or without another administrator', () => {
    const [owner, admin, viewer] = [member('owner'), member('admin'), member('viewer')];
    const people = ofMembers(owner, admin, viewer);
    const removal = (proposer: Member | null, of: Member) => ({
      before: of.roles,
      after: [],
      proposer: proposer?.userId ?? null,
      userId: of.userId,
    });
    assert.equal(agreementOn(removal(admin, admin), people), null);
    assert.equal(agreementOn(removal(null, admin), people), null);
    const approvers = agreementOn(removal(owner, admin), people)?.people.map(({ id }) => id);
    assert.deepEqual(approvers, [admin.userId]);
    const grant = { before: ['viewer'], after: ['maker'], proposer: owner.userId, userId: viewer.userId } as const;
    assert.equal(agreementOn(grant, ofMembers(owner, viewer)), null);
    assert.equal(agreementOn(grant, people)?.role, 'admin');
    assert.deepEqual(agreementOn({ ...grant, after: ['owner'] }, people), { role: 'owner', people: [] });
  });

  it('is needed while an administrator invited by the service’s staff is expected, but not one invited by a member', () => {
    const [owner, viewer] = [member('owner'), member('viewer')];
    const grant = { before: ['viewer'], after: ['maker'], proposer: owner.userId, userId: viewer.userId } as const;
    const agreement = (by: UserId | null, ...roles: Role[]) =>
      agreementOn(grant, { members: [owner, viewer], invitations: [invitation(by, roles)] });
    for (const role of ['owner', 'admin'] as const) {
      assert.deepEqual(agreement(null, role), { role: 'admin', people: [] });
      assert.equal(agreement(owner.userId, role), null);
    }
    assert.equal(agreement(null, 'viewer', 'approver'), null);
  });
});

describe('an approval of an invitation', () => {
  const [owner, admin] = [member('owner'), member('admin')];
  const people = ofMembers(owner, admin);

  it('is valid while its approver could still give it, and always if the service’s staff gave it', () => {
    const by = { state: 'approved', decidedAt: NOW, decidedBy: toNamedPerson(admin) } as const;
    const approved = invitation(owner.userId, ['maker'], by);
    assert.equal(approvalOf(approved, people).state, 'approved');
    const third = member('owner');
    assert.equal(approvalOf(approved, ofMembers(owner, third)).state, 'waiting', 'the approver left');
    assert.equal(approvalOf(approved, ofMembers(owner, third, { ...admin, roles: ['viewer'] })).state, 'waiting');
    assert.equal(
      approvalOf(invitation(owner.userId, ['owner'], by), people).state,
      'waiting',
      'an admin cannot approve an owner',
    );
    const service = { state: 'approved', decidedAt: NOW, decidedBy: null } as const;
    assert.equal(approvalOf(invitation(owner.userId, ['owner'], service), people).state, 'approved');
  });

  it('is needed or not depending on the members that the merchant has now', () => {
    const open = invitation(owner.userId, ['approver']);
    assert.equal(approvalOf(open, ofMembers(owner)).state, 'not_needed');
    assert.equal(approvalOf(open, people).state, 'waiting');
    assert.equal(approvalOf(invitation(null, ['owner']), people).state, 'not_needed', 'sent by the service’s staff');
    assert.equal(approvalOf(invitation(owner.userId, ['viewer', 'developer']), people).state, 'not_needed');
  });
});

describe('a proposal to change a member', () => {
  const [owner, admin, viewer] = [member('owner'), member('admin'), member('viewer')];
  const change = (of: Member, after: Role[] | null, by = owner): MemberChange => ({
    kind: 'member_change',
    id: newId('mch'),
    merchantId: newId('mer'),
    member: toNamedPerson(of),
    state: 'pending',
    before: of.roles,
    after,
    proposedBy: toNamedPerson(by),
    createdAt: NOW,
    expiresAt: NOW,
    decidedBy: null,
    decidedAt: null,
  });

  it('applies only while the member’s roles are unchanged and its proposer may still propose it', () => {
    const grant = change(viewer, ['maker']);
    assert.equal(requireApplicable(grant, [owner, admin, viewer]), viewer);
    const refused = (members: Member[], message: RegExp) => {
      assert.throws(() => requireApplicable(grant, members), message);
    };
    refused([owner, admin], /The member has changed/);
    refused([owner, admin, { ...viewer, roles: ['viewer', 'developer'] }], /The member has changed/);
    refused([owner, admin, { ...viewer, roles: ['developer'] }], /The member has changed/);
    refused([admin, viewer], /no longer has permission/);
    refused([{ ...owner, roles: ['admin'] }, admin, viewer], /no longer has permission/);
  });

  it('never removes the last owner', () => {
    const other = member('owner');
    const removal = change(owner, null, other);
    assert.equal(requireApplicable(removal, [owner, other]), owner);
    assert.throws(() => requireApplicable(change(owner, ['admin'], other), [owner]), /no longer has permission/);
    assert.throws(() => requireApplicable(change(owner, ['admin'], owner), [owner, admin]), /last owner/);
  });
});
