// People, clocks and the operator acting on one payout at the same time: one of them wins, and the money moves once.
import assert from 'node:assert/strict';
import type { Clocks } from '../../../src/domain/clocks.ts';
import type { Payout, PayoutState } from '../../../src/domain/payments/payout.ts';
import type { PayoutOutcomeInput } from '../../../src/domain/payments/payout-progress.ts';
import type { Role } from '../../../src/domain/accounts/member.ts';
import { changeMember } from '../../../src/operations/accounts/change-member.ts';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { getPayout } from '../../../src/db/payments/payout.ts';
import {
  actedBy,
  balanceOf,
  codeOr,
  decide,
  makePerson,
  makeShop,
  queue,
  recordPayout,
  release,
  requestPayout,
  setPolicy,
  SOON_OVER,
} from './payout-rows.ts';
import { countRows, oneRow, paid, whileLocked } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';
import { testAttestor } from '../../support/attestation.ts';

const TIMES = 15;
const REJECT = { kind: 'reject', reason: 'wrong person' } as const;
const CANCEL = { kind: 'cancel' } as const;
const DECLINED = { kind: 'declined', failureCode: 'payer_not_found' } as const;

describe('a payout with concurrent actions', () => {
  const db = useDatabase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  // After every case: the balance matches the states, each change has one event, and the ledger is sound.
  afterEach(async () => {
    const [available, heldBalance] = await balanceOf(db, shop.merchantId);
    const { held, gone } = await oneRow<{ held: string; gone: string }>(
      db,
      `SELECT coalesce(sum(amount_minor) FILTER (WHERE state IN ('queued', 'released', 'reconciling')), 0) AS held,
              coalesce(sum(amount_minor) FILTER (WHERE state = 'succeeded'), 0) AS gone
       FROM payments WHERE kind = 'payout' AND merchant_id = $1`,
      [shop.merchantId],
    );
    assert.deepEqual([heldBalance, available], [BigInt(held), 100_000n - BigInt(held) - BigInt(gone)]);
    const withoutTheirEvents = `payments p WHERE kind = 'payout' AND merchant_id = $1
      AND version + 1 <> (SELECT count(*) FROM events WHERE payment_id = p.id)`;
    assert.equal(await countRows(db, withoutTheirEvents, [shop.merchantId]), 0);
    assert.deepEqual(await checkLedger(db), []);
  });

  const now = (payout: Payout) => getPayout(db, shop.merchantId, payout.id);
  const expire = (payout: Payout) => recordPayout(db, payout, { kind: 'approval_expired' }, payout.expiresAt);

  /** Runs all acts at once on each of several payouts; returns each payout afterwards, with the results of its acts. */
  async function race(
    state: 'queued' | 'released',
    acts: readonly ((payout: Payout) => Promise<unknown>)[],
    fields: { readonly clocks?: Partial<Clocks> } = {},
  ): Promise<{ payout: Payout; answers: unknown[] }[]> {
    const payouts: Payout[] = [];
    for (let i = 0; i < TIMES; i++) {
      const payout = await queue(db, shop, 1000n, fields);
      if (state === 'released') await release(db, shop.approver, payout.id);
      payouts.push(payout);
    }
    return Promise.all(
      payouts.map(async (payout, index) => {
        // Alternate which act starts first.
        const order = index % 2 === 0 ? acts : [...acts].reverse();
        const answers = await Promise.all(order.map((act) => codeOr(act(payout))));
        return { payout: await now(payout), answers };
      }),
    );
  }

  const refusals = (answers: readonly unknown[]) => answers.filter((answer) => answer === 'state_conflict').length;

  const pairs: readonly (readonly [string, readonly ((payout: Payout) => Promise<unknown>)[], PayoutState[]])[] = [
    [
      'released or rejected',
      [({ id }) => release(db, shop.approver, id), ({ id }) => decide(db, shop.otherApprover, id, REJECT)],
      ['released', 'rejected'],
    ],
    [
      'rejected or cancelled',
      [({ id }) => decide(db, shop.approver, id, REJECT), ({ id }) => decide(db, shop.maker, id, CANCEL)],
      ['rejected', 'cancelled'],
    ],
  ];
  for (const [what, acts, ends] of pairs) {
    it(`is either ${what}, and the slower of the two gets state_conflict`, async () => {
      for (const { payout, answers } of await race('queued', acts)) {
        assert.ok(ends.includes(payout.state), payout.state);
        assert.deepEqual([payout.version, refusals(answers)], [1, 1]);
      }
    });
  }

  it('is released or cancelled, or cancelled after its release, which nobody had begun to send', async () => {
    const acts = [
      ({ id }: Payout) => release(db, shop.approver, id),
      ({ id }: Payout) => decide(db, shop.maker, id, CANCEL),
    ];
    for (const { payout, answers } of await race('queued', acts)) {
      const isOneOfTwo = payout.version === 1 && refusals(answers) === 1;
      const isOneAfterTheOther = payout.version === 2 && refusals(answers) === 0 && payout.state === 'cancelled';
      assert.ok(isOneOfTwo !== isOneAfterTheOther, `${payout.state} ${payout.version} ${String(answers)}`);
      assert.ok(['released', 'cancelled'].includes(payout.state), payout.state);
    }
  });

  it('is released or expires, and never both', async () => {
    const acts = [({ id, createdAt }: Payout) => release(db, shop.approver, id, { at: createdAt }), expire];
    for (const { payout, answers } of await race('queued', acts, SOON_OVER)) {
      assert.ok(['released', 'expired'].includes(payout.state), payout.state);
      assert.deepEqual([payout.version, refusals(answers)], [1, payout.state === 'expired' ? 1 : 0]);
    }
  });

  it('becomes final once when everybody decides at the same time', async () => {
    const acts = [
      ({ id }: Payout) => decide(db, shop.maker, id, CANCEL),
      ({ id }: Payout) => decide(db, shop.approver, id, REJECT),
      ({ id }: Payout) => decide(db, shop.otherApprover, id, REJECT),
      expire,
      expire,
    ];
    for (const { payout } of await race('queued', acts, SOON_OVER)) assert.equal(payout.version, 1);
    assert.deepEqual(await balanceOf(db, shop.merchantId), [100_000n, 0n]);
  });

  it('is paid or given back, and neither twice, whatever outcomes the operator reports', async () => {
    const transitions: ((payout: Payout) => PayoutOutcomeInput)[] = [
      ({ id }) => ({ kind: 'paid', operatorReceipt: id }),
      () => DECLINED,
      ({ id }) => ({ kind: 'paid', operatorReceipt: id }),
      () => DECLINED,
      () => ({ kind: 'outcome_unknown' }),
    ];
    const acts = transitions.map((toInput) => (payout: Payout) => recordPayout(db, payout, toInput(payout)));
    for (const { payout } of await race('released', acts)) {
      assert.ok(['succeeded', 'failed'].includes(payout.state), payout.state);
      assert.equal(payout.version, payout.previousState === 'reconciling' ? 3 : 2);
    }
  });

  it('is released by the first of two approvers when one approval is enough', async () => {
    const acts = [shop.approver, shop.otherApprover].map(
      (person) =>
        ({ id }: Payout) =>
          release(db, person, id),
    );
    for (const { payout, answers } of await race('queued', acts)) {
      assert.deepEqual([payout.state, payout.version, payout.approvals.length], ['released', 1, 1]);
      assert.equal(refusals(answers), 1);
    }
  });

  it('is released once by both approvers when two approvals are needed', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n });
    for (let i = 0; i < TIMES; i++) {
      const queued = await queue(db, shop, 1000n);
      const people = [shop.approver, shop.otherApprover];
      const answers = await Promise.all(people.map((person) => release(db, person, queued.id)));
      const states = answers.map((answer) => (answer.kind === 'accepted' ? answer.payments[0].state : 'replayed'));
      assert.deepEqual(states.sort(), ['queued', 'released']);
      const payout = await now(queued);
      assert.deepEqual([payout.state, payout.version, payout.approvals.length], ['released', 1, 2]);
    }
  });

  it('is released by two of three approvers when two approvals are needed', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n });
    const third = await makePerson(db, shop.merchantId, ['owner']);
    for (let i = 0; i < TIMES; i++) {
      const queued = await queue(db, shop, 1000n);
      const people = [shop.approver, shop.otherApprover, third];
      const answers = await Promise.all(people.map((person) => codeOr(release(db, person, queued.id))));
      assert.equal(refusals(answers), 1);
      assert.deepEqual((await now(queued)).approvals.length, 2);
    }
  });

  it('has one approval of a person who approves many times at once, and waits for a second person', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n });
    const queued = await queue(db, shop, 1000n);
    await Promise.all(Array.from({ length: 10 }, () => release(db, shop.approver, queued.id)));
    const payout = await now(queued);
    assert.deepEqual([payout.state, payout.version, payout.approvals.length], ['queued', 0, 1]);
  });

  it('never takes an approver beyond the daily limit, however many are released at the same time', async () => {
    await setPolicy(db, shop.merchantId, { approverDailyLimitMinor: 10_000n });
    const queued: Payout[] = [];
    for (let i = 0; i < 20; i++) queued.push(await queue(db, shop, 1500n));
    const answers = await Promise.all(queued.map(({ id }) => codeOr(release(db, shop.approver, id))));
    assert.equal(answers.filter((answer) => answer === 'permission_denied').length, 14);
    const states = await Promise.all(queued.map(async (payout) => (await now(payout)).state));
    assert.equal(states.filter((state) => state === 'released').length, 6);
  });
});

describe('an approver who may no longer approve', () => {
  const db = useDatabase();
  const shop = useFixturePerCase(() => makeShop(db, 100_000n));

  const stateOf = async ({ id }: Payout) => (await getPayout(db, shop.merchantId, id)).state;
  const attestationOf = (roles: readonly Role[]) =>
    testAttestor.attest('members', [shop.merchantId, shop.approver.userId, roles, null, null], `1.${'A'.repeat(43)}`);

  for (const [what, assignment] of [
    ['is removed', 'removed_at = now()'],
    ['loses the role', "roles = ARRAY['maker']"],
  ] as const) {
    it(`releases nothing when the approver ${what} during the release`, async () => {
      const payout = await queue(db, shop, 1000n);
      const change = {
        sql: `UPDATE members SET ${assignment}, attestation = $2 WHERE user_id = $1`,
        values: [shop.approver.userId, attestationOf(['maker'])],
      };
      const answer = await whileLocked(db, change, () => codeOr(release(db, shop.approver, payout.id)));
      assert.equal(answer, 'permission_denied');
      assert.equal(await stateOf(payout), 'queued');
    });
  }

  it('has released before a removal at the same time, or releases nothing', async () => {
    const owner = await makePerson(db, shop.merchantId, ['owner']);
    for (let i = 0; i < 10; i++) {
      const approver = await makePerson(db, shop.merchantId, ['approver']);
      const payout = await queue(db, shop, 1000n);
      const [answer] = await Promise.all([
        codeOr(release(db, approver, payout.id)),
        changeMember(db, { userId: approver.userId, roles: null, by: actedBy(owner), at: new Date() }),
      ]);
      assert.equal(await stateOf(payout), answer === 'permission_denied' ? 'queued' : 'released');
    }
  });

  it('no longer counts for a payout that waits for a second approval', async () => {
    await setPolicy(db, shop.merchantId, { twoApproversAboveMinor: 0n });
    const payout = await queue(db, shop, 1000n);
    const owner = await makePerson(db, shop.merchantId, ['owner']);
    await release(db, shop.approver, payout.id);
    await changeMember(db, { userId: shop.approver.userId, roles: null, by: actedBy(owner), at: new Date() });
    await release(db, shop.otherApprover, payout.id);
    assert.equal(await stateOf(payout), 'queued');
    await release(db, owner, payout.id);
    assert.equal(await stateOf(payout), 'released');
  });

  it('has released a payout when the removal comes after the release', async () => {
    const payout = await queue(db, shop, 1000n);
    const owner = await makePerson(db, shop.merchantId, ['owner']);
    await release(db, shop.approver, payout.id);
    await changeMember(db, { userId: shop.approver.userId, roles: null, by: actedBy(owner), at: new Date() });
    assert.equal((await recordPayout(db, payout, paid())).state, 'succeeded');
  });
});

describe('a maker who may no longer request payouts', () => {
  const db = useDatabase();

  it('requests none once they were removed, although their session or key was good a moment before', async () => {
    const shop = await makeShop(db, 10_000n);
    const owner = await makePerson(db, shop.merchantId, ['owner']);
    await changeMember(db, { userId: shop.maker.userId, roles: null, by: actedBy(owner), at: new Date() });
    assert.equal(await codeOr(requestPayout(db, shop, 1000n)), 'permission_denied');
    assert.deepEqual(await balanceOf(db, shop.merchantId), [10_000n, 0n]);
  });
});
