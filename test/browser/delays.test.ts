// The notice that an operator is delayed: shown while its breaker is open, and gone afterwards.
import assert from 'node:assert/strict';
import { openBreaker, closeBreakerByStaff } from '../../src/db/work/breakers.ts';
import { changeBreaker } from '../../src/operations/payments/change-breaker.ts';
import { fund, release, requestPayout } from '../support/payouts.ts';
import { addPerson, logInAs } from '../support/people.ts';
import { AMINA } from '../support/staff.ts';
import { closePage, describeInBrowser, openConsole } from './chromium.ts';

describeInBrowser('a delayed operator, in the console', { timeoutMs: 300_000 }, (testEnv, chromium) => {
  it('is named with its waiting payments, for as long as it lasts', async () => {
    const { db, merchant } = testEnv;
    const of = { operator: 'mtn-momo', by: AMINA, at: new Date() } as const;
    await changeBreaker(db, { ...of, product: 'disbursement', opening: { reason: 'maintenance' } });
    await openBreaker(db, 'mtn-momo', 'collection', { cause: 'busy', reason: 'http 503', pauseMs: 3_600_000 });
    await fund(testEnv, merchant, 20_000);
    const payout = await requestPayout(testEnv, '000');
    assert.equal((await release(await logInAs(testEnv, merchant.id, 'approver'), payout)).status, 200);
    const viewer = await addPerson(testEnv, merchant.id, ['viewer']);
    const page = await openConsole(testEnv, chromium.browser, viewer);
    await page.getByText(/MTN MoMo is delayed since .*: collections/).waitFor();
    await page.getByText(/MTN MoMo is delayed since .*: payouts and refunds/).waitFor();
    assert.equal(await page.getByText(/503|maintenance/).count(), 0, 'why is for the staff');
    await page.goto(`${testEnv.baseUrl}/console/payouts/${payout.id}`);
    await page.getByText('MTN MoMo is delayed: it gets this payment once it answers again').waitFor();
    for (const product of ['collection', 'disbursement'] as const) await closeBreakerByStaff(db, 'mtn-momo', product);
    await page
      .getByText(/is delayed since/)
      .first()
      .waitFor({ state: 'detached', timeout: 60_000 });
    await closePage(page);
  });
});
