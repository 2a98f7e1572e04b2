// Proposals of the service's staff: they need two people, attested rows, and at most one day.
import assert from 'node:assert/strict';
import { findStaffByName, listStaff } from '../../../src/db/accounts/staff-member.ts';
import { listPendingStaffProposals } from '../../../src/db/accounts/staff-proposal.ts';
import { newId, type StaffProposalId } from '../../../src/domain/ids.ts';
import { parseStaffName, type StaffMember } from '../../../src/domain/accounts/staff.ts';
import { STAFF_PROPOSAL_LIFE_MS, type Proposed } from '../../../src/domain/accounts/staff-proposal.ts';
import { enrolStaff } from '../../../src/operations/accounts/enrol-staff.ts';
import { decideOnStaffProposal, proposeAsStaff } from '../../../src/operations/accounts/staff-proposals.ts';
import { newToken } from '../../../src/security/token.ts';
import { totpStepAt } from '../../../src/security/totp.ts';
import { passwordHash } from '../../support/people.ts';
import { addFirstStaff, addStaff, agree, AMINA, BRIAN, staffNamed, type TestStaff } from '../../support/staff.ts';
import { allRows, countRows, KEY_RING, oneRow, tamper } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';

const CONFLICT = { code: 'state_conflict' };

function additionOf(name: string): Proposed<'staff_addition'> {
  return { kind: 'staff_addition', payload: { name: parseStaffName(name)! } };
}

function about(kind: 'staff_reset' | 'staff_end', { id, name }: StaffMember): Proposed {
  return { kind, payload: { member: id, name } };
}

describe('a proposal of the staff', () => {
  const db = useDatabasePerCase();
  beforeEach(() => addFirstStaff(db));

  const propose = (proposed: Proposed, by: StaffMember = AMINA, at = new Date()) =>
    proposeAsStaff(db, { proposed, by, at });
  const decide = (
    id: StaffProposalId,
    by: StaffMember = BRIAN,
    decision: 'confirmed' | 'rejected' = 'confirmed',
    at = new Date(),
  ) => decideOnStaffProposal(db, { id, decision, by, at });
  const names = async () => (await listStaff(db)).map(({ name }) => name);

  it('does nothing before another one confirms it, and both stand in the row and in the audit log', async () => {
    const { id } = await propose(additionOf('carol'));
    assert.deepEqual(await names(), ['amina', 'brian']);
    await decide(id);
    const row = await oneRow(
      db,
      "SELECT added_by, confirmed_by, proposal_id, password_hash FROM staff_members WHERE name = 'carol'",
    );
    assert.deepEqual(row, { added_by: AMINA.id, confirmed_by: BRIAN.id, proposal_id: id, password_hash: null });
    const entries = await allRows(
      db,
      "SELECT action, staff_id, staff, after -> 'proposed_by' AS proposer, after ->> 'name' AS name FROM audit_entries WHERE subject_id = $1 ORDER BY id",
      [id],
    );
    assert.deepEqual(entries, [
      { action: 'staff_proposal.made', staff_id: AMINA.id, staff: 'amina', proposer: null, name: 'carol' },
      {
        ...{ action: 'staff_proposal.confirmed', staff_id: BRIAN.id, staff: 'brian', name: 'carol' },
        proposer: { id: AMINA.id, name: 'amina' },
      },
    ]);
  });

  it('is not confirmed by its proposer, who may withdraw it', async () => {
    const { id } = await propose(additionOf('carol'));
    await assert.rejects(decide(id, AMINA), CONFLICT);
    await decide(id, AMINA, 'rejected');
    await assert.rejects(decide(id), CONFLICT);
    assert.deepEqual(await names(), ['amina', 'brian']);
  });

  it('is decided once, also by two at the same moment', async () => {
    const carol = await addStaff(db, 'carol');
    const { id } = await propose(additionOf('dora'));
    const both = await Promise.allSettled([decide(id, BRIAN), decide(id, carol)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const { id: other } = await propose(additionOf('esther'));
    const mixed = await Promise.allSettled([decide(other, BRIAN), decide(other, carol, 'rejected')]);
    assert.deepEqual(mixed.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(decide(other, carol), CONFLICT);
  });

  it('cannot be confirmed once it has expired, and is no longer listed', async () => {
    const at = new Date();
    const { id } = await propose(additionOf('carol'), AMINA, at);
    const end = new Date(at.getTime() + STAFF_PROPOSAL_LIFE_MS);
    assert.equal((await listPendingStaffProposals(db, new Date(end.getTime() - 1), 10)).length, 1);
    assert.deepEqual(await listPendingStaffProposals(db, end, 10), []);
    await assert.rejects(decide(id, BRIAN, 'confirmed', end), CONFLICT);
    await decide(id, BRIAN, 'confirmed', new Date(end.getTime() - 1));
  });

  it('counts for nothing once somebody changed it by hand, or wrote it by hand', async () => {
    const changes = [
      `payload = '{"name":"thief"}'`,
      `proposed_by = '${BRIAN.id}'`,
      "expires_at = expires_at + interval '1 year'",
      "kind = 'staff_end'",
    ];
    for (const [index, change] of changes.entries()) {
      const carol = await addStaff(db, `carol${index}`);
      const { id } = await propose(additionOf('dora'));
      await tamper(db, `UPDATE staff_proposals SET ${change} WHERE id = $1`, [id]);
      await assert.rejects(decide(id, carol), CONFLICT, change);
    }
    const written = newId('spr');
    // As the account of the application may.
    await db.pool.query(
      `INSERT INTO staff_proposals (id, kind, payload, state, proposed_by, created_at, expires_at)
       VALUES ($1, 'staff_addition', '{"name":"thief"}', 'pending', $2, now(), now() + interval '1 day')`,
      [written, AMINA.id],
    );
    await assert.rejects(decide(written), CONFLICT);
    assert.deepEqual(await listPendingStaffProposals(db, new Date(), 10), []);
    assert.ok(!(await names()).includes(parseStaffName('thief')!));
  });

  it('requires two people who can log in: nobody who ended, was reset, or has an unattested row', async () => {
    const [carol, dora, esther] = [
      await addStaff(db, 'carol'),
      await addStaff(db, 'dora'),
      await addStaff(db, 'esther'),
    ];
    const { id } = await propose(additionOf('frank'));
    const { id: ofEsther } = await propose(additionOf('grace'), esther);
    await agree(db, about('staff_end', carol));
    await agree(db, about('staff_reset', dora));
    await tamper(db, "UPDATE staff_members SET totp_last_step = 1 WHERE name = 'esther'");
    for (const gone of [carol, dora, esther]) {
      await assert.rejects(decide(id, gone), CONFLICT, gone.name);
      await assert.rejects(decide(id, gone, 'rejected'), CONFLICT, gone.name);
      await assert.rejects(propose(additionOf('grace'), gone), CONFLICT, gone.name);
    }
    await assert.rejects(decide(ofEsther), CONFLICT, 'of the proposer, too');
    await decide(id);
  });

  it('waits no longer once its proposer ended or was reset', async () => {
    const carol = await addStaff(db, 'carol');
    const { id } = await propose(additionOf('dora'), carol);
    await agree(db, about('staff_reset', carol));
    await assert.rejects(decide(id), CONFLICT);
    const row = await oneRow(db, 'SELECT state, decided_by FROM staff_proposals WHERE id = $1', [id]);
    assert.deepEqual(row, { state: 'rejected', decided_by: BRIAN.id });
  });

  it('may be proposed or confirmed by the person concerned, whose other proposals are rejected', async () => {
    const [carol, dora] = [await addStaff(db, 'carol'), await addStaff(db, 'dora')];
    const { id: other } = await propose(additionOf('esther'), carol);
    const { id: own } = await propose(about('staff_reset', carol), carol);
    await decide(own);
    const { id: ofDora } = await propose(about('staff_end', dora));
    const { id: third } = await propose(additionOf('esther'), dora);
    await decide(ofDora, dora);
    const rows = await allRows(db, 'SELECT state FROM staff_proposals WHERE id = ANY ($1)', [[other, third]]);
    assert.deepEqual(rows, [{ state: 'rejected' }, { state: 'rejected' }]);
  });

  it('leaves two people who can log in', async () => {
    for (const kind of ['staff_end', 'staff_reset'] as const)
      await assert.rejects(propose(about(kind, BRIAN)), CONFLICT);
    const carol = await addStaff(db, 'carol');
    const { id: first } = await propose(about('staff_end', carol));
    const { id: second } = await propose(about('staff_end', BRIAN), carol);
    await decide(first);
    await assert.rejects(decide(second, AMINA), CONFLICT);
    assert.equal(await countRows(db, "staff_members WHERE state = 'active'"), 2);
  });

  it('adds nobody under another person’s name, not even that of an ended one', async () => {
    const carol = await addStaff(db, 'carol');
    await agree(db, about('staff_end', carol));
    for (const name of ['amina', 'carol']) await assert.rejects(propose(additionOf(name)), CONFLICT, name);
    const [one, other] = [await propose(additionOf('dora')), await propose(additionOf('dora'))];
    await decide(one.id);
    await assert.rejects(decide(other.id), CONFLICT);
  });

  it('keeps nothing of an end or a reset by which the person could log in', async () => {
    const carol = await addStaff(db, 'carol');
    await agree(db, about('staff_end', carol));
    const row = await oneRow(
      db,
      "SELECT state, password_hash, totp_secret_sealed FROM staff_members WHERE name = 'carol'",
    );
    assert.deepEqual(row, { state: 'ended', password_hash: null, totp_secret_sealed: null });
  });
});

describe('an enrolment of the staff', () => {
  const db = useDatabasePerCase();
  beforeEach(() => addFirstStaff(db));

  const enrol = async ({ name, totpSecret }: TestStaff, tokens: readonly [string, string], at = new Date()) =>
    enrolStaff(db, {
      ...{ name, tokens, totpSecret, at, keyRing: KEY_RING },
      passwordHash: await passwordHash(),
      totpLastStep: totpStepAt(at),
    });

  it('requires the tokens of both people who agreed, in any order, and uses them up', async () => {
    const carol = staffNamed('carol');
    const { tokens } = await agree(db, additionOf('carol'));
    const [one, other] = tokens;
    for (const wrong of [
      [one, one],
      [other, other],
      [one, newToken().token],
      [newToken().token, other],
      ['', ''],
    ] as const) {
      await assert.rejects(enrol(carol, wrong), CONFLICT);
    }
    const both = await Promise.allSettled([enrol(carol, tokens), enrol(carol, [other, one])]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(enrol(carol, tokens), CONFLICT);
  });

  it('takes no token of somebody else, from before a reset, or a day after the confirmation', async () => {
    const [carol, dora] = [staffNamed('carol'), staffNamed('dora')];
    const { tokens } = await agree(db, additionOf('carol'));
    const { tokens: ofDora } = await agree(db, additionOf('dora'));
    await assert.rejects(enrol(dora, tokens), CONFLICT);
    await assert.rejects(enrol(carol, tokens, new Date(Date.now() + STAFF_PROPOSAL_LIFE_MS + 60_000)), CONFLICT);
    await enrol(carol, tokens);
    const { id } = (await findStaffByName(db, carol.name))!;
    await agree(db, about('staff_reset', { id, name: carol.name }));
    await assert.rejects(enrol(carol, tokens), CONFLICT);
    await enrol(dora, ofDora);
  });

  it('takes no token of a proposal that somebody changed by hand', async () => {
    const { id, tokens } = await agree(db, additionOf('carol'));
    const { token, sha256 } = newToken();
    await tamper(db, 'UPDATE staff_proposals SET token_sha256 = $2 WHERE id = $1', [id, sha256]);
    await assert.rejects(enrol(staffNamed('carol'), [token, tokens[1]]), CONFLICT);
  });
});
