// A person with a role that moves money joins only with the agreement of two people, and there is no way around it.
import assert from 'node:assert/strict';
import type { UserId } from '../../../src/domain/ids.ts';
import { newToken } from '../../../src/security/token.ts';
import { createMerchant } from '../../../src/operations/accounts/create-merchant.ts';
import { decideProposal } from '../../../src/operations/accounts/decide-proposal.ts';
import { AMINA } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, enrolSecondFactor, logIn } from '../../support/people.ts';
import { assertAudited } from '../../support/audit-rows.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';
import { createMemberClient, type LoggedInMember } from './member-client.ts';
import { rewrite } from '../../support/attestation.ts';

describe('a second person', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const members = createMemberClient(testEnv);
  beforeEach(() => testEnv.db.pool.query('DELETE FROM attempt_counters'));

  describe('for an invitation', () => {
    for (const role of ['owner', 'admin', 'maker', 'approver'] as const) {
      it(`approves the role ${role}, and the invited person joins only with the tokens of both`, async () => {
        const { one, two } = await members.twoOwners();
        const invited = await members.invite(one, [role, 'viewer']);
        members.assertWaits(invited, two);
        assert.equal(invited.json['approval'], 'waiting');
        const { id, token } = invited.json;
        assertError(await members.accept({ token }), 'invitation_not_found');
        const approved = await members.decide(two, id, 'approve');
        assert.deepEqual([approved.status, approved.json['approval']], [200, 'approved'], approved.text);
        const { approval_token: second } = approved.json;
        await assertAudited(testEnv, approved, { action: 'invitation.approved', subject_id: String(id) });
        assertError(await members.accept({ token }), 'invitation_not_found');
        assertError(await members.accept({ token, approval_token: token }), 'invitation_not_found');
        assertError(await members.accept({ token: second, approval_token: second }), 'invitation_not_found');
        const accepted = await members.accept({ token, approval_token: second });
        assert.deepEqual([accepted.status, accepted.json['roles']], [201, [role, 'viewer']], accepted.text);
        const after = { roles: [role, 'viewer'], approved_by: two.person.id, verified_by: null };
        await assertAudited(testEnv, accepted, { action: 'invitation.accepted', after });
      });
    }

    it('is not needed for roles that take no part in moving money out', async () => {
      const { one } = await members.twoOwners();
      const invited = await members.invite(one, ['developer', 'viewer']);
      assert.deepEqual([invited.status, invited.json['approval'], invited.json['waits_for']], [201, 'not_needed', []]);
      assertError(
        await members.decide((await members.twoOwners()).one, invited.json['id'], 'approve'),
        'invitation_not_found',
      );
      assert.equal((await members.accept({ token: invited.json['token'] })).status, 201);
    });

    it('is not needed without another owner or admin', async () => {
      const { owner } = await members.oneOwner();
      const invited = await members.invite(owner, ['approver']);
      assert.deepEqual([invited.status, invited.json['approval']], [201, 'not_needed']);
      const entry = await assertAudited(testEnv, invited, { action: 'invitation.created' });
      assert.equal(entry.after?.['waits_for_approval'], false);
      assert.equal((await members.accept({ token: invited.json['token'] })).status, 201);
    });

    it('is needed even if they joined after it was sent', async () => {
      const { merchantId, owner } = await members.oneOwner();
      const { id, token } = (await members.invite(owner, ['approver'])).json;
      const admin = await members.add(merchantId, 'admin');
      assertError(await members.accept({ token }), 'invitation_not_found');
      assert.deepEqual(await members.approversOf(owner), [['waiting', [admin.person.id]]]);
      const { approval_token: second } = (await members.decide(admin, id, 'approve')).json;
      assert.equal((await members.accept({ token, approval_token: second })).status, 201);
    });

    it('is needed even if the first other admin joins at the same moment', async () => {
      for (let round = 0; round < 5; round++) {
        const { merchantId, owner } = await members.oneOwner();
        const approver = (await members.invite(owner, ['approver'])).json['token'];
        const admin = (await members.invite(owner, ['admin'])).json['token'];
        const [first, second] = await Promise.all([approver, admin].map((token) => members.accept({ token })));
        assert.equal(second!.status, 201, second!.text);
        const { rows } = await testEnv.db.pool.query<{ request_id: string }>(
          `SELECT request_id FROM audit_entries WHERE merchant_id = $1 AND action = 'invitation.accepted' ORDER BY id`,
          [merchantId],
        );
        // Either the approver joined before there was an admin, or not at all.
        if (first!.status === 201) assert.equal(rows[0]?.request_id, first!.headers.get('malipo-request-id'));
        else assertError(first!, 'invitation_not_found');
      }
    });

    it('is never its sender, and always an owner or admin', async () => {
      const { merchantId, one, two } = await members.twoOwners();
      const { id } = (await members.invite(one, ['approver'])).json;
      for (const verb of ['approve', 'reject'] as const) {
        const refused = await members.decide(one, id, verb);
        await assertDenied(testEnv, refused, { after: { reason: 'decides on an invitation of their own' } });
        assertError(
          await members.decide(await members.add(merchantId, 'approver', 'maker'), id, verb),
          'permission_denied',
        );
      }
      assert.equal((await members.decide(two, id, 'approve')).status, 200);
      assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    });

    it('is an owner for a new owner, and the service staff without another owner', async () => {
      const { merchantId, owner } = await members.oneOwner();
      const admin = await members.add(merchantId, 'admin');
      const invited = await members.invite(owner, ['owner']);
      members.assertWaits(invited);
      const { id, token } = invited.json;
      assertError(await members.decide(admin, id, 'approve'), 'permission_denied');
      const input = {
        kind: 'invitation',
        id: String(id),
        decision: 'approved',
        by: { serviceFor: merchantId, staff: AMINA },
        at: new Date(),
      } as const;
      const decided = await decideProposal(testEnv.db, input);
      const { data } = (await owner.browser.call('GET', '/v1/console/audit?limit=1')).json as unknown as {
        data: Record<string, unknown>[];
      };
      assert.deepEqual(
        [data[0]!['action'], data[0]!['person'], data[0]!['api_key']],
        ['invitation.approved', null, null],
      );
      const accepted = await members.accept({ token, approval_token: decided.approvalToken });
      assert.equal(accepted.status, 201, accepted.text);
    });

    it('may reject it, and then its token is void', async () => {
      const { one, two } = await members.twoOwners();
      const { id, token } = (await members.invite(one, ['maker'])).json;
      const rejected = await members.decide(two, id, 'reject');
      assert.equal(rejected.status, 204);
      await assertAudited(testEnv, rejected, { action: 'invitation.rejected', subject_id: String(id) });
      assertError(await members.decide(two, id, 'approve'), 'invitation_not_found');
      assertError(await members.accept({ token }), 'invitation_not_found');
      assert.deepEqual(await members.invitationsOf(one), []);
    });

    it('is needed for a known person as for a new one', async () => {
      const { one, two } = await members.twoOwners();
      const known = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
      const { id, token } = (await members.invite(one, ['approver'], known.email)).json;
      assertError(await members.accept({ token }), 'invitation_not_found');
      const { approval_token: second } = (await members.decide(two, id, 'approve')).json;
      assertError(await members.accept({ token }), 'invitation_not_found');
      const password = 'a password of nobody';
      assertNotAuthenticated(await members.accept({ token, approval_token: second, password }));
      const accepted = await members.accept({ token, approval_token: second });
      assert.deepEqual([accepted.status, accepted.json['id']], [201, known.id]);
    });

    it('must still be a member when it is accepted: the approval of a removed one does not count', async () => {
      const { merchantId, one, two } = await members.twoOwners();
      const third = await members.add(merchantId, 'admin');
      const { id, token } = (await members.invite(one, ['approver'])).json;
      const { approval_token: voidToken } = (await members.decide(third, id, 'approve')).json;
      assert.equal((await members.remove(third, third.person.id)).status, 204);
      assertError(await members.accept({ token, approval_token: voidToken }), 'invitation_not_found');
      const { approval_token: second } = (await members.decide(two, id, 'approve')).json;
      assertError(await members.accept({ token, approval_token: voidToken }), 'invitation_not_found');
      assert.equal((await members.accept({ token, approval_token: second })).status, 201);
    });

    it('cannot approve roles that the sender may no longer grant', async () => {
      const { merchantId, two } = await members.twoOwners();
      const sender = await members.add(merchantId, 'admin', 'maker');
      const { id } = (await members.invite(sender, ['maker'])).json;
      assert.equal((await members.change(sender, sender.person.id, ['admin'])).status, 200);
      assertError(await members.decide(two, id, 'approve'), 'state_conflict');
    });

    it('must decide within seven days', async () => {
      const { one, two } = await members.twoOwners();
      const { id } = (await members.invite(one, ['maker'])).json;
      await rewrite(testEnv.db, 'UPDATE proposals SET expires_at = now() WHERE id = $1', [id]);
      assertError(await members.decide(two, id, 'approve'), 'invitation_not_found');
    });
  });

  it('is required from the start if two owners were invited: the first cannot admit another account of their own', async () => {
    const owners = [members.newEmail(), members.newEmail()].map((email) => ({ email, ...newToken() }));
    const [first, other] = owners as [(typeof owners)[0], (typeof owners)[0]];
    const invited = owners.map(({ email, sha256 }) => ({ email, tokenSha256: sha256 }));
    const input = { name: 'Duka', currency: 'UGX', invited: { by: AMINA, owners: invited }, at: new Date() } as const;
    const merchantId = await createMerchant(testEnv.db, input);
    const join = async ({ email, token }: typeof first): Promise<LoggedInMember> => {
      const accepted = await members.accept({ token });
      assert.equal(accepted.status, 201, accepted.text);
      const person = { id: accepted.json['id'] as UserId, merchantId, email, totpSecret: null };
      const browser = await logIn(testEnv, person);
      return { person: { ...person, totpSecret: await enrolSecondFactor(browser) }, browser };
    };
    const one = await join(first);
    const self = await members.invite(one, ['approver']);
    members.assertWaits(self);
    assertError(await members.accept({ token: self.json['token'] }), 'invitation_not_found');
    const viewer = await members.accept({ token: (await members.invite(one, ['viewer'])).json['token'] });
    members.assertWaits(await members.change(one, String(viewer.json['id']), ['approver']));
    const openInvitation = (await members.invitationsOf(one)).find(({ email }) => email === other.email)!;
    const withdrawn = await one.browser.call('DELETE', `/v1/console/invitations/${openInvitation.id}`);
    await assertDenied(testEnv, withdrawn, { subject_id: openInvitation.id });
    assertError(await members.invite(one, ['viewer'], other.email), 'permission_denied');
    const two = await join(other);
    assert.deepEqual(await members.approversOf(two), [['waiting', [two.person.id]]]);
  });

  it('sees the proposals that wait for them, and everybody sees whose approval is missing', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin');
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    await members.invite(one, ['maker']);
    await members.invite(one, ['owner']);
    await members.change(one, person.id, ['approver']);
    // The first is stricter and applies at once; to take it back is looser, and waits.
    await one.browser.call('PATCH', '/v1/console/policy', { json: { second_factor_required: true } });
    await one.browser.call('PATCH', '/v1/console/policy', { json: { second_factor_required: false } });
    const none = { invitations: 0, member_changes: 0, policy_changes: 0, payouts: 0, reversals: 0 };
    assert.deepEqual(await members.waitingFor(one), none);
    assert.deepEqual(await members.waitingFor(two), {
      invitations: 2,
      member_changes: 1,
      policy_changes: 1,
      payouts: 0,
      reversals: 0,
    });
    assert.deepEqual(await members.waitingFor(admin), {
      invitations: 1,
      member_changes: 1,
      policy_changes: 1,
      payouts: 0,
      reversals: 0,
    });
    const viewer = await members.add(merchantId, 'viewer');
    assert.deepEqual(await members.waitingFor(viewer), none);
    const [waiting] = (await members.list(viewer)).find(({ id }) => id === person.id)!.waiting_changes;
    assert.deepEqual(waiting?.waits_for.map(({ id }) => id).sort(), [two.person.id, admin.person.id].sort());
    assert.deepEqual(
      [waiting['roles_before'], waiting['roles_after'], waiting['state']],
      [['viewer'], ['approver'], 'pending'],
    );
    const waitingCounts = (await members.invitationsOf(viewer)).map(({ waits_for: people }) => people.length);
    assert.deepEqual(waitingCounts, [1, 2]);
  });

  it('cannot be replaced by two invented people: neither a maker nor an approver joins without them', async () => {
    const { one, two } = await members.twoOwners();
    const selves: unknown[] = [];
    for (const role of ['maker', 'approver'] as const) {
      const invited = await members.invite(one, [role]);
      members.assertWaits(invited, two);
      selves.push(invited.json['token']);
    }
    const viewer = await members.accept({ token: (await members.invite(one, ['viewer'])).json['token'] });
    members.assertWaits(await members.change(one, String(viewer.json['id']), ['maker']), two);
    for (const token of selves) assertError(await members.accept({ token }), 'invitation_not_found');
  });

  it('cannot be removed without the agreement of one of the other owners and admins', async () => {
    const { merchantId, one, two } = await members.twoOwners();
    const admin = await members.add(merchantId, 'admin');
    for (const { person } of [two, admin]) {
      assert.equal((await members.remove(one, person.id)).status, 202);
      assert.equal((await members.change(one, person.id, ['viewer'])).status, 202);
    }
    members.assertWaits(await members.invite(one, ['approver']), two, admin);
  });
});
