// Refusals of a person: ten of a kind an hour are entries of the audit log, and one entry says how many there were besides.
import assert from 'node:assert/strict';
import type { ActedBy } from '../../../src/domain/accounts/member.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import { recordLeftOutRefusals, recordRefusal } from '../../../src/operations/accounts/audit-log.ts';
import { actedBy } from '../payments/payout-rows.ts';
import { makeMember, makeMerchant, allRows } from '../rows.ts';
import { useDatabasePerCase } from '../use-database.ts';
import { valuesOf } from '../../support/values-of.ts';
import { personWith } from '../../domain/accounts/persons.ts';

const HOUR = 3_600_000;
const NOW = new Date('2026-06-01T10:00:00Z');
const ACTION = 'POST /v1/console/keys';
const REASON = 'needs a role of: admin';

type Entry = { readonly action: string; readonly after: Record<string, unknown> };

describe('refusals of a person', () => {
  const db = useDatabasePerCase();

  const person = async (merchantId: MerchantId): Promise<ActedBy> =>
    actedBy(
      personWith({
        userId: await makeMember(db, merchantId, ['viewer']),
        merchantId,
        roles: ['viewer'],
        verifiedAt: NOW,
      }),
    );
  const refuse = (by: ActedBy, at = NOW, { action = ACTION, reason = REASON } = {}) =>
    recordRefusal(db, { by, action, reason, subjectId: null, at });
  const times = async (count: number, act: () => Promise<unknown>) => {
    for (let n = 0; n < count; n++) await act();
  };
  const entriesOf = async ({ person: { userId } }: ActedBy): Promise<Entry[]> => {
    const { rows } = await db.pool.query<Entry>(
      `SELECT action, after FROM audit_entries WHERE user_id = $1 AND outcome = 'refused' ORDER BY id`,
      [userId],
    );
    return rows;
  };
  const furtherOf = async (by: ActedBy) => (await entriesOf(by)).flatMap(({ after }) => after['further'] ?? []);

  it('are entries up to ten of a kind in an hour, and of another kind, person or merchant by themselves', async () => {
    const merchantId = await makeMerchant(db);
    const [one, another] = [await person(merchantId), await person(merchantId)];
    await times(12, () => refuse(one));
    assert.deepEqual(valuesOf(await entriesOf(one), 'after'), Array(10).fill({ reason: REASON }));
    await refuse(one, NOW, { reason: 'needs a step-up first' });
    await refuse(one, NOW, { action: 'POST /v1/console/invitations' });
    assert.equal((await entriesOf(one)).length, 12);
    await refuse({ ...one, person: { ...one.person, merchantId: await makeMerchant(db) } });
    assert.equal((await entriesOf(one)).length, 13);
    await refuse(another);
    assert.equal((await entriesOf(another)).length, 1);
  });

  it('are ten when they come at once, and each of the others is counted', async () => {
    const by = await person(await makeMerchant(db));
    await Promise.all(Array.from({ length: 40 }, () => refuse(by)));
    assert.equal((await entriesOf(by)).length, 10);
    const later = new Date(NOW.getTime() + HOUR);
    await Promise.all(Array.from({ length: 6 }, () => refuse(by, later)));
    assert.deepEqual(await furtherOf(by), [30], 'one of them says how many the hour before had besides');
    assert.equal((await entriesOf(by)).length, 10 + 1 + 6);
  });

  it('have one entry with the number of the others once their hour is over, no matter who comes first', async () => {
    const by = await person(await makeMerchant(db));
    await times(25, () => refuse(by));
    assert.equal(await recordLeftOutRefusals(db, new Date(NOW.getTime() + HOUR - 1), 100), 0, 'not before');
    const over = new Date(NOW.getTime() + HOUR);
    const all = await Promise.all([...[1, 2, 3].map(() => recordLeftOutRefusals(db, over, 100)), refuse(by, over)]);
    assert.ok(all.filter((count) => count === 1).length <= 1);
    const summary = { reason: REASON, further: 15, from: NOW.toISOString(), to: over.toISOString() };
    const found = (await entriesOf(by)).filter(({ after }) => 'further' in after);
    assert.deepEqual(found, [{ action: ACTION, after: summary }]);
    await recordLeftOutRefusals(db, new Date(over.getTime() + HOUR), 100);
    assert.deepEqual(await furtherOf(by), [15], 'an hour in which each has an entry leaves nothing to say');
    assert.deepEqual(await allRows(db, 'SELECT 1 FROM refusal_counts'), []);
  });
});
