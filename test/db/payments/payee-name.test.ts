// The query of a payee's name: asked while the payout waits for people, recorded once, and in nobody's way.
import assert from 'node:assert/strict';
import { listExchanges } from '../../../src/db/payments/operator-exchange.ts';
import { listPayeeNames } from '../../../src/db/payments/payee-name.ts';
import type { PayoutState } from '../../../src/domain/payments/payout.ts';
import type { NameOutcome } from '../../../src/operators/port.ts';
import { testActivities, workerDeps } from '../../support/payment-activities.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makeShop } from './payout-rows.ts';

describe('the query of a payee’s name', () => {
  const db = useDatabase();
  let asked: string[];
  let answer: NameOutcome;

  beforeEach(() => {
    asked = [];
    answer = { kind: 'named', name: 'JANE NAKATO' };
  });

  const getPayeeName = (phone: string) => {
    asked.push(phone);
    return Promise.resolve(answer);
  };
  const query = async (state: PayoutState = 'queued', given: object = {}, operator: object = { getPayeeName }) => {
    const { id, merchantId, phone } = await makePayout(db, await makeShop(db, 1000n), state);
    const activities = testActivities(workerDeps(db, { operators: { 'mtn-momo': operator }, ...given }));
    const ask = () => activities.queryPayeeNameWithOperator({ kind: 'payout', id, merchantId });
    const recorded = async () => (await listPayeeNames(db, [id])).get(id)?.name;
    const exchanges = async () => (await listExchanges(db, [id], 10)).map(({ kind, outcome }) => `${kind} ${outcome}`);
    return { ask, recorded, exchanges, phone };
  };

  it('records the first answer with its exchange, and asks nobody again', async () => {
    const { ask, recorded, exchanges, phone } = await query();
    await ask();
    answer = { kind: 'named', name: 'PETER OKELLO' };
    await ask();
    assert.deepEqual([asked, await recorded(), await exchanges()], [[phone], 'JANE NAKATO', ['name_query named']]);
  });

  it('records that the operator has no name', async () => {
    answer = { kind: 'unnamed' };
    const { ask, recorded, exchanges } = await query();
    await ask();
    assert.deepEqual([await recorded(), await exchanges()], [null, ['name_query unnamed']]);
  });

  it('is tried again while there is no usable answer, and records none', async () => {
    answer = { kind: 'unknown', reason: 'http 503' };
    const { ask, recorded, exchanges } = await query();
    await assert.rejects(ask(), { type: 'OperatorUnknown' });
    assert.deepEqual([await recorded(), await exchanges()], [undefined, ['name_query unknown']]);
    answer = { kind: 'named', name: 'JANE NAKATO' };
    await ask();
    assert.equal(await recorded(), 'JANE NAKATO');
  });

  it('is not made of a payout that waits for nobody, nor of an operator that offers no names', async () => {
    await (await query('released')).ask();
    await (await query('queued', {}, { getPayeeName: null })).ask();
    assert.deepEqual(asked, []);
  });

  it('waits for a grant of the operator’s calls', async () => {
    const { ask } = await query('queued', { calls: { permit: () => Promise.resolve({ kind: 'none' }) } });
    await assert.rejects(ask(), { type: 'OperatorBusy' });
    assert.deepEqual(asked, []);
  });
});
