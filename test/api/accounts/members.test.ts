// Members and invitations: who may invite, change and remove whom, and that a merchant always has an owner.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import type { ApiResponse } from '../../support/api.ts';
import type { TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, codeOf, logInAs, logIn, PASSWORD, enter } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertNotAuthenticated, assertDenied } from '../responses.ts';
import { valuesOf } from '../../support/values-of.ts';
import { rewrite } from '../../support/attestation.ts';
import { createMemberClient } from './member-client.ts';
import { countRows } from '../../db/rows.ts';

const MEMBERS = '/v1/console/members';
const INVITATIONS = '/v1/console/invitations';

describe('the people of a merchant', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const { accept, newEmail } = createMemberClient(testEnv);

  const change = (browser: Browser, id: string, roles: unknown) =>
    browser.call('PATCH', `${MEMBERS}/${id}`, { json: { roles } });
  const remove = (browser: Browser, id: string) => browser.call('DELETE', `${MEMBERS}/${id}`);
  const invite = (browser: Browser, email: string, roles: unknown) =>
    browser.call('POST', INVITATIONS, { json: { email, roles } });
  /** The owner of a merchant that has no other owner or admin, so that nothing waits for a second person. */
  const onlyOwner = async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    return { merchantId, owner: await logInAs(testEnv, merchantId, 'owner') };
  };
  const rolesOf = async (browser: Browser, id: string) => {
    const { data } = (await browser.call('GET', MEMBERS)).json as unknown as {
      data: { id: string; roles: string[] }[];
    };
    return data.find((member) => member.id === id)?.roles;
  };

  describe('as members', () => {
    it('are listed to every role, in their current state', async () => {
      const merchant = await testEnv.addMerchant();
      const person = await addPerson(testEnv, merchant.id, ['approver', 'viewer'], { hasSecondFactor: true });
      const viewer = await logInAs(testEnv, merchant.id, 'viewer');
      const { data } = (await viewer.call('GET', MEMBERS)).json as unknown as { data: Record<string, unknown>[] };
      assert.equal(data.length, 3);
      const shown = data.find((member) => member['id'] === person.id);
      assert.deepEqual(shown, {
        id: person.id,
        name: 'The approver and viewer',
        email: person.email,
        roles: ['approver', 'viewer'],
        has_second_factor: true,
        created_at: shown?.['created_at'],
        waiting_changes: [],
      });
    });

    it('get only roles that the person who changes them holds', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const person = await addPerson(testEnv, merchantId, ['viewer']);
      const admin = await logInAs(testEnv, merchantId, 'admin', 'approver', 'viewer');
      const changed = await change(admin, person.id, ['approver']);
      assert.deepEqual([changed.status, changed.json['roles']], [200, ['approver']]);
      await assertAudited(testEnv, changed, {
        action: 'member.roles_changed',
        subject_id: person.id,
        before: { roles: ['viewer'] },
        after: { roles: ['approver'] },
      });
      const form = new URLSearchParams([['roles', 'viewer']]);
      assert.deepEqual((await admin.call('PATCH', `${MEMBERS}/${person.id}`, { form })).json['roles'], ['viewer']);
      for (const roles of [['maker'], ['owner'], ['viewer', 'developer']]) {
        const refused = await change(admin, person.id, roles);
        await assertDenied(testEnv, refused, {
          action: `PATCH ${MEMBERS}/:id`,
          subject_id: person.id,
        });
      }
      assert.deepEqual(await rolesOf(admin, person.id), ['viewer']);
    });

    it('cannot give themselves more roles', async () => {
      const { person, browser: admin } = await enter(testEnv, testEnv.merchant.id, ['admin', 'viewer']);
      assertError(await change(admin, person.id, ['admin', 'approver']), 'permission_denied');
      assertError(await change(admin, person.id, ['owner']), 'permission_denied');
      assert.equal((await change(admin, person.id, ['admin'])).status, 200);
    });

    it('are changed and removed by owners alone when they are owners', async () => {
      const merchant = await testEnv.addMerchant();
      const [first, second] = [
        await addPerson(testEnv, merchant.id, ['owner']),
        await addPerson(testEnv, merchant.id, ['owner']),
      ];
      const admin = await logInAs(testEnv, merchant.id, 'admin');
      assertError(await change(admin, second.id, ['viewer']), 'permission_denied');
      assertError(await remove(admin, second.id), 'permission_denied');
      assert.equal(
        (await change(admin, second.id, ['owner', 'admin'])).status,
        200,
        'an admin may add a role that leaves them an owner',
      );
      const owner = await logIn(testEnv, first);
      assert.equal((await change(owner, second.id, ['viewer'])).status, 202);
    });

    it('always include an owner, even if the last one wants to leave', async () => {
      const merchant = await testEnv.addMerchant();
      const { person, browser: owner } = await enter(testEnv, merchant.id, ['owner']);
      assertError(await change(owner, person.id, ['admin']), 'state_conflict');
      assertError(await remove(owner, person.id), 'state_conflict');
      await addPerson(testEnv, merchant.id, ['owner']);
      assert.equal((await remove(owner, person.id)).status, 204);
      assertNotAuthenticated(await owner.call('GET', MEMBERS));
    });

    it('always include an owner, even if the last two leave at once', async () => {
      for (let round = 0; round < 5; round++) {
        const merchant = await testEnv.addMerchant();
        const people = [
          await addPerson(testEnv, merchant.id, ['owner']),
          await addPerson(testEnv, merchant.id, ['owner']),
        ] as const;
        const [one, two] = [await logIn(testEnv, people[0]), await logIn(testEnv, people[1])];
        const responses = await Promise.all([remove(one, people[0].id), change(two, people[1].id, ['viewer'])]);
        // The second removal concerns the last owner.
        assert.equal(responses.filter(({ status }) => status < 300).length, 1);
        const owners = "members WHERE merchant_id = $1 AND removed_at IS NULL AND 'owner' = ANY (roles)";
        assert.equal(await countRows(testEnv.db, owners, [merchant.id]), 1);
      }
    });

    it('stay on record after their removal, and may return', async () => {
      const { merchantId, owner } = await onlyOwner();
      const person = await addPerson(testEnv, merchantId, ['viewer']);
      const removed = await remove(owner, person.id);
      assert.equal(removed.status, 204);
      await assertAudited(testEnv, removed, {
        action: 'member.removed',
        subject_id: person.id,
        before: { roles: ['viewer'] },
      });
      assertError(await remove(owner, person.id), 'member_not_found');
      const { token } = (await invite(owner, person.email, ['maker'])).json;
      const back = await accept({ token });
      assert.deepEqual([back.status, back.json['id'], back.json['roles']], [201, person.id, ['maker']]);
    });

    it('are reported like unknown ones when they belong to another merchant', async () => {
      const stranger = await testEnv.addMerchant();
      const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
      for (const id of [stranger.makerId, newId('usr'), 'usr_1', newId('key')]) {
        assertError(await remove(owner, id), 'member_not_found');
        assertError(await change(owner, id, ['viewer']), 'member_not_found');
      }
    });

    it('have at least one role, each once, and only known roles', async () => {
      const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
      for (const roles of [[], ['maker', 'maker'], ['king'], 'maker', null]) {
        assertError(await change(owner, testEnv.merchant.makerId, roles), 'parameter_invalid');
      }
      assertError(
        await owner.call('PATCH', `${MEMBERS}/${testEnv.merchant.makerId}`, { json: {} }),
        'parameter_missing',
      );
    });
  });

  describe('with invitations', () => {
    it('join once per invitation, with the roles that it names', async () => {
      const { owner } = await onlyOwner();
      const email = newEmail();
      const invited = await invite(owner, email.toUpperCase(), ['maker', 'developer']);
      assert.equal(invited.status, 201, invited.text);
      const { id, token, url } = invited.json as unknown as Record<string, string>;
      assert.equal(url, `${testEnv.baseUrl}/console/invitation#token=${token!}`);
      const days = (Date.parse(String(invited.json['expires_at'])) - Date.now()) / 86_400_000;
      assert.ok(days > 6.99 && days <= 7);
      const row = await assertAudited(testEnv, invited, { action: 'invitation.created', subject_id: id! });
      assert.ok(!JSON.stringify(row).includes(token!));
      const password = 'a password of their own';
      const accepted = await accept({ token, password });
      assert.equal(accepted.status, 201, accepted.text);
      assert.deepEqual([accepted.json['email'], accepted.json['roles']], [email, ['maker', 'developer']]);
      assert.deepEqual(accepted.headers.getSetCookie(), [], 'accepting does not log the person in');
      const acceptance = await assertAudited(testEnv, accepted, { action: 'invitation.accepted', subject_id: id! });
      assert.equal(acceptance.user_id, accepted.json['id']);
      const browser = openBrowser(testEnv.baseUrl);
      assert.equal((await browser.call('POST', '/v1/console/session', { json: { email, password } })).status, 201);
      assertError(await accept({ token, password }), 'invitation_not_found');
    });

    it('must give the code of a second factor that they already have', async () => {
      const shop = await testEnv.addMerchant();
      const person = await addPerson(testEnv, shop.id, ['viewer'], { hasSecondFactor: true });
      const { owner } = await onlyOwner();
      const { token } = (await invite(owner, person.email, ['viewer'])).json as unknown as { token: string };
      assertNotAuthenticated(await accept({ token }));
      assertNotAuthenticated(await accept({ token, totp: '000000' }));
      const accepted = await accept({ token, totp: codeOf(person.totpSecret) });
      assert.deepEqual([accepted.status, accepted.json['id']], [201, person.id]);
    });

    it('must give the password that they already have', async () => {
      const stranger = await testEnv.addMerchant();
      const person = await addPerson(testEnv, stranger.id, ['owner']);
      const { owner } = await onlyOwner();
      const { token } = (await invite(owner, person.email, ['approver'])).json;
      const refused = await accept({ token, password: 'a password of their own' });
      assertNotAuthenticated(refused);
      await assertAudited(testEnv, refused, { action: 'invitation.accepted', outcome: 'refused', user_id: null });
      const totp = codeOf(person.totpSecret);
      assertNotAuthenticated(await accept({ token, password: 'a password of their own', totp }));
      const accepted = await accept({ token, totp });
      assert.deepEqual([accepted.status, accepted.json['id'], accepted.json['name']], [201, person.id, 'The owner']);
    });

    it('cannot have that password guessed', async () => {
      const stranger = await testEnv.addMerchant();
      const person = await addPerson(testEnv, stranger.id, ['owner']);
      const { owner } = await onlyOwner();
      const { token } = (await invite(owner, person.email, ['approver'])).json;
      const password = 'a password of nobody';
      for (let n = 0; n < 10; n++) assertNotAuthenticated(await accept({ token, password }));
      assertError(await accept({ token }), 'rate_limited');
      await testEnv.db.pool.query('DELETE FROM attempt_counters');
    });

    it('join once when two calls accept an invitation at once', async () => {
      const { owner } = await onlyOwner();
      const { token } = (await invite(owner, newEmail(), ['maker'])).json;
      const both = await Promise.all([1, 2].map(() => accept({ token })));
      assert.equal(both.filter(({ status }) => status === 201).length, 1, both.map(({ text }) => text).join());
    });

    it('must give a name and a password of 12 characters, whether they are known or not', async () => {
      const { owner } = await onlyOwner();
      const known = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
      const { token } = (await invite(owner, newEmail(), ['maker'])).json;
      const { token: theirs } = (await invite(owner, known.email, ['maker'])).json;
      const wrong = [
        [{ name: undefined, password: PASSWORD }, 'parameter_missing'],
        [{ name: 'Brian', password: 'x'.repeat(11) }, 'parameter_invalid'],
        [{ name: 'Brian', password: PASSWORD, roles: ['owner'] }, 'parameter_unknown'],
      ] as const;
      for (const [fields, code] of wrong) {
        const [ofNew, ofKnown] = [await accept({ token, ...fields }), await accept({ token: theirs, ...fields })];
        assertError(ofNew, code);
        const errorOf = ({ json }: ApiResponse) => ({ ...json.error, request_id: '' });
        assert.deepEqual(errorOf(ofKnown), errorOf(ofNew), 'the response does not reveal whether the address is known');
      }
      assert.equal((await accept({ token })).status, 201);
    });

    it('are invited only to roles that the sender holds', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const admin = await logInAs(testEnv, merchantId, 'admin', 'viewer');
      for (const roles of [['approver'], ['owner'], ['viewer', 'maker']]) {
        assertError(await invite(admin, newEmail(), roles), 'permission_denied');
      }
      assert.equal((await invite(admin, newEmail(), ['admin', 'viewer'])).status, 201);
    });

    it('cannot join when the sender may no longer grant the roles', async () => {
      const { id: merchantId } = await testEnv.addMerchant();
      const { person: sender, browser: admin } = await enter(testEnv, merchantId, ['owner']);
      const { token } = (await invite(admin, newEmail(), ['developer'])).json;
      const join = () => accept({ token });
      await addPerson(testEnv, merchantId, ['owner']);
      assert.equal((await change(admin, sender.id, ['admin'])).status, 200);
      assertError(await join(), 'invitation_not_found');
      assert.equal((await remove(admin, sender.id)).status, 204);
      assertError(await join(), 'invitation_not_found');
    });

    it('is invited by an e-mail address that the format of the document allows', async () => {
      const merchant = await testEnv.addMerchant();
      const owner = await logInAs(testEnv, merchant.id, 'owner');
      const refused = [
        'a@b-.example',
        'a@-b.example',
        '.a@b.example',
        'a.@b.example',
        'a..a@b.example',
        'a@b',
        '@b.example',
      ];
      for (const address of [...refused, `${'a'.repeat(65)}@b.example`, `a@${'b'.repeat(64)}.example`]) {
        assertError(await invite(owner, address, ['viewer']), 'parameter_invalid');
      }
      for (const address of ['a.b+c%d_e-f@b-c.d.example', `${'a'.repeat(64)}@${'b'.repeat(63)}.example`]) {
        assert.equal((await invite(owner, address, ['viewer'])).status, 201, address);
      }
    });

    it('cannot be invited as members, and a new invitation replaces the earlier one', async () => {
      const merchant = await testEnv.addMerchant();
      const owner = await logInAs(testEnv, merchant.id, 'owner');
      const person = await addPerson(testEnv, merchant.id, ['viewer']);
      assertError(await invite(owner, person.email, ['maker']), 'parameter_invalid');
      const email = newEmail();
      const first = (await invite(owner, email, ['maker'])).json;
      const next = await invite(owner, email, ['viewer']);
      const second = next.json;
      const [withdrawn, created] = await auditRows(testEnv, next);
      assert.deepEqual([withdrawn?.action, withdrawn?.subject_id], ['invitation.withdrawn', first['id']]);
      assert.deepEqual(withdrawn?.after, { replaced_by: second['id'] });
      assert.equal(created?.action, 'invitation.created');
      const { data } = (await owner.call('GET', INVITATIONS)).json as unknown as { data: { id: string }[] };
      assert.deepEqual(valuesOf(data, 'id'), [second['id']]);
      assert.ok(!JSON.stringify(data).includes(String(second['token'])));
      assertError(await accept({ token: first['token'] }), 'invitation_not_found');
    });

    it('cannot join with a withdrawn or expired invitation', async () => {
      const { owner } = await onlyOwner();
      const one = (await invite(owner, newEmail(), ['maker'])).json as unknown as Record<string, string>;
      const withdrawn = await owner.call('DELETE', `${INVITATIONS}/${one['id']!}`);
      assert.equal(withdrawn.status, 204);
      await assertAudited(testEnv, withdrawn, { action: 'invitation.withdrawn', subject_id: one['id']! });
      assertError(await owner.call('DELETE', `${INVITATIONS}/${one['id']!}`), 'invitation_not_found');
      const two = (await invite(owner, newEmail(), ['maker'])).json as unknown as Record<string, string>;
      await rewrite(testEnv.db, 'UPDATE proposals SET expires_at = now() WHERE id = $1', [two['id']]);
      for (const { token } of [one, two]) {
        assertError(await accept({ token }), 'invitation_not_found');
      }
      assertError(await owner.call('DELETE', `${INVITATIONS}/${two['id']!}`), 'invitation_not_found');
    });

    it('get the same error for an unknown invitation as for one of another merchant', async () => {
      const stranger: TestMerchant = await testEnv.addMerchant();
      const foreign = (await invite(await logInAs(testEnv, stranger.id, 'owner'), newEmail(), ['maker'])).json['id'];
      const { owner } = await onlyOwner();
      for (const id of [foreign, newId('inv'), 'inv_1', 'accepted']) {
        assertError(await owner.call('DELETE', `${INVITATIONS}/${String(id)}`), 'invitation_not_found');
      }
      for (const token of ['', 'x', 'A'.repeat(43), '\0'.repeat(43)]) {
        const response = await accept({ token });
        assertError(response, 'invitation_not_found');
        assert.deepEqual(await auditRows(testEnv, response), []);
      }
    });
  });
});
