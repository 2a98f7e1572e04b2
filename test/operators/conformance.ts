// The requirements for every adapter, whatever its API: one suite, run with each adapter against a real sandbox
// operator.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Trouble } from '../../src/domain/payments/breaker.ts';
import { isPaidAsRequested } from '../../src/operators/operator-status.ts';
import type { SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { inTime, until } from '../sandbox/sandbox-harness.ts';
import { OPERATORS, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import { callbacksOf, collected, final, directionsOf, type AdapterHarness, type Direction } from './directions.ts';
import { DIALECTS, rowsOf, type ConformanceRow, type Dialect } from './rows.ts';
import { valuesOf } from '../support/values-of.ts';
import { sentAs } from '../support/sent-payment.ts';

export function conformsToThePort(id: OperatorId, start: () => Promise<AdapterHarness>): void {
  const dialect = DIALECTS[id];
  assert.ok(dialect !== undefined, `${id} has no dialect`);
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

function reportsEachRow(direction: Direction, harness: () => AdapterHarness, dialect: Dialect): void {
  for (const expected of rowsOf(direction.name, dialect)) {
    const { row, sends, requests, statuses, outcome, callbacks } = expected;
    it(`reports the outcome of row ${row}: ${outcome}`, async () => {
      const before = outcome === 'receipt_reused' ? await receiptOf(direction, harness()) : null;
      const sendNow = await direction.prepare(harness(), row);
      const reference = randomUUID();
      const outcomes: SendOutcome[] = [];
      for (const kind of sends) {
        outcomes.push(await sendNow(reference));
        assert.equal(outcomes.at(-1)?.kind, kind);
      }
      if (row === '022') assert.deepEqual(new Set(outcomes.map(causeOf)), new Set(['account', null]));
      const status = () => direction.status(harness().operator, reference);
      for (const kind of statuses) assert.equal((await status()).kind, kind);
      await assertOutcome(expected, status, { harness: harness(), dialect, before });
      const called = await until(
        () => callbacksOf(harness(), reference),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assert.deepEqual(await harness().seen(reference), { requestsReceived: requests, timesAccepted: 1 });
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
}

type Compared = {
  readonly harness: AdapterHarness;
  readonly dialect: Dialect;
  /** The receipt of the payment before. */
  readonly before: string | null;
};

async function assertOutcome(
  { outcome }: ConformanceRow,
  status: () => Promise<StatusOutcome>,
  { harness, dialect, before }: Compared,
): Promise<void> {
  if (outcome === 'pending') {
    await sleep(harness.undecidedMs + 20);
    assert.equal((await status()).kind, 'pending');
    return;
  }
  const last = await final(status);
  if (outcome === 'paid_otherwise') {
    assert.ok(last.kind === 'succeeded' && last.paid !== undefined, JSON.stringify(last));
    assert.equal(isPaidAsRequested(last.paid, harness.money), false);
  } else if (outcome === 'succeeded' || outcome === 'returned' || outcome === 'receipt_reused') {
    assertPaid(last, harness, dialect);
    if (before !== null) assert.equal(last.receipt, before);
    if (outcome === 'returned') await assertReturned(last, status, dialect);
  } else {
    assert.ok(last.kind === 'failed', JSON.stringify(last));
    assert.equal(last.code, outcome);
  }
}

type Succeeded = Extract<StatusOutcome, { kind: 'succeeded' }>;

function assertPaid(
  status: StatusOutcome,
  { money }: AdapterHarness,
  { namesMoney }: Dialect,
): asserts status is Succeeded {
  assert.ok(status.kind === 'succeeded', JSON.stringify(status));
  assert.ok(status.receipt !== null && status.receipt.length > 0);
  assert.equal(status.paid !== undefined, namesMoney);
  if (status.paid !== undefined) assert.ok(isPaidAsRequested(status.paid, money));
}

async function assertReturned(paid: Succeeded, status: () => Promise<StatusOutcome>, { namesReturned }: Dialect) {
  const returned = await until(status, ({ kind }) => kind !== 'succeeded');
  assert.deepEqual(returned, { ...paid, kind: 'returned', ...(!namesReturned && { receipt: null }) });
}

/** Of a payment that is made and paid first. */
async function receiptOf(direction: Direction, harness: AdapterHarness): Promise<string | null> {
  const reference = randomUUID();
  await send(direction, harness, '500', reference);
  const paid = await final(() => direction.status(harness.operator, reference));
  assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
  return paid.receipt;
}

function causeOf(outcome: SendOutcome): Trouble | null {
  return outcome.kind === 'unknown' ? (outcome.cause ?? null) : null;
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
  it('knows the name of a payee, none of somebody without an account, and nothing while it is unavailable, if it is asked for names at all', async () => {
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
