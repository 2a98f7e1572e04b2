// The requirements for every adapter, whatever its API: one suite, run with each adapter against a real sandbox
// operator.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { FailureCode } from '../../src/domain/payments/failure.ts';
import { isPaidAsRequested } from '../../src/operators/operator-status.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { inTime, until } from '../sandbox/sandbox-harness.ts';
import { callbacksOf, collected, final, DIRECTIONS, type AdapterHarness, type Direction } from './directions.ts';
import { valuesOf } from '../support/values-of.ts';

type Row = { row: string; sends: SendOutcome['kind'][]; outcome: 'succeeded' | FailureCode; callbacks: number };

const PAID: Omit<Row, 'row'> = { sends: ['accepted'], outcome: 'succeeded', callbacks: 1 };

const PAID_IN_ALL: Row[] = [
  { ...PAID, row: '004', callbacks: 0 },
  { ...PAID, row: '008', callbacks: 3 },
  { ...PAID, row: '009' },
  { ...PAID, row: '011', sends: ['unknown', 'unknown', 'unknown', 'accepted'] },
  { ...PAID, row: '012' },
  { ...PAID, row: '014', sends: ['unknown', 'accepted'] },
  { ...PAID, row: '500' },
];

const ROWS: Readonly<Record<Direction['name'], readonly Row[]>> = {
  collection: [
    { ...PAID, row: '001', outcome: 'payer_cancelled' },
    { ...PAID, row: '002', outcome: 'wrong_pin' },
    { ...PAID, row: '003', outcome: 'prompt_expired' },
    { ...PAID, row: '005', outcome: 'payer_cancelled', callbacks: 0 },
    { ...PAID, row: '006', outcome: 'insufficient_funds' },
    { ...PAID, row: '007', outcome: 'payer_not_found' },
    { ...PAID, row: '013', outcome: 'payer_cancelled' },
    ...PAID_IN_ALL,
  ],
  payout: [
    { ...PAID, row: '001', outcome: 'payer_not_found' },
    { ...PAID, row: '002', outcome: 'payer_limit_reached' },
    { ...PAID, row: '003', outcome: 'operator_unavailable' },
    { ...PAID, row: '005', outcome: 'operator_rejected', callbacks: 0 },
    { ...PAID, row: '006', outcome: 'operator_rejected' },
    { ...PAID, row: '007' },
    { ...PAID, row: '013', outcome: 'operator_rejected' },
    ...PAID_IN_ALL,
  ],
  // Only what was paid can be refunded.
  refund: PAID_IN_ALL,
};

const RETURNED_ROW = '015';

export function conformsToThePort(name: string, start: () => Promise<AdapterHarness>): void {
  describe(`${name} as an operator`, () => {
    let harness: AdapterHarness;

    before(async () => {
      harness = await start();
    });

    after(() => harness.stop());

    for (const direction of DIRECTIONS) {
      describe(`for a ${direction.name}`, () => {
        reportsEachRow(direction, () => harness);
        isSafeToRepeat(direction, () => harness);
        survivesFaults(direction, () => harness);
      });
    }
    reportsReturnedMoney(() => harness);
    refusesWrongRefunds(() => harness);
    readsCallbacks(() => harness);

    it('can be closed twice, and returns unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      for (const direction of DIRECTIONS)
        assert.equal((await direction.status(other.operator, randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

function reportsEachRow(direction: Direction, harness: () => AdapterHarness): void {
  for (const { row, sends, outcome, callbacks } of ROWS[direction.name]) {
    it(`reports the outcome of row ${row}: ${outcome}`, async () => {
      const sendNow = await direction.prepare(harness(), row);
      const reference = randomUUID();
      for (const kind of sends) assert.equal((await sendNow(reference)).kind, kind);
      const status = await final(() => direction.status(harness().operator, reference));
      if (outcome === 'succeeded') {
        assert.ok(status.kind === 'succeeded', JSON.stringify(status));
        assert.ok(status.receipt.length > 0);
        assert.ok(isPaidAsRequested(status.paid, harness().money));
      } else {
        assert.ok(status.kind === 'failed', JSON.stringify(status));
        assert.equal(status.code, outcome);
      }
      const called = await until(
        () => callbacksOf(harness(), reference),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assert.deepEqual(await harness().seen(reference), { requestsReceived: sends.length, timesAccepted: 1 });
    });
  }

  it('reports row 009 as pending past the prompt window', async () => {
    const prepare = () => direction.prepare(harness(), '009');
    const status = await inTime(harness().undecidedMs, prepare, async (sendNow) => {
      const reference = randomUUID();
      await sendNow(reference);
      await sleep(harness().promptExpiryMs + 10);
      return direction.status(harness().operator, reference);
    });
    assert.equal(status.kind, 'pending');
  });

  it('reports row 011 as not found while it is refused', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '011', reference);
    assert.deepEqual(await direction.status(harness().operator, reference), { kind: 'not_found' });
  });

  it('gets the callback of row 012 before the response to the send', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '012', reference);
    assert.equal(callbacksOf(harness(), reference), 1);
  });

  // A collection of row 010 is never paid, so there is nothing to refund.
  if (direction.name === 'refund') return;
  it('reports row 010 as pending at every query', async () => {
    const reference = randomUUID();
    assert.deepEqual(await send(direction, harness(), '010', reference), { kind: 'accepted' });
    await sleep(harness().undecidedMs + 20);
    assert.equal((await direction.status(harness().operator, reference)).kind, 'pending');
  });
}

function isSafeToRepeat(direction: Direction, harness: () => AdapterHarness): void {
  it('is accepted once for one reference, however often and concurrently it is sent', async () => {
    const sendNow = await direction.prepare(harness(), '500');
    const reference = randomUUID();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => sendNow(reference)));
    outcomes.push(await sendNow(reference));
    assert.deepEqual(
      valuesOf(outcomes, 'kind'),
      Array.from({ length: 6 }, () => 'accepted'),
    );
    assert.deepEqual(await harness().seen(reference), { requestsReceived: 6, timesAccepted: 1 });
  });

  it('returns not_found for an unknown reference', async () => {
    assert.deepEqual(await direction.status(harness().operator, randomUUID()), { kind: 'not_found' });
  });

  it('returns not_found for the reference of another kind of payment', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '500', reference);
    for (const other of DIRECTIONS.filter(({ name }) => name !== direction.name)) {
      assert.deepEqual(await other.status(harness().operator, reference), { kind: 'not_found' }, other.name);
    }
  });
}

function survivesFaults(direction: Direction, harness: () => AdapterHarness): void {
  const faults = [
    ['cannot be reached', { down: true }, null],
    ['responds with errors only', { errorRate: 1 }, null],
    ['does not respond in time', { latencyMs: 60_000 }, 'no_answer'],
    ['throttles us', { throttled: true }, 'busy'],
    ['refuses our account', { accountRefused: true }, 'account'],
  ] as const;

  afterEach(() => harness().setFaults({}));

  for (const [what, switches, cause] of faults) {
    it(`returns unknown for every call while the operator ${what}, and recovers`, async () => {
      const [sendNow, other] = [await direction.prepare(harness(), '500'), await direction.prepare(harness(), '500')];
      const reference = randomUUID();
      await sendNow(reference);
      await harness().setFaults(switches);
      const lost = randomUUID();
      for (const outcome of [await other(lost), await direction.status(harness().operator, reference)]) {
        assert.ok(outcome.kind === 'unknown', JSON.stringify(outcome));
        if (cause !== null) assert.equal(outcome.cause, cause);
      }
      await harness().setFaults({});
      assert.equal((await final(() => direction.status(harness().operator, reference))).kind, 'succeeded');
      assert.deepEqual(await direction.status(harness().operator, lost), { kind: 'not_found' });
      assert.deepEqual(await other(lost), { kind: 'accepted' });
    });
  }
}

function reportsReturnedMoney(harness: () => AdapterHarness): void {
  for (const direction of DIRECTIONS.filter(({ name }) => name !== 'refund')) {
    it(`reports that a ${direction.name} was paid, and then that its money was returned`, async () => {
      const reference = randomUUID();
      const status = (): Promise<StatusOutcome> => direction.status(harness().operator, reference);
      await send(direction, harness(), RETURNED_ROW, reference);
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

  it('returns refused for a refund of an unknown or an unpaid collection', async () => {
    await refuse(randomUUID());
    const [collection] = DIRECTIONS;
    const original = randomUUID();
    await send(collection, harness(), '001', original);
    await final(() => collection.status(harness().operator, original));
    await refuse(original);
  });

  it('returns refused for a second refund under another reference', async () => {
    const { operator, money } = harness();
    const originalOperatorReference = await collected(harness(), '500');
    const request = { operatorReference: randomUUID(), originalOperatorReference, money, note: 'Refund' };
    assert.deepEqual(await operator.refundCollection(request), { kind: 'accepted' });
    await refuse(originalOperatorReference);
  });
}

function readsCallbacks(harness: () => AdapterHarness): void {
  it('finds no reference in a callback without one, and never throws', () => {
    const { operator } = harness();
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (body) => {
        assert.equal(operator.parseCallback(body), null);
      }),
    );
  });
}

async function send(
  direction: Direction,
  harness: AdapterHarness,
  row: string,
  operatorReference: string,
): Promise<SendOutcome> {
  return (await direction.prepare(harness, row))(operatorReference);
}
