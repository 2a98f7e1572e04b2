// Changes of members that two people must agree to: roles that move money, and the roles of owners and admins.
import assert from 'node:assert/strict';
import { decideProposal } from '../../../src/operations/accounts/decide-proposal.ts';
import { AMINA } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';
import { createMemberClient } from './member-client.ts';
import { rewrite } from '../../support/attestation.ts';
import { columnsOf } from '../../support/values-of.ts';

const MEMBERS = '/v1/console/members';

describe('a change of a member’s roles', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const members = createMemberClient(testEnv);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  it('waits for a second person when it gives a role that takes part in moving money out', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    for (const role of ['owner', 'admin', 'maker', 'approver'] as const) {
      const person = await addPerson(testEnv, merchantId, ['viewer']);
      const proposed = await members.change(one, person.id, ['viewer', role]);
      members.assertWaits(proposed, two);
      await assertAudited(testEnv, proposed, { action: 'member_change.proposed' });
      assert.deepEqual(await members.rolesOf(one, person.id), ['viewer']);
      const approved = await members.decide(two, proposed.json['id'], 'approve');
      assert.deepEqual([approved.status, approved.json['state']], [200, 'approved'], approved.text);
      await assertAudited(testEnv, approved, {
        action: 'member_change.approved',
        before: { member: person.id, roles: ['viewer'] },
        after: { roles: ['viewer', role], proposed_by: one.person.id },
      });
      assert.deepEqual(await members.rolesOf(one, person.id), ['viewer', role]);
      if (role === 'owner')
        await rewrite(testEnv.db, "UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
      if (role === 'admin')
        await rewrite(testEnv.db, "UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
    }
  });

  it('needs no second person when it gives no such role, or takes one from anybody but an owner or admin', async () => {
    const { merchantId, one } = await members.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['maker', 'approver']);
    assert.equal((await members.change(one, person.id, ['maker', 'developer'])).status, 200);
    assert.equal((await members.change(one, person.id, ['viewer'])).status, 200);
    assert.equal((await members.remove(one, person.id)).status, 204);
  });

  it('waits for a second person, who may be the member concerned, if it removes owner or admin', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin', 'viewer');
    const demotion = await members.change(one, admin.person.id, ['viewer']);
    members.assertWaits(demotion, two, admin);
    assert.equal((await members.decide(admin, demotion.json['id'], 'approve')).status, 200);
    assert.deepEqual(await members.rolesOf(one, admin.person.id), ['viewer']);
    const removal = await members.remove(one, two.person.id);
    members.assertWaits(removal, two);
    assert.equal(removal.json['roles_after'], null);
    assert.equal((await two.browser.call('GET', MEMBERS)).status, 200, 'nothing changes before they agree');
    assertError(await members.decide(one, removal.json['id'], 'approve'), 'permission_denied');
    assert.equal((await members.decide(two, removal.json['id'], 'approve')).status, 200);
    assertNotAuthenticated(await two.browser.call('GET', MEMBERS));
  });

  it('needs no second person when members leave or give up their own role', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin', 'maker');
    assert.equal((await members.change(admin, admin.person.id, ['admin'])).status, 200);
    assert.equal((await members.remove(admin, admin.person.id)).status, 204);
    assert.equal((await members.change(two, two.person.id, ['admin'])).status, 200);
    assertError(await members.remove(one, one.person.id), 'state_conflict');
  });

  it('needs no second person without another owner or admin', async () => {
    const { merchantId, owner } = await members.oneOwner();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const changed = await members.change(owner, person.id, ['approver']);
    assert.deepEqual([changed.status, changed.json['roles']], [200, ['approver']]);
    await assertAudited(testEnv, changed, { action: 'member.roles_changed' });
  });

  it('is never decided by its proposer, and only by an owner when it makes an owner', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await members.change(one, person.id, ['owner'])).json;
    for (const verb of ['approve', 'reject'] as const)
      assertError(await members.decide(one, id, verb), 'permission_denied');
    assertError(await members.decide(admin, id, 'approve'), 'permission_denied');
    const viewer = await members.add(merchantId, 'viewer', 'approver');
    assertError(await members.decide(viewer, id, 'approve'), 'permission_denied');
    assert.equal((await members.decide(two, id, 'approve')).status, 200);
  });

  it('is rejected by a second person, or withdrawn or replaced by its proposer', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const rejected = (await members.change(one, person.id, ['maker'])).json['id'];
    const response = await members.decide(two, rejected, 'reject');
    assert.deepEqual([response.status, response.json['state']], [200, 'rejected']);
    await assertAudited(testEnv, response, { action: 'member_change.rejected', subject_id: String(rejected) });
    const withdrawn = (await members.change(one, person.id, ['maker'])).json['id'];
    assertError(await members.withdraw(two, withdrawn), 'permission_denied');
    const withdrawal = await members.withdraw(one, withdrawn);
    assert.equal(withdrawal.status, 204);
    await assertAudited(testEnv, withdrawal, { action: 'member_change.withdrawn', subject_id: String(withdrawn) });
    assertError(await members.withdraw(one, withdrawn), 'state_conflict');
    const replaced = (await members.change(one, person.id, ['maker'])).json['id'];
    const next = await members.change(one, person.id, ['approver']);
    assert.deepEqual(columnsOf(await auditRows(testEnv, next), 'action', 'subject_id'), [
      ['member_change.replaced', replaced],
      ['member_change.proposed', next.json['id']],
    ]);
    for (const id of [rejected, withdrawn, replaced])
      assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await members.decide(two, next.json['id'], 'approve')).status, 200);
    assert.deepEqual(await members.rolesOf(one, person.id), ['approver']);
  });

  it('expires after seven days, and is decided once when two people decide at the same moment', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const third = await members.add(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const late = (await members.change(one, person.id, ['maker'])).json['id'];
    await rewrite(testEnv.db, 'UPDATE proposals SET expires_at = now() WHERE id = $1', [late]);
    assertError(await members.decide(two, late, 'approve'), 'state_conflict');
    assert.deepEqual(
      (await members.list(one)).flatMap((member) => member.waiting_changes),
      [],
    );
    const { id } = (await members.change(one, person.id, ['maker'])).json;
    const both = await Promise.all([members.decide(two, id, 'approve'), members.decide(third, id, 'reject')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  });

  it('has no effect on a member who has changed meanwhile', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await members.change(one, person.id, ['viewer', 'maker'])).json;
    const meanwhile = await members.change(two, person.id, ['developer']);
    assert.equal(meanwhile.status, 200);
    const entries = await auditRows(testEnv, meanwhile);
    assert.deepEqual(columnsOf(entries, 'action', 'subject_id'), [
      ['member.roles_changed', person.id],
      ['member_change.replaced', id],
    ]);
    assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    // A row that was changed by other means is detected when the change would take effect.
    const again = (await members.change(one, person.id, ['developer', 'maker'])).json['id'];
    await rewrite(testEnv.db, "UPDATE members SET roles = '{developer,approver}' WHERE user_id = $1", [person.id]);
    assertError(await members.decide(two, again, 'approve'), 'state_conflict');
  });

  it('removes a member who cannot prevent it by any change of their own roles', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const rogue = await members.add(merchantId, 'owner');
    const removal = (await members.remove(one, rogue.person.id)).json['id'];
    const rejected = await members.decide(rogue, removal, 'reject');
    await assertDenied(testEnv, rejected, { after: { reason: 'rejects a change of their own' } });
    const demotion = (await members.change(two, rogue.person.id, ['viewer'])).json['id'];
    const same = await members.change(rogue, rogue.person.id, ['owner']);
    assert.deepEqual([same.status, same.json['roles']], [200, ['owner']]);
    assert.deepEqual(await auditRows(testEnv, same), []);
    const escape = await members.change(rogue, rogue.person.id, ['viewer', 'owner']);
    assert.deepEqual(columnsOf(await auditRows(testEnv, escape), 'action', 'subject_id'), [
      ['member.roles_changed', rogue.person.id],
      ['member_change.replaced', demotion],
    ]);
    const approved = await members.decide(two, removal, 'approve');
    assert.equal(approved.status, 200, approved.text);
    const before = { member: rogue.person.id, roles: ['viewer', 'owner'] };
    await assertAudited(testEnv, approved, { action: 'member_change.approved', before });
    assertNotAuthenticated(await rogue.browser.call('GET', MEMBERS));
  });

  it('does not remove a member whose new roles its proposer may not remove', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const [proposer, admin] = [await members.add(merchantId, 'admin'), await members.add(merchantId, 'admin')];
    const removal = (await members.remove(proposer, admin.person.id)).json['id'];
    const promotion = (await members.change(one, admin.person.id, ['owner'])).json['id'];
    assert.equal((await members.decide(two, promotion, 'approve')).status, 200);
    assertError(await members.decide(two, removal, 'approve'), 'state_conflict');
  });

  it('cannot be approved when its proposer may no longer propose it', async () => {
    const { merchantId, two } = await members.twoOwners();
    const proposer = await members.add(merchantId, 'admin', 'maker');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const { id } = (await members.change(proposer, person.id, ['maker'])).json;
    assert.equal((await members.change(proposer, proposer.person.id, ['admin'])).status, 200);
    assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await members.remove(proposer, proposer.person.id)).status, 204);
    assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    assert.equal((await members.decide(two, id, 'reject')).status, 200);
  });

  it('never removes the last owner, even when two removals are approved at once', async () => {
    const { one, two, merchantId } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin');
    const removals = [
      (await members.remove(one, two.person.id)).json['id'],
      (await members.remove(two, one.person.id)).json['id'],
    ] as const;
    const responses = await Promise.all(removals.map((id) => members.decide(admin, id, 'approve')));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
    const owners = (await members.list(admin)).filter(({ roles }) => roles.includes('owner'));
    assert.equal(owners.length, 1);
  });

  it('is decided by the service staff without a second person, by the same rules', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const removal = (await members.remove(one, two.person.id)).json['id'];
    const input = { kind: 'member_change', id: String(removal), decision: 'approved', at: new Date() } as const;
    const by = { serviceFor: merchantId, staff: AMINA };
    const elsewhere = { serviceFor: testEnv.merchant.id, staff: AMINA };
    await assert.rejects(decideProposal(testEnv.db, { ...input, by: elsewhere }), /There is no proposal with this id/);
    const decided = (await decideProposal(testEnv.db, { ...input, by })).proposal;
    assert.deepEqual([decided.state, decided.decidedBy], ['approved', null]);
    assertNotAuthenticated(await two.browser.call('GET', MEMBERS));
    const { rows } = await testEnv.db.pool.query(
      'SELECT action, user_id, api_key_id FROM audit_entries WHERE subject_id = $1 ORDER BY id DESC LIMIT 1',
      [removal],
    );
    assert.deepEqual(rows, [{ action: 'member_change.approved', user_id: null, api_key_id: null }]);
    await assert.rejects(decideProposal(testEnv.db, { ...input, by }), /was decided, withdrawn or replaced/);
  });
});
