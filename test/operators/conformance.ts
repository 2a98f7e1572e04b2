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
import { OPERATORS, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import {
  callbacksOf,
  collected,
  final,
  directionsOf,
  type AdapterHarness,
  type Dialect,
  type Direction,
} from './directions.ts';
import { valuesOf } from '../support/values-of.ts';
import { sentAs } from '../support/sent-payment.ts';

type Row = { row: string; sends: SendOutcome['kind'][]; outcome: 'succeeded' | FailureCode; callbacks: number };

const PAID: Omit<Row, 'row'> = { sends: ['accepted'], outcome: 'succeeded', callbacks: 1 };

const PAID_IN_ALL: Row[] = [
  { ...PAID, row: '004', callbacks: 0 },
  { ...PAID, row: '008', callbacks: 3 },
  { ...PAID, row: '009' },
  { ...PAID, row: '011', sends: ['unknown', 'unknown', 'unknown', 'accepted'] },
  { ...PAID, row: '012' },
  { ...PAID, row: '014', sends: ['unknown', 'accepted'] },
  { ...PAID, row: '018', sends: ['unknown', 'accepted'], callbacks: 0 },
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

const PLAIN: Dialect = { outcomes: {}, namesMoney: true, namesReturned: true };

export function conformsToThePort(id: OperatorId, start: () => Promise<AdapterHarness>, dialect = PLAIN): void {
  const directions = directionsOf(id);
  describe(`${OPERATORS[id].name} as an operator`, () => {
    let harness: AdapterHarness;

    before(async () => {
      harness = await start();
    });

    after(() => harness.stop());

    for (const direction of directions) {
      describe(`for a ${direction.name}`, () => {
        reportsEachRow(direction, () => harness, dialect);
        isSafeToRepeat(direction, directions, () => harness);
        survivesFaults(direction, () => harness);
      });
    }
    reportsReturnedMoney(directions, () => harness, dialect);
    if (OPERATORS[id].capabilities.refund !== null) refusesWrongRefunds(() => harness);
    else refusesEveryRefund(() => harness);
    readsCallbacks(() => harness);
    knowsPayees(() => harness);

    it('can be closed twice, and returns unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      for (const direction of directions)
        assert.equal((await direction.status(other.operator, randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

function reportsEachRow(direction: Direction, harness: () => AdapterHarness, { outcomes, namesMoney }: Dialect): void {
  for (const { row, sends, outcome: plain, callbacks } of ROWS[direction.name]) {
    const outcome = outcomes[direction.name]?.[row] ?? plain;
    it(`reports the outcome of row ${row}: ${outcome}`, async () => {
      const sendNow = await direction.prepare(harness(), row);
      const reference = randomUUID();
      for (const kind of sends) assert.equal((await sendNow(reference)).kind, kind);
      const status = await final(() => direction.status(harness().operator, reference));
      if (outcome === 'succeeded') {
        assert.ok(status.kind === 'succeeded', JSON.stringify(status));
        assert.ok(status.receipt !== null && status.receipt.length > 0);
        assert.equal(status.paid !== undefined, namesMoney);
        if (status.paid !== undefined) assert.ok(isPaidAsRequested(status.paid, harness().money));
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

function isSafeToRepeat(direction: Direction, directions: readonly Direction[], harness: () => AdapterHarness): void {
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
    for (const other of directions.filter(({ name }) => name !== direction.name)) {
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

function reportsReturnedMoney(
  directions: readonly Direction[],
  harness: () => AdapterHarness,
  { namesReturned }: Dialect,
): void {
  for (const direction of directions.filter(({ name }) => name !== 'refund')) {
    it(`reports that a ${direction.name} was paid, and then that its money was returned`, async () => {
      const reference = randomUUID();
      const status = (): Promise<StatusOutcome> => direction.status(harness().operator, reference);
      await send(direction, harness(), RETURNED_ROW, reference);
      const paid = await final(status);
      assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
      const returned = await until(status, ({ kind }) => kind !== 'succeeded');
      assert.deepEqual(returned, { ...paid, kind: 'returned', ...(!namesReturned && { receipt: null }) });
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
    assert.deepEqual(await operator.getRefundStatus(sentAs(operatorReference)), { kind: 'not_found' });
  }

  it('returns refused for a refund of an unknown or an unpaid collection', async () => {
    await refuse(randomUUID());
    const [collection] = directionsOf(harness().operator.id);
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

function refusesEveryRefund(harness: () => AdapterHarness): void {
  it('returns refused for every refund, of which nothing is sent', async () => {
    const { operator, money } = harness();
    const [original, operatorReference] = [randomUUID(), randomUUID()];
    const request = { operatorReference, originalOperatorReference: original, money, note: 'Refund' };
    assert.equal((await operator.refundCollection(request)).kind, 'refused');
    assert.deepEqual(await operator.getRefundStatus(sentAs(operatorReference)), { kind: 'not_found' });
    assert.deepEqual(await harness().seen(operatorReference), { requestsReceived: 0, timesAccepted: 0 });
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

function knowsPayees(harness: () => AdapterHarness): void {
  it('knows the name of a payee, none of somebody without an account, and nothing while it is away, if it is asked for names at all', async () => {
    const { operator, phone } = harness();
    const { getPayeeName } = operator;
    if (getPayeeName === null) return;
    const named = await getPayeeName(phone('500'));
    assert.ok(named.kind === 'named', JSON.stringify(named));
    assert.match(named.name, /^[A-Z]+ [A-Z]+$/);
    assert.deepEqual(await getPayeeName(phone('500')), named);
    // Airtel lists no code for that.
    assert.match((await getPayeeName(phone('001'))).kind, /^unnamed$|^unknown$/);
    await harness().setFaults({ down: true });
    assert.equal((await getPayeeName(phone('500'))).kind, 'unknown');
    await harness().setFaults({ down: false });
  });
}
