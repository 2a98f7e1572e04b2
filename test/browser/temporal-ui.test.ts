// The Temporal UI with a query of docs/temporal-ui.md, and a picture of it in var/screenshots.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { NAMESPACE, temporal } from '../support/engines.ts';
import { fund, requestPayout, type Payout } from '../support/payouts.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { useChromium } from './chromium.ts';
import { useInspector } from './inspect.ts';

describe('the Temporal UI', function () {
  // A browser, on a machine that is busy with other tests.
  this.timeout(600_000);
  const testEnv = useTestEnvironment({
    environment: { MALIPO_PROMPT_WINDOW_MS: '600000', MALIPO_POLL_SCHEDULE_MS: '300000' },
  });
  const chromium = useChromium();
  const { picture } = useInspector('temporal');
  let collection: Payment;
  let payout: Payout;
  before(async () => {
    await fund(testEnv, testEnv.merchant, 20_000);
    payout = await requestPayout(testEnv, '000');
    collection = await pay(testEnv, '010');
    await untilState(testEnv, collection, 'prompted');
  });

  async function open(path: string): Promise<Page> {
    const { uiUrl } = await temporal();
    assert.ok(uiUrl !== undefined);
    const page = await chromium.browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    await page.goto(`${uiUrl}/namespaces/${NAMESPACE}${path}`);
    return page;
  }

  it('lists what is open of a merchant', async () => {
    const query = `MalipoMerchantId = '${testEnv.merchant.id}' AND ExecutionStatus = 'Running'`;
    const page = await open(`/workflows?query=${encodeURIComponent(query)}`);
    for (const { workflowId } of [collection, payout]) await page.getByText(workflowId).first().waitFor();
    await picture(page, 'list');
    await page.close();
  });
});
