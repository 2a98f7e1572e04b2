// Changes of what members may do that two must agree to: roles that move money, and the power over people.
import assert from 'node:assert/strict';
import { decideMemberChange } from '../../../src/operations/accounts/decide-member-change.ts';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment.ts';
import { addPerson, assertAudited, auditRows } from '../../support/people.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { administrationOf, type Administration } from './administrators.ts';

const MEMBERS = '/v1/console/members';

describe('a second person agrees to a change of roles', () => {
  let testEnv: TestEnvironment;
  let admins: Administration;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
    admins = administrationOf(testEnv);
  });
  after(() => testEnv.stop());
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  it('that gives a part in moving money out, and it counts from then on', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    for (const role of ['owner', 'admin', 'maker', 'approver'] as const) {
      const person = await addPerson(testEnv, merchantId, ['viewer']);
      const proposed = await admins.change(one, person.id, ['viewer', role]);
      admins.assertWaits(proposed, two);
      await assertAudited(testEnv, proposed, { action: 'member_change.proposed' });
      assert.deepEqual(await admins.rolesOf(one, person.id), ['viewer']);
      const approved = await admins.decide(two, proposed.json['id'], 'approve');
      assert.deepEqual([approved.status, approved.json['state']], [200, 'approved'], approved.text);
      await assertAudited(testEnv, approved, {
        action: 'member_change.approved',
        before: { member: person.id, roles: ['viewer'] },
        after: { roles: ['viewer', role], proposed_by: one.person.id },
      });
      assert.deepEqual(await admins.rolesOf(one, person.id), ['viewer', role]);
      if (role === 'owner')
        await testEnv.db.pool.query("UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
      if (role === 'admin')
        await testEnv.db.pool.query("UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
    }
  });

  it('but nobody needs to, to one that gives no such part, or takes one from somebody who rules nobody', async () => {
    const { merchantId, one } = await admins.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['maker', 'approver']);
    assert.equal((await admins.change(one, person.id, ['maker', 'developer'])).status, 200);
    assert.equal((await admins.change(one, person.id, ['viewer'])).status, 200);
    assert.equal((await admins.remove(one, person.id)).status, 204);
  });

  it('that takes the power over people from another, who may be that second person', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin', 'viewer');
    const demotion = await admins.change(one, admin.person.id, ['viewer']);
    admins.assertWaits(demotion, two, admin);
    assert.equal((await admins.decide(admin, demotion.json['id'], 'approve')).status, 200);
    assert.deepEqual(await admins.rolesOf(one, admin.person.id), ['viewer']);
    const removal = await admins.remove(one, two.person.id);
    admins.assertWaits(removal, two);
    assert.equal(removal.json['roles_after'], null);
    assert.equal((await two.browser.call('GET', MEMBERS)).status, 200, 'not before they agree');
    assertError(await admins.decide(one, removal.json['id'], 'approve'), 'permission_denied');
    assert.equal((await admins.decide(two, removal.json['id'], 'approve')).status, 200);
    assertError(await two.browser.call('GET', MEMBERS), 'permission_denied');
  });

  it('but nobody needs to when somebody leaves, or gives up what they have', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin', 'maker');
    assert.equal((await admins.change(admin, admin.person.id, ['admin'])).status, 200);
    assert.equal((await admins.remove(admin, admin.person.id)).status, 204);
    assert.equal((await admins.change(two, two.person.id, ['admin'])).status, 200);
    assertError(await admins.remove(one, one.person.id), 'state_conflict');
  });

  it('but nobody needs to, where there is no other owner or admin', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await admins.addAdministrator(merchantId, 'owner');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const changed = await admins.change(owner, person.id, ['approver']);
    assert.deepEqual([changed.status, changed.json['roles']], [200, ['approver']]);
    await assertAudited(testEnv, changed, { action: 'member.roles_changed' });
  });

  it('never to their own, and to one that makes an owner only as an owner', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await admins.change(one, person.id, ['owner'])).json;
    for (const verb of ['approve', 'reject'] as const)
      assertError(await admins.decide(one, id, verb), 'permission_denied');
    assertError(await admins.decide(admin, id, 'approve'), 'permission_denied');
    const viewer = await admins.addAdministrator(merchantId, 'viewer', 'approver');
    assertError(await admins.decide(viewer, id, 'approve'), 'permission_denied');
    assert.equal((await admins.decide(two, id, 'approve')).status, 200);
  });

  it('or rejects it, or nobody does: the one who proposed it withdraws or replaces it', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const rejected = (await admins.change(one, person.id, ['maker'])).json['id'];
    const response = await admins.decide(two, rejected, 'reject');
    assert.deepEqual([response.status, response.json['state']], [200, 'rejected']);
    await assertAudited(testEnv, response, { action: 'member_change.rejected', subject_id: String(rejected) });
    const withdrawn = (await admins.change(one, person.id, ['maker'])).json['id'];
    assertError(await admins.withdraw(two, withdrawn), 'permission_denied');
    const gone = await admins.withdraw(one, withdrawn);
    assert.equal(gone.status, 204);
    await assertAudited(testEnv, gone, { action: 'member_change.withdrawn', subject_id: String(withdrawn) });
    assertError(await admins.withdraw(one, withdrawn), 'state_conflict');
    const replaced = (await admins.change(one, person.id, ['maker'])).json['id'];
    const next = await admins.change(one, person.id, ['approver']);
    assert.deepEqual(
      (await auditRows(testEnv, next)).map(({ action, subject_id: subject }) => [action, subject]),
      [
        ['member_change.replaced', replaced],
        ['member_change.proposed', next.json['id']],
      ],
    );
    for (const id of [rejected, withdrawn, replaced])
      assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await admins.decide(two, next.json['id'], 'approve')).status, 200);
    assert.deepEqual(await admins.rolesOf(one, person.id), ['approver']);
  });

  it('within seven days, and once: of two at the same moment, one decides', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const third = await admins.addAdministrator(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const late = (await admins.change(one, person.id, ['maker'])).json['id'];
    await testEnv.db.pool.query('UPDATE member_changes SET expires_at = now() WHERE id = $1', [late]);
    assertError(await admins.decide(two, late, 'approve'), 'state_conflict');
    assert.deepEqual(
      (await admins.membersOf(one)).flatMap((member) => member.waiting_changes),
      [],
    );
    const { id } = (await admins.change(one, person.id, ['maker'])).json;
    const both = await Promise.all([admins.decide(two, id, 'approve'), admins.decide(third, id, 'reject')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  });

  it('of the member as they were: what was changed meanwhile is not changed again', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await admins.change(one, person.id, ['viewer', 'maker'])).json;
    const meanwhile = await admins.change(two, person.id, ['developer']);
    assert.equal(meanwhile.status, 200);
    const entries = await auditRows(testEnv, meanwhile);
    assert.deepEqual(
      entries.map(({ action, subject_id: subject }) => [action, subject]),
      [
        ['member.roles_changed', person.id],
        ['member_change.replaced', id],
      ],
    );
    assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    // A row that something else changed is caught at the moment it would take effect.
    const again = (await admins.change(one, person.id, ['developer', 'maker'])).json['id'];
    await testEnv.db.pool.query("UPDATE members SET roles = '{developer,approver}' WHERE user_id = $1", [person.id]);
    assertError(await admins.decide(two, again, 'approve'), 'state_conflict');
  });

  it('to remove somebody, who cannot keep two others from it by whatever they do with their own roles', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const rogue = await admins.addAdministrator(merchantId, 'owner');
    const removal = (await admins.remove(one, rogue.person.id)).json['id'];
    const rejected = await admins.decide(rogue, removal, 'reject');
    assertError(rejected, 'permission_denied');
    await assertAudited(testEnv, rejected, { outcome: 'refused', after: { reason: 'rejects a change of their own' } });
    const demotion = (await admins.change(two, rogue.person.id, ['viewer'])).json['id'];
    const same = await admins.change(rogue, rogue.person.id, ['owner']);
    assert.deepEqual([same.status, same.json['roles']], [200, ['owner']]);
    assert.deepEqual(await auditRows(testEnv, same), []);
    const escape = await admins.change(rogue, rogue.person.id, ['viewer', 'owner']);
    assert.deepEqual(
      (await auditRows(testEnv, escape)).map(({ action, subject_id: subject }) => [action, subject]),
      [
        ['member.roles_changed', rogue.person.id],
        ['member_change.replaced', demotion],
      ],
    );
    const approved = await admins.decide(two, removal, 'approve');
    assert.equal(approved.status, 200, approved.text);
    const before = { member: rogue.person.id, roles: ['viewer', 'owner'] };
    await assertAudited(testEnv, approved, { action: 'member_change.approved', before });
    assertError(await rogue.browser.call('GET', MEMBERS), 'permission_denied');
  });

  it('to remove somebody, unless they have become more than its proposer may remove', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const [proposer, admin] = [
      await admins.addAdministrator(merchantId, 'admin'),
      await admins.addAdministrator(merchantId, 'admin'),
    ];
    const removal = (await admins.remove(proposer, admin.person.id)).json['id'];
    const promotion = (await admins.change(one, admin.person.id, ['owner'])).json['id'];
    assert.equal((await admins.decide(two, promotion, 'approve')).status, 200);
    assertError(await admins.decide(two, removal, 'approve'), 'state_conflict');
  });

  it('that its proposer may still propose', async () => {
    const { merchantId, two } = await admins.twoOwners();
    const proposer = await admins.addAdministrator(merchantId, 'admin', 'maker');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await admins.change(proposer, person.id, ['maker'])).json;
    assert.equal((await admins.change(proposer, proposer.person.id, ['admin'])).status, 200);
    assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await admins.remove(proposer, proposer.person.id)).status, 204);
    assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await admins.decide(two, id, 'reject')).status, 200);
  });

  it('that leaves an owner: two that take one each leave the last', async () => {
    const { one, two, merchantId } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin');
    const removals = [
      (await admins.remove(one, two.person.id)).json['id'],
      (await admins.remove(two, one.person.id)).json['id'],
    ] as const;
    const responses = await Promise.all(removals.map((id) => admins.decide(admin, id, 'approve')));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
    const owners = (await admins.membersOf(admin)).filter(({ roles }) => roles.includes('owner'));
    assert.equal(owners.length, 1);
  });

  it('or, where they are gone, whoever runs the service: all is judged again there too', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const removal = (await admins.remove(one, two.person.id)).json['id'];
    const input = { id: String(removal), decision: 'approved', at: new Date() } as const;
    const by = { serviceFor: merchantId };
    const elsewhere = { serviceFor: testEnv.merchant.id };
    await assert.rejects(decideMemberChange(testEnv.db, { ...input, by: elsewhere }), /There is no such proposal/);
    const decided = await decideMemberChange(testEnv.db, { ...input, by });
    assert.deepEqual([decided.state, decided.decidedBy], ['approved', null]);
    assertError(await two.browser.call('GET', MEMBERS), 'permission_denied');
    const { rows } = await testEnv.db.pool.query(
      'SELECT action, user_id, api_key_id FROM audit_entries WHERE subject_id = $1 ORDER BY id DESC LIMIT 1',
      [removal],
    );
    assert.deepEqual(rows, [{ action: 'member_change.approved', user_id: null, api_key_id: null }]);
    await assert.rejects(decideMemberChange(testEnv.db, { ...input, by }), /was decided, withdrawn or replaced/);
  });
});
