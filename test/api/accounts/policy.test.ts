// The payout policy of a merchant: one person makes it stricter; to make it looser, a second one must agree.
import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/ids.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { addPerson, logInAs, logIn, enter } from '../../support/people.ts';
import { assertAudited, auditRows } from '../../support/audit-rows.ts';
import type { Browser } from '../../support/browser.ts';
import { API_ONLY, assertError, assertDenied } from '../responses.ts';
import { valuesOf } from '../../support/values-of.ts';
import { rewrite } from '../../support/attestation.ts';

const POLICY = '/v1/console/policy';
const DEFAULTS = {
  second_factor_required: false,
  two_approvers_above: null,
  approver_daily_limit: null,
  payout_expires_after_seconds: null,
  approver_wait_seconds: null,
  key_held_limit: null,
};
/** Most tests begin with a strict one, which they make looser. */
const STRICT = {
  second_factor_required: true,
  two_approvers_above: 0,
  approver_daily_limit: 1,
  payout_expires_after_seconds: 60,
  approver_wait_seconds: 60,
  key_held_limit: 0,
};

describe('the policy', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const propose = (browser: Browser, json: object) => browser.call('PATCH', POLICY, { json });
  const decide = (browser: Browser, id: unknown, verb: 'approve' | 'reject') =>
    browser.call('POST', `${POLICY}/changes/${String(id)}/${verb}`);
  const withdraw = (browser: Browser, id: unknown) => browser.call('DELETE', `${POLICY}/changes/${String(id)}`);
  const read = async (browser: Browser) => {
    const { pending_changes: pending, ...policy } = (await browser.call('GET', POLICY)).json;
    return { policy, pending: pending as { id: string }[] };
  };
  const twoAdmins = async () => {
    const { id } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, id, 'owner');
    assert.equal((await propose(owner, STRICT)).status, 200);
    return [owner, await logInAs(testEnv, id, 'admin'), id] as const;
  };

  it('has its defaults until it is changed, and every role may read it', async () => {
    const viewer = await logInAs(testEnv, testEnv.merchant.id, 'viewer');
    assert.deepEqual(await read(viewer), { policy: DEFAULTS, pending: [] });
  });

  it('becomes stricter by the word of one person, at once', async () => {
    const [one, two, merchantId] = await twoAdmins();
    await decide(two, (await propose(one, DEFAULTS)).json['id'], 'approve');
    const waiting = (await propose(one, { payout_expires_after_seconds: 2_000_000 })).json['id'];
    const changed = await propose(one, { second_factor_required: true, approver_daily_limit: 500 });
    const after = { ...DEFAULTS, second_factor_required: true, approver_daily_limit: 500 };
    assert.deepEqual([changed.status, changed.json], [200, after]);
    const entries = (await auditRows(testEnv, changed)).map((row) => [
      row.action,
      row.subject_id,
      row.before,
      row.after,
    ]);
    assert.deepEqual(entries, [
      ['policy.changed', merchantId, DEFAULTS, after],
      ['policy_change.replaced', waiting, null, { replaced_by: null }],
    ]);
    assert.deepEqual(await read(two), { policy: after, pending: [] });
    const mixed = await propose(two, { approver_daily_limit: 400, second_factor_required: false });
    assert.equal(mixed.status, 202, 'one rule is looser');
    assert.deepEqual((await read(two)).policy, after);
  });

  it('changes at once if nothing becomes looser, and no decision comes in between', async () => {
    const [one, two] = await twoAdmins();
    const looser = (await propose(one, { approver_daily_limit: 10 })).json['id'];
    // Equal to what applies now, and stricter than what applies after the approval: never looser than either.
    const [approved, same] = await Promise.all([
      decide(two, looser, 'approve'),
      propose(two, { approver_daily_limit: 1 }),
    ]);
    assert.deepEqual([approved.status, same.status], [200, 200]);
    const { policy } = await read(one);
    assert.ok([1, 10].includes(Number(policy['approver_daily_limit'])));
  });

  it('becomes looser when one person proposes and another one approves', async () => {
    const [one, two] = await twoAdmins();
    const proposed = await propose(one, { second_factor_required: false, two_approvers_above: 500_000 });
    assert.equal(proposed.status, 202, proposed.text);
    assert.deepEqual([proposed.json['state'], proposed.json['needs_second_person']], ['pending', false]);
    await assertAudited(testEnv, proposed, { action: 'policy_change.proposed', before: STRICT });
    const { policy, pending } = await read(two);
    assert.deepEqual(policy, STRICT, 'not before it is approved');
    assert.deepEqual(valuesOf(pending, 'id'), [proposed.json['id']]);
    const approved = await decide(two, proposed.json['id'], 'approve');
    assert.deepEqual([approved.status, approved.json['state']], [200, 'approved']);
    const after = { ...STRICT, second_factor_required: false, two_approvers_above: 500_000 };
    await assertAudited(testEnv, approved, { action: 'policy_change.approved', before: STRICT, after });
    assert.deepEqual(await read(one), { policy: after, pending: [] });
  });

  it('is not changed by a proposal whose proposer lost the permission', async () => {
    const [one, two, merchantId] = await twoAdmins();
    const proposer = await addPerson(testEnv, merchantId, ['admin']);
    const { id } = (await propose(await logIn(testEnv, proposer), { approver_daily_limit: 2 })).json;
    await rewrite(testEnv.db, 'UPDATE members SET removed_at = now() WHERE user_id = $1', [proposer.id]);
    assertError(await decide(two, id, 'approve'), 'state_conflict');
    assert.deepEqual((await read(one)).policy, STRICT);
  });

  it('stays as it was after a rejection', async () => {
    const [one, two] = await twoAdmins();
    const { id } = (await propose(one, { approver_daily_limit: 2 })).json;
    const rejected = await decide(two, id, 'reject');
    assert.deepEqual([rejected.status, rejected.json['state']], [200, 'rejected']);
    await assertAudited(testEnv, rejected, { action: 'policy_change.rejected', before: { approver_daily_limit: 2 } });
    assert.deepEqual(await read(one), { policy: STRICT, pending: [] });
    assertError(await decide(two, id, 'approve'), 'state_conflict');
  });

  it('stays unchanged after the proposer withdraws the change, once, and nobody can decide on it then', async () => {
    const [one, two] = await twoAdmins();
    const { id } = (await propose(one, { approver_daily_limit: 2 })).json;
    const withdrawal = await withdraw(one, id);
    assert.equal(withdrawal.status, 204, withdrawal.text);
    const entry = { action: 'policy_change.withdrawn', subject_id: String(id), before: { approver_daily_limit: 2 } };
    await assertAudited(testEnv, withdrawal, entry);
    assert.deepEqual(await read(two), { policy: STRICT, pending: [] });
    assertError(await withdraw(one, id), 'state_conflict');
    for (const verb of ['approve', 'reject'] as const) assertError(await decide(two, id, verb), 'state_conflict');
    const { rows } = await testEnv.db.pool.query('SELECT state, decided_by FROM proposals WHERE id = $1', [id]);
    assert.deepEqual(rows, [{ state: 'withdrawn', decided_by: null }]);
    assert.equal((await propose(one, { approver_daily_limit: 3 })).status, 202, 'another one may follow');
  });

  it('keeps the proposal of a person when anybody else withdraws it', async () => {
    const [one, two, merchantId] = await twoAdmins();
    const { id } = (await propose(one, { approver_daily_limit: 2 })).json;
    const refused = await withdraw(two, id);
    await assertDenied(testEnv, refused, { after: { reason: 'withdraws what somebody else proposed' } });
    assertError(await withdraw(await logInAs(testEnv, merchantId, 'approver'), id), 'permission_denied');
    assert.deepEqual(valuesOf((await read(two)).pending, 'id'), [id]);
  });

  it('is changed or not, never half, when a proposal is withdrawn at the moment of its approval', async () => {
    const [one, two] = await twoAdmins();
    for (let limit = 2; limit < 8; limit++) {
      const { policy: before } = await read(one);
      const { id } = (await propose(one, { approver_daily_limit: limit })).json;
      const [withdrawn, again, approved] = await Promise.all([
        withdraw(one, id),
        withdraw(one, id),
        decide(two, id, 'approve'),
      ]);
      const statuses = [withdrawn.status, again.status, approved.status];
      assert.deepEqual(statuses.filter((status) => status === 409).length, 2, String(statuses));
      const after = { ...before, ...(approved.status === 200 && { approver_daily_limit: limit }) };
      assert.deepEqual(await read(one), { policy: after, pending: [] });
    }
  });

  it('is never decided by the person who proposed the change', async () => {
    const [one, two, merchantId] = await twoAdmins();
    const { id } = (await propose(one, { approver_daily_limit: 2 })).json;
    for (const verb of ['approve', 'reject'] as const) {
      const refused = await decide(one, id, verb);
      await assertDenied(testEnv, refused, { after: { reason: 'decides on a proposal of their own' } });
    }
    const viewer = await logInAs(testEnv, merchantId, 'viewer', 'approver');
    assertError(await decide(viewer, id, 'approve'), 'permission_denied');
    assert.equal((await decide(two, id, 'approve')).status, 200);
  });

  it('waits for a missing second person, and reports it', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logInAs(testEnv, merchantId, 'owner');
    const { id, needs_second_person: needs } = (await propose(owner, { payout_expires_after_seconds: 2_000_000 })).json;
    assert.equal(needs, true);
    assertError(await decide(owner, id, 'approve'), 'permission_denied');
    assert.equal((await decide(await logInAs(testEnv, merchantId, 'admin'), id, 'approve')).status, 200);
  });

  it('is decided once when two people decide at the same time', async () => {
    const [one, two, merchantId] = await twoAdmins();
    const three = await logInAs(testEnv, merchantId, 'admin');
    let limit = 1;
    for (const verbs of [
      ['approve', 'approve'],
      ['approve', 'reject'],
    ] as const) {
      const { id } = (await propose(one, { approver_daily_limit: ++limit })).json;
      const responses = await Promise.all([decide(two, id, verbs[0]), decide(three, id, verbs[1])]);
      assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
    }
  });

  it('keeps both changes when two proposals are approved at once', async () => {
    const [one, two] = await twoAdmins();
    const first = (await propose(one, { approver_daily_limit: 7 })).json['id'];
    const second = (await propose(two, { two_approvers_above: 9 })).json['id'];
    const responses = await Promise.all([decide(two, first, 'approve'), decide(one, second, 'approve')]);
    assert.deepEqual(valuesOf(responses, 'status'), [200, 200]);
    const { policy } = await read(one);
    assert.deepEqual(policy, { ...STRICT, approver_daily_limit: 7, two_approvers_above: 9 });
  });

  it('keeps every change when several people make it stricter at once', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two, merchantId] = await twoAdmins();
      const three = await logInAs(testEnv, merchantId, 'admin');
      await decide(two, (await propose(one, DEFAULTS)).json['id'], 'approve');
      const changes = { approver_daily_limit: 500, two_approvers_above: 9, key_held_limit: 700 };
      const made = await Promise.all(
        Object.entries(changes).map(([name, value], index) => propose([one, two, three][index]!, { [name]: value })),
      );
      assert.deepEqual(valuesOf(made, 'status'), [200, 200, 200]);
      assert.deepEqual((await read(one)).policy, { ...DEFAULTS, ...changes });
    }
  });

  it('has at most one waiting proposal per person, the latest', async () => {
    const [one, two] = await twoAdmins();
    const first = (await propose(one, { approver_daily_limit: 2 })).json['id'];
    const next = await propose(one, { approver_daily_limit: 3 });
    const second = next.json['id'];
    const replaced = (await auditRows(testEnv, next)).find(({ action }) => action === 'policy_change.replaced');
    assert.deepEqual([replaced?.subject_id, replaced?.after], [first, { replaced_by: second }]);
    assert.deepEqual(valuesOf((await read(two)).pending, 'id'), [second]);
    assertError(await decide(two, first, 'approve'), 'state_conflict');
  });

  it('is not changed by an expired proposal', async () => {
    const [one, two] = await twoAdmins();
    const { id } = (await propose(one, { approver_daily_limit: 2 })).json;
    await rewrite(testEnv.db, 'UPDATE proposals SET expires_at = now() WHERE id = $1', [id]);
    assert.deepEqual((await read(two)).pending, []);
    assertError(await decide(two, id, 'approve'), 'state_conflict');
    assertError(await withdraw(one, id), 'state_conflict');
  });

  it('cannot be approved by a person who has just lost the role', async () => {
    const [owner, , merchantId] = await twoAdmins();
    const { person, browser: admin } = await enter(testEnv, merchantId, ['admin']);
    const { id } = (await propose(owner, { approver_daily_limit: 2 })).json;
    await rewrite(testEnv.db, "UPDATE members SET roles = '{viewer}' WHERE user_id = $1", [person.id]);
    assertError(await decide(admin, id, 'approve'), 'permission_denied');
  });

  it('accepts forms, in which an empty field is null', async () => {
    const [one, two] = await twoAdmins();
    const form = { second_factor_required: 'false', two_approvers_above: '', payout_expires_after_seconds: '3600' };
    const proposed = await one.call('PATCH', POLICY, { form });
    assert.equal(proposed.status, 202, proposed.text);
    assert.deepEqual(proposed.json['changes'], {
      second_factor_required: false,
      two_approvers_above: null,
      payout_expires_after_seconds: 3600,
    });
    await decide(two, proposed.json['id'], 'approve');
    assert.equal((await read(one)).policy['payout_expires_after_seconds'], 3600);
  });

  it('accepts changes only of known settings, within their bounds, and of at least one', async () => {
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    const wrong = [
      {},
      { second_factor_required: 'yes' },
      { two_approvers_above: -1 },
      { approver_daily_limit: 0 },
      { payout_expires_after_seconds: 2_592_001 },
      { payout_expires_after_seconds: 0 },
      { approver_wait_seconds: 2_592_001 },
      { key_held_limit: -1 },
      { two_approvers_above: 1.5 },
    ];
    for (const changes of wrong) assertError(await propose(owner, changes), 'parameter_invalid');
    assertError(await propose(owner, { colour: 'red' }), 'parameter_unknown');
  });

  it('returns the same error for a proposal of another merchant as for an unknown one', async () => {
    const [one] = await twoAdmins();
    const { id: foreign } = (await propose(one, { approver_daily_limit: 2 })).json;
    const owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    for (const id of [foreign, newId('pch'), 'pch_1']) {
      assertError(await decide(owner, id, 'approve'), 'policy_change_not_found');
      assertError(await decide(owner, id, 'reject'), 'policy_change_not_found');
      assertError(await withdraw(owner, id), 'policy_change_not_found');
    }
  });
});
