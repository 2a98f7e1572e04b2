// What every adapter must do, whatever its wire: one suite, run against each adapter and a real sandbox operator.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { FailureCode } from '../../src/domain/payments/failure.ts';
import { isPaidAsAsked } from '../../src/operators/paid-money.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-harness.ts';
import { callbacksOf, collected, final, WAYS, type AdapterHarness, type Way } from './directions.ts';

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

export function conformsToThePort(name: string, start: () => Promise<AdapterHarness>): void {
  describe(`${name} as an operator`, () => {
    let harness: AdapterHarness;

    before(async () => {
      harness = await start();
    });

    after(() => harness.stop());

    for (const way of WAYS) {
      describe(`for a ${way.name}`, () => {
        endsEachRowRightly(way, () => harness);
        isSafeToAskAgain(way, () => harness);
        survivesFaults(way, () => harness);
      });
    }
    learnsWhatIsGivenBack(() => harness);
    refusesWrongRefunds(() => harness);
    readsCallbacks(() => harness);

    it('can be closed twice, and answers unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      for (const way of WAYS) assert.equal((await way.status(other.operator, randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

function endsEachRowRightly(way: Way, harness: () => AdapterHarness): void {
  for (const { row, sends, ends, callbacks } of ROWS[way.name]) {
    it(`learns how row ${row} ends: ${ends}`, async () => {
      const sendNow = await way.prepare(harness(), row);
      const reference = randomUUID();
      for (const kind of sends) assert.equal((await sendNow(reference)).kind, kind);
      const outcome = await final(() => way.status(harness().operator, reference));
      if (ends === 'succeeded') {
        assert.ok(outcome.kind === 'succeeded', JSON.stringify(outcome));
        assert.ok(outcome.receipt.length > 0);
        assert.ok(isPaidAsAsked(outcome.paid, harness().money));
      } else {
        assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
        assert.equal(outcome.code, ends);
      }
      const called = await until(
        () => callbacksOf(harness(), reference),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assert.deepEqual(await harness().seen(reference), { requestsReceived: sends.length, timesAccepted: 1 });
    });
  }

  it('finds row 009 pending past the prompt window', async () => {
    const reference = randomUUID();
    await send(way, harness(), '009', reference);
    await sleep(harness().promptExpiryMs + 10);
    assert.deepEqual(await way.status(harness().operator, reference), { kind: 'pending' });
  });

  it('finds nothing for row 011 while it is turned away', async () => {
    const reference = randomUUID();
    await send(way, harness(), '011', reference);
    assert.deepEqual(await way.status(harness().operator, reference), { kind: 'not_found' });
  });

  it('has the callback of row 012 before the answer to the send', async () => {
    const reference = randomUUID();
    await send(way, harness(), '012', reference);
    assert.equal(callbacksOf(harness(), reference), 1);
  });

  // Nothing is to be refunded of it.
  if (way.name === 'refund') return;
  it('finds row 010 pending for as long as it asks', async () => {
    const reference = randomUUID();
    assert.deepEqual(await send(way, harness(), '010', reference), { kind: 'accepted' });
    await sleep(harness().undecidedMs + 20);
    assert.deepEqual(await way.status(harness().operator, reference), { kind: 'pending' });
  });
}

function isSafeToAskAgain(way: Way, harness: () => AdapterHarness): void {
  it('is taken once for one reference, however often and at once it is sent', async () => {
    const sendNow = await way.prepare(harness(), '500');
    const reference = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => sendNow(reference)));
    outcomes.push(await sendNow(reference));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      Array.from({ length: 6 }, () => 'accepted'),
    );
    assert.deepEqual(await harness().seen(reference), { requestsReceived: 6, timesAccepted: 1 });
  });

  it('says not_found of a reference that the operator never saw', async () => {
    assert.deepEqual(await way.status(harness().operator, randomUUID()), { kind: 'not_found' });
  });

  it('says not_found of a reference that was for something else', async () => {
    const reference = randomUUID();
    await send(way, harness(), '500', reference);
    for (const other of WAYS.filter(({ name }) => name !== way.name)) {
      assert.deepEqual(await other.status(harness().operator, reference), { kind: 'not_found' }, other.name);
    }
  });
}

function survivesFaults(way: Way, harness: () => AdapterHarness): void {
  const faults = [
    ['cannot be reached', { down: true }],
    ['answers errors only', { errorRate: 1 }],
    ['does not answer in time', { latencyMs: 60_000 }],
  ] as const;

  afterEach(() => harness().setFaults({}));

  for (const [what, switches] of faults) {
    it(`answers unknown to everything while the operator ${what}, and recovers`, async () => {
      const [sendNow, other] = [await way.prepare(harness(), '500'), await way.prepare(harness(), '500')];
      const reference = randomUUID();
      await sendNow(reference);
      await harness().setFaults(switches);
      const lost = randomUUID();
      assert.equal((await other(lost)).kind, 'unknown');
      assert.equal((await way.status(harness().operator, reference)).kind, 'unknown');
      await harness().setFaults({});
      assert.equal((await final(() => way.status(harness().operator, reference))).kind, 'succeeded');
      assert.deepEqual(await way.status(harness().operator, lost), { kind: 'not_found' });
      assert.deepEqual(await other(lost), { kind: 'accepted' });
    });
  }
}

function learnsWhatIsGivenBack(harness: () => AdapterHarness): void {
  for (const way of WAYS.filter(({ name }) => name !== 'refund')) {
    it(`learns that a ${way.name} was paid, and then that its money went back`, async () => {
      const reference = randomUUID();
      const status = (): Promise<StatusOutcome> => way.status(harness().operator, reference);
      await send(way, harness(), GIVEN_BACK_ROW, reference);
      const paid = await final(status);
      assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
      const returned = await until(status, ({ kind }) => kind !== 'succeeded');
      assert.deepEqual(returned, { ...paid, kind: 'returned' });
      const called = await until(
        () => callbacksOf(harness(), reference),
        (count) => count >= 2,
      );
      assert.equal(called, 2);
    });
  }
}

function refusesWrongRefunds(harness: () => AdapterHarness): void {
  async function refuse(originalOperatorReference: string): Promise<void> {
    const { operator, money } = harness();
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
    await send(collection, harness(), '001', original);
    await final(() => collection.status(harness().operator, original));
    await refuse(original);
  });

  it('is refused to refund twice under two references', async () => {
    const { operator, money } = harness();
    const originalOperatorReference = await collected(harness(), '500');
    const request = { operatorReference: randomUUID(), originalOperatorReference, money, note: 'Refund' };
    assert.deepEqual(await operator.refundCollection(request), { kind: 'accepted' });
    await refuse(originalOperatorReference);
  });
}

function readsCallbacks(harness: () => AdapterHarness): void {
  it('reads no reference out of a callback that names none, and never throws over one', () => {
    const { operator } = harness();
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (body) => {
        assert.equal(operator.parseCallback(body), null);
      }),
    );
  });
}

async function send(way: Way, harness: AdapterHarness, row: string, operatorReference: string): Promise<SendOutcome> {
  return (await way.prepare(harness, row))(operatorReference);
}
