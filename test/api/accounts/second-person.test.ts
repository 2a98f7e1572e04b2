// Who gets a part in moving money out comes in on two people's word, and no detour leads around it.
import assert from 'node:assert/strict';
import type { UserId } from '../../../src/domain/ids.ts';
import { newToken } from '../../../src/security/token.ts';
import { createMerchant } from '../../../src/operations/accounts/create-merchant.ts';
import { decideInvitation } from '../../../src/operations/accounts/decide-invitation.ts';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment.ts';
import { addPerson, assertAudited, logIn } from '../../support/people.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { administrationOf, type Administrator, type Administration } from './administrators.ts';

describe('a second person', () => {
  let testEnv: TestEnvironment;
  let admins: Administration;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
    admins = administrationOf(testEnv);
  });
  after(() => testEnv.stop());
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  describe('agrees to an invitation', () => {
    for (const role of ['owner', 'admin', 'maker', 'approver'] as const) {
      it(`to be ${role}, who comes in with what both handed over and not with less`, async () => {
        const { one, two } = await admins.twoOwners();
        const made = await admins.invite(one, [role, 'viewer']);
        admins.assertWaits(made, two);
        assert.equal(made.json['approval'], 'waiting');
        const { id, token } = made.json;
        assertError(await admins.accept({ token }), 'invitation_not_found');
        const approved = await admins.decide(two, id, 'approve');
        assert.deepEqual([approved.status, approved.json['approval']], [200, 'approved'], approved.text);
        const { approval_token: second } = approved.json;
        await assertAudited(testEnv, approved, { action: 'invitation.approved', subject_id: String(id) });
        assertError(await admins.accept({ token }), 'invitation_not_found');
        assertError(await admins.accept({ token, approval_token: token }), 'invitation_not_found');
        assertError(await admins.accept({ token: second, approval_token: second }), 'invitation_not_found');
        const accepted = await admins.accept({ token, approval_token: second });
        assert.deepEqual([accepted.status, accepted.json['roles']], [201, [role, 'viewer']], accepted.text);
        const after = { roles: [role, 'viewer'], approved_by: two.person.id };
        await assertAudited(testEnv, accepted, { action: 'invitation.accepted', after });
      });
    }

    it('but nobody needs to, to one that has no part in moving money out', async () => {
      const { one } = await admins.twoOwners();
      const made = await admins.invite(one, ['developer', 'viewer']);
      assert.deepEqual([made.status, made.json['approval'], made.json['waits_for']], [201, 'not_needed', []]);
      assertError(
        await admins.decide((await admins.twoOwners()).one, made.json['id'], 'approve'),
        'invitation_not_found',
      );
      assert.equal((await admins.accept({ token: made.json['token'] })).status, 201);
    });

    it('but nobody needs to, where there is no other owner or admin', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const owner = await admins.addAdministrator(merchantId, 'owner');
      const made = await admins.invite(owner, ['approver']);
      assert.deepEqual([made.status, made.json['approval']], [201, 'not_needed']);
      const entry = await assertAudited(testEnv, made, { action: 'invitation.created' });
      assert.equal(entry.after?.['waits_for_approval'], false);
      assert.equal((await admins.accept({ token: made.json['token'] })).status, 201);
    });

    it('even to one of a time when there was no other: there is one now', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const owner = await admins.addAdministrator(merchantId, 'owner');
      const { id, token } = (await admins.invite(owner, ['approver'])).json;
      const admin = await admins.addAdministrator(merchantId, 'admin');
      assertError(await admins.accept({ token }), 'invitation_not_found');
      assert.deepEqual(
        (await admins.invitationsOf(owner)).map(({ approval, waits_for: people }) => [
          approval,
          people.map((one) => one.id),
        ]),
        [['waiting', [admin.person.id]]],
      );
      const { approval_token: second } = (await admins.decide(admin, id, 'approve')).json;
      assert.equal((await admins.accept({ token, approval_token: second })).status, 201);
    });

    it('also when the first other admin comes in at the same moment', async () => {
      for (let round = 0; round < 5; round++) {
        const { id: merchantId } = await testEnv.addMerchant();
        const owner = await admins.addAdministrator(merchantId, 'owner');
        const approver = (await admins.invite(owner, ['approver'])).json['token'];
        const admin = (await admins.invite(owner, ['admin'])).json['token'];
        const [first, second] = await Promise.all([approver, admin].map((token) => admins.accept({ token })));
        assert.equal(second!.status, 201, second!.text);
        const { rows } = await testEnv.db.pool.query<{ request_id: string }>(
          `SELECT request_id FROM audit_entries WHERE merchant_id = $1 AND action = 'invitation.accepted' ORDER BY id`,
          [merchantId],
        );
        // Either the approver came in before there was an admin, or not at all.
        if (first!.status === 201) assert.equal(rows[0]?.request_id, first!.headers.get('malipo-request-id'));
        else assertError(first!, 'invitation_not_found');
      }
    });

    it('never to their own, and only as an owner or admin', async () => {
      const { merchantId, one, two } = await admins.twoOwners();
      const { id } = (await admins.invite(one, ['approver'])).json;
      for (const verb of ['approve', 'reject'] as const) {
        const refused = await admins.decide(one, id, verb);
        assertError(refused, 'permission_denied');
        await assertAudited(testEnv, refused, {
          outcome: 'refused',
          after: { reason: 'decides on an invitation of their own' },
        });
        assertError(
          await admins.decide(await admins.addAdministrator(merchantId, 'approver', 'maker'), id, verb),
          'permission_denied',
        );
      }
      assert.equal((await admins.decide(two, id, 'approve')).status, 200);
      assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    });

    it('of an owner as an owner; where there is no other, whoever runs the service does', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const owner = await admins.addAdministrator(merchantId, 'owner');
      const admin = await admins.addAdministrator(merchantId, 'admin');
      const made = await admins.invite(owner, ['owner']);
      admins.assertWaits(made);
      const { id, token } = made.json;
      assertError(await admins.decide(admin, id, 'approve'), 'permission_denied');
      const input = { id: String(id), decision: 'approved', by: { serviceFor: merchantId }, at: new Date() } as const;
      const decided = await decideInvitation(testEnv.db, input);
      assert.ok(decided.kind === 'approved');
      const { data } = (await owner.browser.call('GET', '/v1/console/audit?limit=1')).json as unknown as {
        data: Record<string, unknown>[];
      };
      assert.deepEqual(
        [data[0]!['action'], data[0]!['person'], data[0]!['api_key']],
        ['invitation.approved', null, null],
      );
      const accepted = await admins.accept({ token, approval_token: decided.approvalToken });
      assert.equal(accepted.status, 201, accepted.text);
    });

    it('or rejects it, and then its token never opens anything', async () => {
      const { one, two } = await admins.twoOwners();
      const { id, token } = (await admins.invite(one, ['maker'])).json;
      const rejected = await admins.decide(two, id, 'reject');
      assert.equal(rejected.status, 204);
      await assertAudited(testEnv, rejected, { action: 'invitation.rejected', subject_id: String(id) });
      assertError(await admins.decide(two, id, 'approve'), 'invitation_not_found');
      assertError(await admins.accept({ token }), 'invitation_not_found');
      assert.deepEqual(await admins.invitationsOf(one), []);
    });

    it('to a person who is known as to one who is new', async () => {
      const { one, two } = await admins.twoOwners();
      const known = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
      const { id, token } = (await admins.invite(one, ['approver'], known.email)).json;
      assertError(await admins.accept({ token }), 'invitation_not_found');
      const { approval_token: second } = (await admins.decide(two, id, 'approve')).json;
      assertError(await admins.accept({ token }), 'invitation_not_found');
      assertError(
        await admins.accept({ token, approval_token: second, password: 'a password of nobody' }),
        'permission_denied',
      );
      const accepted = await admins.accept({ token, approval_token: second });
      assert.deepEqual([accepted.status, accepted.json['id']], [201, known.id]);
    });

    it('for as long as they are one: who was removed agreed to nothing', async () => {
      const { merchantId, one, two } = await admins.twoOwners();
      const third = await admins.addAdministrator(merchantId, 'admin');
      const { id, token } = (await admins.invite(one, ['approver'])).json;
      const { approval_token: gone } = (await admins.decide(third, id, 'approve')).json;
      assert.equal((await admins.remove(third, third.person.id)).status, 204);
      assertError(await admins.accept({ token, approval_token: gone }), 'invitation_not_found');
      const { approval_token: second } = (await admins.decide(two, id, 'approve')).json;
      assertError(await admins.accept({ token, approval_token: gone }), 'invitation_not_found');
      assert.equal((await admins.accept({ token, approval_token: second })).status, 201);
    });

    it('and not to what its sender may not grant any more', async () => {
      const { merchantId, two } = await admins.twoOwners();
      const sender = await admins.addAdministrator(merchantId, 'admin', 'maker');
      const { id } = (await admins.invite(sender, ['maker'])).json;
      assert.equal((await admins.change(sender, sender.person.id, ['admin'])).status, 200);
      assertError(await admins.decide(two, id, 'approve'), 'state_conflict');
    });

    it('within seven days', async () => {
      const { one, two } = await admins.twoOwners();
      const { id } = (await admins.invite(one, ['maker'])).json;
      await testEnv.db.pool.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);
      assertError(await admins.decide(two, id, 'approve'), 'invitation_not_found');
    });
  });

  it('is waited for from the start, where two owners were invited: the first to come in lets in no second self', async () => {
    const owners = [admins.newEmail(), admins.newEmail()].map((email) => ({ email, ...newToken() }));
    const [first, other] = owners as [(typeof owners)[0], (typeof owners)[0]];
    const invited = owners.map(({ email, sha256 }) => ({ email, tokenSha256: sha256 }));
    const input = { name: 'Duka', currency: 'UGX', owners: invited, at: new Date() } as const;
    const merchantId = await createMerchant(testEnv.db, input);
    const comeIn = async ({ email, token }: typeof first): Promise<Administrator> => {
      const accepted = await admins.accept({ token });
      assert.equal(accepted.status, 201, accepted.text);
      const person = { id: accepted.json['id'] as UserId, merchantId, email, totpSecret: null };
      return { person, browser: await logIn(testEnv, person) };
    };
    const one = await comeIn(first);
    const self = await admins.invite(one, ['approver']);
    admins.assertWaits(self);
    assertError(await admins.accept({ token: self.json['token'] }), 'invitation_not_found');
    const viewer = await admins.accept({ token: (await admins.invite(one, ['viewer'])).json['token'] });
    admins.assertWaits(await admins.change(one, String(viewer.json['id']), ['approver']));
    const awaited = (await admins.invitationsOf(one)).find(({ email }) => email === other.email)!;
    const withdrawn = await one.browser.call('DELETE', `/v1/console/invitations/${awaited.id}`);
    assertError(withdrawn, 'permission_denied');
    await assertAudited(testEnv, withdrawn, { outcome: 'refused', subject_id: awaited.id });
    assertError(await admins.invite(one, ['viewer'], other.email), 'permission_denied');
    const two = await comeIn(other);
    assert.deepEqual(
      (await admins.invitationsOf(two)).map(({ approval, waits_for: people }) => [
        approval,
        people.map(({ id }) => id),
      ]),
      [['waiting', [two.person.id]]],
    );
  });

  it('sees what waits for them, and everybody sees for whom it waits', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    await admins.invite(one, ['maker']);
    await admins.invite(one, ['owner']);
    await admins.change(one, person.id, ['approver']);
    await one.browser.call('PATCH', '/v1/console/policy', { json: { second_factor_required: true } });
    const none = { invitations: 0, member_changes: 0, policy_changes: 0 };
    assert.deepEqual(await admins.waitingFor(one), none);
    assert.deepEqual(await admins.waitingFor(two), { invitations: 2, member_changes: 1, policy_changes: 1 });
    assert.deepEqual(await admins.waitingFor(admin), { invitations: 1, member_changes: 1, policy_changes: 1 });
    const viewer = await admins.addAdministrator(merchantId, 'viewer');
    assert.deepEqual(await admins.waitingFor(viewer), none);
    const [waiting] = (await admins.membersOf(viewer)).find(({ id }) => id === person.id)!.waiting_changes;
    assert.deepEqual(waiting?.waits_for.map(({ id }) => id).sort(), [two.person.id, admin.person.id].sort());
    assert.deepEqual(
      [waiting['roles_before'], waiting['roles_after'], waiting['state']],
      [['viewer'], ['approver'], 'pending'],
    );
    assert.deepEqual(
      (await admins.invitationsOf(viewer)).map(({ waits_for: people }) => people.length),
      [1, 2],
    );
  });

  it('cannot be made up in two harmless steps: neither the maker nor the approver comes in alone', async () => {
    const { one, two } = await admins.twoOwners();
    const selves: unknown[] = [];
    for (const role of ['maker', 'approver'] as const) {
      const made = await admins.invite(one, [role]);
      admins.assertWaits(made, two);
      selves.push(made.json['token']);
    }
    const viewer = await admins.accept({ token: (await admins.invite(one, ['viewer'])).json['token'] });
    admins.assertWaits(await admins.change(one, String(viewer.json['id']), ['maker']), two);
    for (const token of selves) assertError(await admins.accept({ token }), 'invitation_not_found');
  });

  it('cannot be shaken off: who removes the others to be alone needs one of them', async () => {
    const { merchantId, one, two } = await admins.twoOwners();
    const admin = await admins.addAdministrator(merchantId, 'admin');
    for (const { person } of [two, admin]) {
      assert.equal((await admins.remove(one, person.id)).status, 202);
      assert.equal((await admins.change(one, person.id, ['viewer'])).status, 202);
    }
    admins.assertWaits(await admins.invite(one, ['approver']), two, admin);
  });
});
