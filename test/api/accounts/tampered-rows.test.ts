// An attacker who removes or tampers with rows by the application’s account gains nothing, and others work on.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { newId } from '../../../src/domain/ids.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../../../src/operations/accounts/staff-proposals.ts';
import { addPerson, codeOf, logIn } from '../../support/people.ts';
import { openBrowser, type Browser } from '../../support/browser.ts';
import { rewrite } from '../../support/attestation.ts';
import { AMINA, BRIAN, recoveryOf, recoveryToken } from '../../support/staff.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { valuesOf } from '../../support/values-of.ts';
import { API_ONLY, assertError, assertNotAuthenticated } from '../responses.ts';
import { applicationDatabase, sha256, tryToLogIn } from './application-database.ts';

const SESSION = '/v1/console/session';

describe('by rows that are taken away or tampered with', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const database = applicationDatabase(testEnv);
  const victim = () => addPerson(testEnv, testEnv.merchant.id, ['approver']);

  /** A merchant with an owner, who is logged in, and another person. */
  async function ownerBeside(role: Role) {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await addPerson(testEnv, merchantId, ['owner']);
    const other = await addPerson(testEnv, merchantId, [role]);
    return { merchantId, owner, other, browser: await logIn(testEnv, owner) };
  }

  it('nobody removes a policy or another owner for a while', async () => {
    const { merchantId, other, browser } = await ownerBeside('owner');
    const strict = await browser.call('PATCH', '/v1/console/policy', { json: { two_approvers_above: 0 } });
    assert.equal(strict.status, 200, strict.text);
    await assert.rejects(
      database.query('UPDATE policies SET merchant_id = $2 WHERE merchant_id = $1', [merchantId, testEnv.merchant.id]),
      /the merchant_id of a row of policies never changes/,
    );
    await assert.rejects(
      database.query('UPDATE members SET user_id = $2 WHERE user_id = $1', [other.id, testEnv.merchant.makerId]),
      /merchant and user of a row of members never change/,
    );
    await database.query('UPDATE members SET removed_at = now() WHERE user_id = $1', [other.id]);
    const json = { email: `${randomBytes(4).toString('hex')}@shop.example`, roles: ['approver'] };
    assertError(await browser.call('POST', '/v1/console/invitations', { json }), 'permission_denied');
  });

  it('nobody removes the staff’s invitation of another owner, who would have to approve', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const browser = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    await rewrite(
      testEnv.db,
      `INSERT INTO proposals (id, kind, merchant_id, state, email, roles, token_sha256, created_at, expires_at)
       VALUES ($1, 'invitation', $2, 'pending', 'second@shop.example', '{owner}', $3, now(), now() + interval '1 hour')`,
      [newId('inv'), merchantId, randomBytes(32)],
    );
    await database.query("UPDATE proposals SET state = 'withdrawn', ended_at = now() WHERE merchant_id = $1", [
      merchantId,
    ]);
    const json = { email: `${randomBytes(4).toString('hex')}@shop.example`, roles: ['approver'] };
    assertError(await browser.call('POST', '/v1/console/invitations', { json }), 'permission_denied');
  });

  it('nobody makes a key or a verification valid for ever', async () => {
    const key = await testEnv.addKey(testEnv.merchant.id, ['balance:read']);
    const get = () =>
      openBrowser(testEnv.baseUrl).call('GET', '/v1/api/balance', { headers: { authorization: `Bearer ${key}` } });
    assert.equal((await get()).status, 200);
    await database.query("UPDATE api_keys SET revoked_at = 'infinity' WHERE key_sha256 = $1", [sha256(key)]);
    assertError(await get(), 'api_key_invalid');
    const browser = await logIn(testEnv, await victim());
    for (const time of ['infinity', '-infinity', '290000-01-01']) {
      const digest = sha256(browser.cookie.split('=')[1]!);
      await database.query('UPDATE sessions SET second_factor_at = $2::text::timestamptz WHERE token_sha256 = $1', [
        digest,
        time,
      ]);
      assertNotAuthenticated(await browser.call('GET', SESSION));
    }
  });

  it('nobody hides from a merchant that the account of one of its people is recovered', async () => {
    const person = await victim();
    await database.query('UPDATE members SET removed_at = now() WHERE user_id = $1', [person.id]);
    await assert.rejects(recoveryToken(testEnv.db, person.email), { code: 'permission_denied' });
  });

  it('nobody redirects the token of a recovery to their own address', async () => {
    const person = await victim();
    const email = `${randomBytes(4).toString('hex')}@thief.example`;
    await database.query('UPDATE users SET email = $2 WHERE id = $1', [person.id, email]);
    for (const address of [email, person.email]) {
      await assert.rejects(recoveryToken(testEnv.db, address), (error) => error instanceof Error);
    }
    // Between the two of the staff, too.
    const other = await victim();
    const proposed = await recoveryOf(testEnv.db, other.email);
    const { id } = await proposeAsStaff(testEnv.db, { proposed, by: AMINA, at: new Date() });
    await database.query('UPDATE users SET email = $2 WHERE id = $1', [other.id, `other.${email}`]);
    await assert.rejects(decideOnStaffProposal(testEnv.db, { id, decision: 'confirmed', by: BRIAN, at: new Date() }));
  });

  it('nobody makes a key of theirs look revoked to those who want to revoke it', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const browser = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    const key = await testEnv.addKey(merchantId, ['balance:read']);
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [sha256(key)]);
    const { rows } = await database.query('SELECT id FROM api_keys WHERE key_sha256 = $1', [sha256(key)]);
    const revoked = await browser.call('DELETE', `/v1/console/keys/${(rows[0] as { id: string }).id}`);
    assertError(revoked, 'permission_denied');
  });

  it('nobody restores a member’s earlier roles, a revoked key, or a policy', async () => {
    const { merchantId, other: member, browser } = await ownerBeside('maker');
    const attestationOf = async (table: string, isRow: string, value: unknown): Promise<unknown> => {
      const { rows } = await database.query(`SELECT attestation FROM ${table} WHERE ${isRow}`, [value]);
      return (rows[0] as { attestation: string }).attestation;
    };
    const putBack = (table: string, assignment: string, isRow: string, values: [unknown, unknown]) =>
      database.query(`UPDATE ${table} SET ${assignment}, attestation = $2 WHERE ${isRow}`, values);
    const done = async (method: 'PATCH' | 'DELETE', path: string, json?: object) => {
      const { status, text } = await browser.call(method, `/v1/console/${path}`, json === undefined ? {} : { json });
      assert.equal(status, 200, text);
    };
    const key = await testEnv.addKey(merchantId, ['balance:read']);
    const { rows } = await database.query('SELECT id FROM api_keys WHERE key_sha256 = $1', [sha256(key)]);
    const { id: keyId } = rows[0] as { id: string };
    await done('PATCH', 'policy', { approver_daily_limit: 5000 });
    for (const [table, isRow, value, change, assignment] of [
      [
        'members',
        'user_id = $1',
        member.id,
        () => done('PATCH', `members/${member.id}`, { roles: ['viewer'] }),
        "roles = '{maker}'",
      ],
      [
        'policies',
        'merchant_id = $1',
        merchantId,
        () => done('PATCH', 'policy', { approver_daily_limit: 1000 }),
        'approver_daily_limit_minor = 5000',
      ],
      ['api_keys', 'id = $1', keyId, () => done('DELETE', `keys/${keyId}`), 'replaced_by = NULL'],
    ] as const) {
      const old = await attestationOf(table, isRow, value);
      await change();
      await assert.rejects(putBack(table, assignment, isRow, [value, old]), /has a greater number/);
    }
  });

  it('nobody reopens a proposal that was decided', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const people = [];
    for (let i = 0; i < 3; i++) people.push(await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner'])));
    const [first, second, third] = people as [Browser, Browser, Browser];
    const policy = (json: object) => first.call('PATCH', '/v1/console/policy', { json });
    assert.equal((await policy({ approver_daily_limit: 1000 })).status, 200);
    const looser = await policy({ approver_daily_limit: null });
    assert.equal(looser.status, 202, looser.text);
    const path = `/v1/console/policy/changes/${String(looser.json['id'])}`;
    assert.equal((await second.call('POST', `${path}/reject`)).status, 200);
    const reopen = "UPDATE proposals SET state = 'pending', decided_by = NULL, decided_at = NULL WHERE id = $1";
    await assert.rejects(database.query(reopen, [looser.json['id']]), /stays as it was decided/);
    assertError(await third.call('POST', `${path}/approve`), 'state_conflict');
  });

  it('nobody makes a request in another person’s name, or for an address that is displayed as another', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const [owner, rogue] = [
      await addPerson(testEnv, merchantId, ['owner']),
      await addPerson(testEnv, merchantId, ['admin', 'approver']),
    ];
    const browser = await logIn(testEnv, owner);
    const json = { email: `${randomBytes(4).toString('hex')}@thief.example`, roles: ['approver'] };
    const invited = await (await logIn(testEnv, rogue)).call('POST', '/v1/console/invitations', { json });
    assert.equal(invited.status, 202, invited.text);
    await database.query("UPDATE users SET name = 'Grace, the CFO' WHERE id = $1", [rogue.id]);
    const members = (await browser.call('GET', '/v1/console/members')).json['data'] as { id: string }[];
    assert.ok(!valuesOf(members, 'id').includes(rogue.id));
    assert.deepEqual((await browser.call('GET', '/v1/console/invitations')).json['data'], []);
    const approve = `/v1/console/invitations/${String(invited.json['id'])}/approve`;
    assertError(await browser.call('POST', approve), 'permission_denied');
  });

  it('nobody locks others of the merchant out by a row that they write', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const [owner, other, viewer] = [
      await addPerson(testEnv, merchantId, ['owner']),
      await addPerson(testEnv, merchantId, ['owner']),
      await addPerson(testEnv, merchantId, ['viewer']),
    ];
    const browser = await logIn(testEnv, owner);
    await database.query("UPDATE members SET roles = '{owner}' WHERE user_id = $1", [viewer.id]);
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, state, email, roles, token_sha256, proposed_by, created_at, expires_at)
       VALUES ($1, 'invitation', $2, 'pending', 'thief@shop.example', '{approver}', $3, $4, now(), now() + interval '1 hour')`,
      [newId('inv'), merchantId, randomBytes(32), other.id],
    );
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, state, changes, proposed_by, created_at, expires_at)
       VALUES ($1, 'policy_change', $2, 'pending', '{"two_approvers_above":null}', $3, now(), now() + interval '1 hour')`,
      [newId('pch'), merchantId, other.id],
    );
    await database.query(
      `INSERT INTO proposals (id, kind, merchant_id, user_id, state, roles_before, roles, proposed_by, created_at, expires_at)
       VALUES ($1, 'member_change', $2, $3, 'pending', '{owner}', '{approver}', $4, now(), now() + interval '1 hour')`,
      [newId('mch'), merchantId, owner.id, other.id],
    );
    const shown = async (path: string) => {
      const { status, json, text } = await browser.call('GET', path);
      assert.equal(status, 200, text);
      return json;
    };
    const nothing = { payouts: 0, reversals: 0, invitations: 0, member_changes: 0, policy_changes: 0 };
    assert.deepEqual((await shown(SESSION))['waits_for_you'], nothing);
    assert.deepEqual((await shown('/v1/console/invitations'))['data'], []);
    assert.deepEqual((await shown('/v1/console/policy'))['pending_changes'], []);
    const members = (await shown('/v1/console/members'))['data'] as { id: string; changes?: unknown[] }[];
    const ids = valuesOf(members, 'id');
    assert.deepEqual(
      [owner, other, viewer].map(({ id }) => ids.includes(id)),
      [true, true, false],
    );
    // A person who logs in again is admitted, too.
    assert.equal((await tryToLogIn(testEnv, other, { totp: codeOf(other.totpSecret) })).status, 201);
  });
});
