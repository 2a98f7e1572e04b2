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
import { OPERATORS, type Capabilities, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import {
  callbacksOf,
  capabilitiesFor,
  directionsOf,
  final,
  issuedIdOf,
  send,
  statusOf,
  type AdapterHarness,
  type Direction,
} from './directions.ts';
import { refusesEveryRefund, refusesWrongRefunds } from './wrong-refunds.ts';
import { DIALECTS, rowsOf, type ConformanceRow, type Dialect, type RowOutcome } from './rows.ts';
import { valuesOf } from '../support/values-of.ts';

export function conformsToThePort(id: OperatorId, start: () => Promise<AdapterHarness>): void {
  const dialect = DIALECTS[id];
  const directions = directionsOf(id);
  describe(`${OPERATORS[id].name} as an operator`, () => {
    let harness: AdapterHarness;

    before(async () => {
      harness = await start();
    });

    after(() => harness.stop());

    for (const direction of directions) {
      describe(`for a ${direction.name}`, () => {
        const capabilities = capabilitiesFor(direction, id);
        reportsEachRow({ direction, capabilities, dialect }, () => harness);
        if (capabilities.send === 'idempotent') isSafeToRepeat(direction, directions, () => harness);
        else provesNothingByAbsence(direction, () => harness);
        survivesFaults({ direction, capabilities }, () => harness);
      });
    }
    const { refund } = OPERATORS[id].capabilities;
    if (refund !== null) refusesWrongRefunds(refund, () => harness);
    else refusesEveryRefund(() => harness);
    readsCallbacks(() => harness);
    knowsPayees(() => harness);

    it('can be closed twice, and returns unknown afterwards', async () => {
      const other = await start();
      await other.operator.close();
      await other.operator.close();
      for (const direction of directions)
        assert.equal((await statusOf(direction, other, randomUUID())).kind, 'unknown');
      await other.stop();
    });
  });
}

type Tested = { readonly direction: Direction; readonly capabilities: Capabilities; readonly dialect: Dialect };

function reportsEachRow(tested: Tested, harness: () => AdapterHarness): void {
  const { direction, capabilities, dialect } = tested;
  for (const expected of rowsOf(direction.name, dialect)) {
    const { row, requests, accepted, statuses, outcome, callbacks } = expected;
    it(`reports the outcome of row ${row}: ${outcome}`, async () => {
      const before = reusesReceipt(expected) ? await receiptOf(direction, harness()) : null;
      const reference = randomUUID();
      const issuedId = await sendEach(expected, await direction.prepare(harness(), row), { reference, capabilities });
      const status = () => statusOf(direction, harness(), reference, issuedId);
      for (const kind of statuses) assert.equal((await status()).kind, kind);
      const compared = { ...tested, harness: harness(), before, phone: harness().phone(row), issuedId };
      await assertOutcome(expected, status, compared);
      const called = await until(
        () => callbacksOf(harness(), reference, direction.name),
        (count) => count >= callbacks,
      );
      assert.equal(called, callbacks);
      assertMessages(expected, reference, compared);
      assert.deepEqual(await harness().seen(reference), { requestsReceived: requests, timesAccepted: accepted });
    });
  }

  it('reports row 009 as pending past the prompt window', async () => {
    const prepare = () => direction.prepare(harness(), '009');
    const status = await inTime(harness().undecidedMs, prepare, async (sendNow) => {
      const reference = randomUUID();
      const issuedId = issuedIdOf(await sendNow(reference));
      await sleep(harness().promptExpiryMs + 10);
      return statusOf(direction, harness(), reference, issuedId);
    });
    assert.equal(status.kind, isOfCollection(capabilities) ? 'unknown' : 'pending');
  });

  if (isOfCollection(capabilities)) return;
  it('gets the callback of row 012 before the response to the send', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '012', reference);
    assert.equal(callbacksOf(harness(), reference, direction.name), 1);
  });
}

function reusesReceipt({ outcome, message }: ConformanceRow): boolean {
  return outcome === 'receipt_reused' || message === 'receipt_reused';
}

/** Sends as often as the row says; returns the issued id, as the last answer names it. */
async function sendEach(
  { row, sends }: ConformanceRow,
  sendNow: (reference: string) => Promise<SendOutcome>,
  { reference, capabilities }: { readonly reference: string; readonly capabilities: Capabilities },
): Promise<string | null> {
  const outcomes: SendOutcome[] = [];
  for (const kind of sends) {
    // The service sends once, unless nothing was done with the send before.
    if (capabilities.send === 'once') assert.ok(outcomes.every(isUnprocessed), JSON.stringify(outcomes));
    outcomes.push(await sendNow(reference));
    assert.equal(outcomes.at(-1)?.kind, kind, JSON.stringify(outcomes));
  }
  if (row === '022') assert.deepEqual(new Set(outcomes.map(causeOf)), new Set(['account', null]));
  const last = outcomes.at(-1);
  assert.ok(last !== undefined && !isUnprocessed(last));
  return issuedIdOf(last);
}

function isUnprocessed(outcome: SendOutcome): boolean {
  return outcome.kind === 'unknown' && outcome.isUnprocessed === true;
}

type Compared = Tested & {
  readonly harness: AdapterHarness;
  /** The receipt of the payment before. */
  readonly before: string | null;
  readonly phone: string;
  readonly issuedId: string | null;
};

async function assertOutcome(
  { outcome }: ConformanceRow,
  status: () => Promise<StatusOutcome>,
  compared: Compared,
): Promise<void> {
  const { harness, capabilities, dialect, issuedId } = compared;
  if (outcome === 'pending' || outcome === 'unknown') {
    await sleep(harness.undecidedMs + 20);
    assert.equal((await status()).kind, outcome);
    return;
  }
  // What the operator can only list has no status of its own.
  const isListed = capabilities.listsPaid && issuedId === null;
  const says = isListed ? { amount: true, receipt: true } : capabilities.statusSays;
  const last = await final(status, isListed || isOfCollection(capabilities));
  assertSaid(outcome, last, { ...compared, says });
  if (outcome === 'returned') await assertReturned(last, status, dialect);
}

/** The operator says nothing of a refund until it has returned the collection. */
function isOfCollection(capabilities: Capabilities): boolean {
  return 'statusOf' in capabilities && capabilities.statusOf === 'collection';
}

type Said = Compared & { readonly says: Capabilities['statusSays'] };

function assertSaid(outcome: RowOutcome, status: StatusOutcome, { harness: { money }, before, phone, says }: Said) {
  if (!PAID_OUTCOMES.has(outcome)) {
    assert.ok(status.kind === 'failed', JSON.stringify(status));
    assert.equal(status.code, outcome);
    return;
  }
  assert.ok(status.kind === 'succeeded', JSON.stringify(status));
  // Other money than was requested is said in any case.
  assert.equal(status.paid !== undefined, says.amount || outcome === 'paid_otherwise');
  assert.equal(status.receipt !== null && status.receipt.length > 0, says.receipt);
  if (status.paid !== undefined) assert.equal(isPaidAsRequested(status.paid, money), outcome !== 'paid_otherwise');
  if (status.phone !== undefined) assert.equal(status.phone, phone);
  if (outcome === 'receipt_reused') assert.equal(status.receipt, before);
}

const PAID_OUTCOMES: ReadonlySet<RowOutcome> = new Set<RowOutcome>([
  'succeeded',
  'paid_otherwise',
  'receipt_reused',
  'returned',
]);

async function assertReturned(paid: StatusOutcome, status: () => Promise<StatusOutcome>, { namesReturned }: Dialect) {
  const returned = await until(status, ({ kind }) => kind !== 'succeeded');
  assert.deepEqual(returned, { ...paid, kind: 'returned', ...(!namesReturned && { receipt: null }) });
}

/** What came to the address of the payment names it, and says money and receipt of what was paid. */
function assertMessages({ outcome, message = outcome }: ConformanceRow, reference: string, compared: Compared): void {
  const { harness, direction, capabilities, issuedId } = compared;
  const messages = harness.messages?.('result', reference, direction.name) ?? [];
  for (const { status, issuedId: named, operatorReference } of messages) {
    assertSaid(message, status, { ...compared, says: { amount: true, receipt: true } });
    if (issuedId !== null) assert.equal(named, issuedId);
    if (capabilities.statusKey === 'ours') assert.equal(operatorReference, reference);
  }
}

/** Of a payment that is made and paid first. */
async function receiptOf(direction: Direction, harness: AdapterHarness): Promise<string | null> {
  const reference = randomUUID();
  const issuedId = issuedIdOf(await send(direction, harness, '500', reference));
  const paid = await final(() => statusOf(direction, harness, reference, issuedId));
  assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
  if (harness.messages === null) return paid.receipt;
  const { messages } = harness;
  const [message] = await until(
    () => messages('result', reference, direction.name),
    ({ length }) => length > 0,
  );
  assert.ok(message?.status.kind === 'succeeded');
  return message.status.receipt;
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
    assert.deepEqual(await statusOf(direction, harness(), randomUUID()), { kind: 'not_found' });
  });

  it('returns not_found for the reference of another kind of payment', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '500', reference);
    const { id } = harness().operator;
    const isOther = (other: Direction) => other !== direction && capabilitiesFor(other, id).send === 'idempotent';
    for (const other of directions.filter(isOther)) {
      assert.deepEqual(await statusOf(other, harness(), reference), { kind: 'not_found' }, other.name);
    }
  });

  it('reports row 011 as not found while it is refused', async () => {
    const reference = randomUUID();
    await send(direction, harness(), '011', reference);
    assert.deepEqual(await statusOf(direction, harness(), reference), { kind: 'not_found' });
  });
}

function provesNothingByAbsence(direction: Direction, harness: () => AdapterHarness): void {
  it('returns unknown for an unknown reference, because the payment may have been sent', async () => {
    assert.equal((await statusOf(direction, harness(), randomUUID())).kind, 'unknown');
  });

  it('returns unknown for an issued id that does not exist', async () => {
    assert.equal((await statusOf(direction, harness(), randomUUID(), randomUUID())).kind, 'unknown');
  });
}

function survivesFaults({ direction, capabilities }: Omit<Tested, 'dialect'>, harness: () => AdapterHarness): void {
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
      const issuedId = issuedIdOf(await sendNow(reference));
      await harness().setFaults(switches);
      const lost = randomUUID();
      const status = () => statusOf(direction, harness(), reference, issuedId);
      for (const outcome of [await other(lost), await status()]) {
        assert.ok(outcome.kind === 'unknown', JSON.stringify(outcome));
        if (cause !== null) assert.equal(outcome.cause, cause);
      }
      await harness().setFaults({});
      assert.equal((await final(status, isOfCollection(capabilities))).kind, 'succeeded');
      const never = capabilities.send === 'idempotent' ? 'not_found' : 'unknown';
      assert.equal((await statusOf(direction, harness(), lost)).kind, never);
      assert.equal((await other(lost)).kind, 'accepted');
    });
  }
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

function knowsPayees(harness: () => AdapterHarness): void {
  it('knows the name of a payee, none of somebody without an account, and nothing while it is unavailable, if it is asked for names at all', async () => {
    const { operator, phone } = harness();
    const { getPayeeName } = operator;
    if (getPayeeName === null) return;
    const named = await getPayeeName(phone('500'));
    assert.ok(named.kind === 'named', JSON.stringify(named));
    // M-Pesa masks the family name.
    assert.match(named.name, /^[A-Z]+ [A-Z]+\**$/);
    assert.deepEqual(await getPayeeName(phone('500')), named);
    // Airtel lists no code for that.
    assert.match((await getPayeeName(phone('001'))).kind, /^unnamed$|^unknown$/);
    await harness().setFaults({ down: true });
    assert.equal((await getPayeeName(phone('500'))).kind, 'unknown');
    await harness().setFaults({ down: false });
  });
}
