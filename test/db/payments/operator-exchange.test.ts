// Exchanges with operators are recorded beside the payment, bounded, and nothing depends on the record.
import assert from 'node:assert/strict';
import { REAL_CLOCKS } from '../../../src/domain/clocks.ts';
import { retainedSince } from '../../../src/domain/retention.ts';
import { callOperator, recordExchange } from '../../../activities/exchanges.ts';
import { insertExchange, listExchanges } from '../../../src/db/payments/operator-exchange.ts';
import { purgeExpiredRecords } from '../../../src/operations/purge-expired-records.ts';
import type { ExchangeOutcome } from '../../../src/domain/payments/operator-exchange.ts';
import type { PaymentRef } from '../../../src/domain/payments/payment.ts';
import { createLog } from '../../../src/log.ts';
import { countRows, makeCollection, makeMerchant } from '../rows.ts';
import { useDatabase } from '../use-database.ts';

const log = createLog({ level: 'fatal', process: 'test' });
const AT = new Date('2026-01-31T12:00:00.000Z');

describe('an exchange with an operator', () => {
  const db = useDatabase();
  let ref: PaymentRef;

  beforeEach(async () => {
    const merchantId = await makeMerchant(db);
    const { id } = await makeCollection(db, merchantId, 'prompted');
    ref = { kind: 'collection', id, merchantId };
  });

  const exchanged = () => ({ ref, operator: 'mtn-momo', requestId: null }) as const;
  const insert = (outcome: ExchangeOutcome, startedAt = AT) =>
    insertExchange(db, ref, { kind: 'status_query', startedAt, durationMs: 12, outcome, failureCode: null });
  const outcomes = async () => (await listExchanges(db, [ref.id], 1000)).map(({ outcome }) => outcome);

  it('is kept with when it was, how long it took and how it ended, and no more of it', async () => {
    const outcome = { kind: 'failed', code: 'wrong_pin', operatorCode: 'PIN_WRONG' } as const;
    const answer = await callOperator({}, exchanged(), 'status_query', () => Promise.resolve(outcome));
    assert.equal(answer.outcome, outcome);
    await recordExchange({ db, log }, ref, answer.exchange);
    const [kept, ...others] = await listExchanges(db, [ref.id], 10);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [kept?.paymentId, kept?.kind, kept?.outcome, kept?.failureCode],
      [ref.id, 'status_query', 'failed', 'wrong_pin'],
    );
    assert.ok(kept!.durationMs >= 0 && Math.abs(kept!.startedAt.getTime() - Date.now()) < 60_000);
  });

  it('counts nevertheless when it cannot be recorded', async () => {
    const broken = { ...db, run: () => Promise.reject(new Error('the database is unavailable')) };
    const { exchange } = await callOperator({}, exchanged(), 'send', () =>
      Promise.resolve({ kind: 'accepted' } as const),
    );
    await recordExchange({ db: broken, log }, ref, exchange);
    assert.deepEqual(await outcomes(), []);
  });

  it('is kept fifty times, then only if it ended otherwise than the last, and a hundred times at most', async () => {
    for (let n = 0; n < 60; n++) await insert('pending');
    assert.equal((await outcomes()).length, 50);
    await insert('unknown');
    await insert('unknown');
    await insert('pending');
    assert.deepEqual((await outcomes()).slice(49), ['pending', 'unknown', 'pending']);
    for (let n = 0; n < 60; n++) await insert(n % 2 === 0 ? 'unknown' : 'pending');
    assert.equal((await outcomes()).length, 100);
  });

  it('is removed when its time is over', async () => {
    await insert('pending', new Date('2020-01-01T00:00:00.000Z'));
    await insert('succeeded');
    const before = new Date('2021-01-01T00:00:00.000Z');
    const purge = { retainedSince: retainedSince(REAL_CLOCKS, before), endedBefore: before, limit: 100 };
    while ((await purgeExpiredRecords(db, purge)) > 0);
    assert.deepEqual(await outcomes(), ['succeeded']);
    assert.equal(await countRows(db, 'operator_exchanges WHERE started_at < $1', [before]), 0);
  });
});
