// What every adapter must do, whatever its wire: one suite, run against each adapter and a real sandbox operator.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { FailureCode } from '../../src/domain/payments/failure.ts';
import { isPaidAsAsked } from '../../src/operators/paid-money.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-harness.ts';
import { callbacksOf, collected, final, WAYS, type AdapterWorld, type Way } from './directions.ts';

type Row = { row: string; sends: SendOutcome['kind'][]; ends: 'succeeded' | FailureCode; callbacks: number };

const PAID: Omit<Row, 'row'> = { sends: ['accepted'], ends: 'succeeded', callbacks: 1 };

const PAID_EVERY_WAY: Row[] = [
  { ...PAID, row: '004', callbacks: 0 },
  { ...PAID, row: '008', callbacks: 3 },
  { ...PAID, row: '009' },
  { ...PAID, row: '011', sends: ['unknown', 'unknown', 'unknown', 'accepted'] },
  { ...PAID, row: '012' },
  { ...PAID, row: '014', sends: ['unknown', 'accepted'] },
  { ...PAID, row: '500' },
];

const ROWS: Readonly<Record<Way['name'], readonly Row[]>> = {
  collection: [
    { ...PAID, row: '001', ends: 'payer_cancelled' },
    { ...PAID, row: '002', ends: 'wrong_pin' },
    { ...PAID, row: '003', ends: 'prompt_expired' },
    { ...PAID, row: '005', ends: 'payer_cancelled', callbacks: 0 },
    { ...PAID, row: '006', ends: 'insufficient_funds' },
    { ...PAID, row: '007', ends: 'payer_not_found' },
    { ...PAID, row: '013', ends: 'payer_cancelled' },
    ...PAID_EVERY_WAY,
  ],
  payout: [
    { ...PAID, row: '001', ends: 'payer_not_found' },
    { ...PAID, row: '002', ends: 'payer_limit_reached' },
    { ...PAID, row: '003', ends: 'operator_unavailable' },
    { ...PAID, row: '005', ends: 'operator_rejected', callbacks: 0 },
    { ...PAID, row: '006', ends: 'operator_rejected' },
    { ...PAID, row: '007' },
    { ...PAID, row: '013', ends: 'operator_rejected' },
    ...PAID_EVERY_WAY,
  ],
  // Only what was paid can be refunded.
  refund: PAID_EVERY_WAY,
};

const GIVEN_BACK_ROW = '015';

export function conformsToThePort(name: string, start: () => Promise<AdapterWorld>): void {
  describe(`${name} as an operator`, () => {
    let world: AdapterWorld;

    before(async () => {
      world = await start();
    });

    after(() => world.stop());

    for (const way of WAYS) {
      describe(`for a ${way.name}`, () => {
        endsEachRowRightly(way, () => world);
        isSafeToAskAgain(way, () => world);
        survivesFaults(way, () => world);
      });
    }
    learnsWhatIsGivenBack(() => world);
    refusesWrongRefunds(() => world);
    readsCallbacks(() => world);

    it('can be closed twice, and answers unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      for (const way of WAYS) assert.equal((await way.status(other.operator, randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

function endsEachRowRightly(way: Way, world: () => AdapterWorld): void {
  for (const { row, sends, ends, callbacks } of ROWS[way.name]) {
    it(`learns how row ${row} ends: ${ends}`, async () => {
      const sendNow = await way.prepare(world(), row);
      const reference = randomUUID();
      for (const kind of sends) assert.equal((await sendNow(reference)).kind, kind);
      const outcome = await final(() => way.status(world().operator, reference));
      if (ends === 'succeeded') {
        assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
        assert.ok(outcome.receipt.length > 0);
        assert.ok(isPaidAsAsked(outcome.paid, world().money));
      } else {
        assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
        assert.equal(outcome.code, ends);
      }
      const called = await until(
        () => callbacksOf(world(), reference),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assert.deepEqual(await world().seen(reference), { requestsReceived: sends.length, timesTaken: 1 });
    });
  }

  it('finds row 009 pending past the prompt window', async () => {
    const reference = randomUUID();
    await send(way, world(), '009', reference);
    await sleep(world().promptExpiryMs + 10);
    assert.deepEqual(await way.status(world().operator, reference), { kind: 'pending' });
  });

  it('finds nothing for row 011 while it is turned away', async () => {
    const reference = randomUUID();
    await send(way, world(), '011', reference);
    assert.deepEqual(await way.status(world().operator, reference), { kind: 'not_found' });
  });

  it('has the callback of row 012 before the answer to the send', async () => {
    const reference = randomUUID();
    await send(way, world(), '012', reference);
    assert.equal(callbacksOf(world(), reference), 1);
  });

  // Nothing is to be refunded of it.
  if (way.name === 'refund') return;
  it('finds row 010 pending for as long as it asks', async () => {
    const reference = randomUUID();
    assert.deepEqual(await send(way, world(), '010', reference), { kind: 'accepted' });
    await sleep(world().undecidedMs + 20);
    assert.deepEqual(await way.status(world().operator, reference), { kind: 'pending' });
  });
}

function isSafeToAskAgain(way: Way, world: () => AdapterWorld): void {
  it('is taken once for one reference, however often and at once it is sent', async () => {
    const sendNow = await way.prepare(world(), '500');
    const reference = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => sendNow(reference)));
    outcomes.push(await sendNow(reference));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      Array.from({ length: 6 }, () => 'accepted'),
    );
    assert.deepEqual(await world().seen(reference), { requestsReceived: 6, timesTaken: 1 });
  });

  it('says not_found of a reference that the operator never saw', async () => {
    assert.deepEqual(await way.status(world().operator, randomUUID()), { kind: 'not_found' });
  });

  it('says not_found of a reference that was for something else', async () => {
    const reference = randomUUID();
    await send(way, world(), '500', reference);
    for (const other of WAYS.filter(({ name }) => name !== way.name)) {
      assert.deepEqual(await other.status(world().operator, reference), { kind: 'not_found' }, other.name);
    }
  });
}

function survivesFaults(way: Way, world: () => AdapterWorld): void {
  const faults = [
    ['cannot be reached', { down: true }],
    ['answers errors only', { errorRate: 1 }],
    ['does not answer in time', { latencyMs: 60_000 }],
  ] as const;

  afterEach(() => world().setFaults({}));

  for (const [what, switches] of faults) {
    it(`answers unknown to everything while the operator ${what}, and recovers`, async () => {
      const [sendNow, other] = [await way.prepare(world(), '500'), await way.prepare(world(), '500')];
      const reference = randomUUID();
      await sendNow(reference);
      await world().setFaults(switches);
      const lost = randomUUID();
      assert.equal((await other(lost)).kind, 'unknown');
      assert.equal((await way.status(world().operator, reference)).kind, 'unknown');
      await world().setFaults({});
      assert.equal((await final(() => way.status(world().operator, reference))).kind, 'succeeded');
      assert.deepEqual(await way.status(world().operator, lost), { kind: 'not_found' });
      assert.deepEqual(await other(lost), { kind: 'accepted' });
    });
  }
}

function learnsWhatIsGivenBack(world: () => AdapterWorld): void {
  for (const way of WAYS.filter(({ name }) => name !== 'refund')) {
    it(`learns that a ${way.name} was paid, and then that its money went back`, async () => {
      const reference = randomUUID();
      const status = (): Promise<StatusOutcome> => way.status(world().operator, reference);
      await send(way, world(), GIVEN_BACK_ROW, reference);
      const paid = await final(status);
      assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
      const returned = await until(status, ({ kind }) => kind !== 'succeeded');
      assert.deepEqual(returned, { ...paid, kind: 'returned' });
      const called = await until(
        () => callbacksOf(world(), reference),
        (count) => count >= 2,
      );
      assert.equal(called, 2);
    });
  }
}

function refusesWrongRefunds(world: () => AdapterWorld): void {
  async function refuse(originalOperatorReference: string): Promise<void> {
    const { operator, money } = world();
    const operatorReference = randomUUID();
    const request = { operatorReference, originalOperatorReference, money, note: 'Refund' };
    const outcome = await operator.refundCollection(request);
    assert.ok(outcome.kind === 'refused', JSON.stringify(outcome));
    assert.equal(outcome.code, 'operator_rejected');
    assert.deepEqual(await operator.getRefundStatus(operatorReference), { kind: 'not_found' });
  }

  it('is refused to refund what it does not know, and what was never paid', async () => {
    await refuse(randomUUID());
    const [collection] = WAYS;
    const original = randomUUID();
    await send(collection, world(), '001', original);
    await final(() => collection.status(world().operator, original));
    await refuse(original);
  });

  it('is refused to refund twice under two references', async () => {
    const { operator, money } = world();
    const originalOperatorReference = await collected(world(), '500');
    const request = { operatorReference: randomUUID(), originalOperatorReference, money, note: 'Refund' };
    assert.deepEqual(await operator.refundCollection(request), { kind: 'accepted' });
    await refuse(originalOperatorReference);
  });
}

function readsCallbacks(world: () => AdapterWorld): void {
  it('reads no reference out of a callback that names none, and never throws over one', () => {
    const { operator } = world();
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (body) => {
        assert.equal(operator.parseCallback(body), null);
      }),
    );
  });
}

async function send(way: Way, world: AdapterWorld, row: string, operatorReference: string): Promise<SendOutcome> {
  return (await way.prepare(world, row))(operatorReference);
}
