// The Temporal UI as docs/temporal-ui.md shows it: its pictures are made here, from a live run.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { findProjectRoot } from '../../src/project-root.ts';
import { NAMESPACE, temporal, temporalClient } from '../support/engines.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { eventually } from '../support/test-environment.ts';
import { describeInBrowser } from './chromium.ts';
import { pictureForDocs, type Part } from './docs-pictures.ts';

const DOCS = join(findProjectRoot(), 'docs');
const PAGE = readFileSync(join(DOCS, 'temporal-ui.md'), 'utf8');
/** An amount whose digits are nowhere else, and a merchant's own text. */
const FIELDS = { amount: 90_417, reference: 'Rent of Okello', description: 'Rent of Okello' };
const COLUMNS = ['MalipoState', 'MalipoWaitsFor', 'MalipoOperator', 'MalipoMerchantId', 'MalipoResourceId'];
/** The navigation on the left and the bar on top are on no picture. */
const [LEFT, TOP, WIDTH] = [205, 50, 1220];
const MARGIN = 12;

const PATIENT = {
  timeoutMs: 600_000,
  startsServer: false,
  environment: {
    MALIPO_PROMPT_WINDOW_MS: '86400000',
    MALIPO_PAYOUT_SEND_DEADLINE_MS: '86400000',
    MALIPO_POLL_SCHEDULE_MS: '300,3600000',
    MALIPO_RECONCILE_SCHEDULE_MS: '3600000',
    MALIPO_RECONCILE_FOR_MS: '86400000',
  },
  sandboxTimes: { undecidedMs: 86_400_000 },
};

describeInBrowser('the Temporal UI', PATIENT, (testEnv, chromium) => {
  const runs: Record<string, Payment> = {};
  let hides: string[];

  before(async () => {
    const { merchant } = testEnv;
    await fund(testEnv, merchant, 1_000_000);
    const hasty = await testEnv.startServer({ MALIPO_PROMPT_WINDOW_MS: '1000' });
    const reconciling = await pay(testEnv, '010', { fields: FIELDS });
    await untilState(testEnv, reconciling, 'reconciling');
    await hasty.stop();
    await testEnv.startServer();
    const { amount } = FIELDS;
    const [succeeded, failed] = [
      await pay(testEnv, '100', { fields: FIELDS }),
      await pay(testEnv, '001', { fields: FIELDS }),
    ];
    const released = await requestPayout(testEnv, '010', { amount });
    await untilWaiting(released);
    await release(await logInAs(testEnv, merchant.id, 'approver'), released);
    const queued = await requestPayout(testEnv, '100', { amount });
    const prompted = await pay(testEnv, '010', { fields: FIELDS });
    await untilState(testEnv, succeeded, 'succeeded');
    await untilState(testEnv, failed, 'failed');
    await untilState(testEnv, prompted, 'prompted');
    await untilPayoutState(testEnv, released, 'released');
    Object.assign(runs, { reconciling, succeeded, failed, released, queued, prompted });
    const phones = Object.values(runs).flatMap(({ phone }) => [phone, phone.slice(3)]);
    hides = [...phones, String(amount), '90,417', 'Okello', merchant.key, 'Test merchant'];
  });

  /** Its run has the timer that ends it without an approval. */
  async function untilWaiting({ workflowId }: Payment): Promise<void> {
    const run = (await temporalClient()).workflow.getHandle(workflowId);
    await eventually('the payout to wait for an approver', async () => {
      // Not yet, where its run has not been started.
      const history = await run.fetchHistory().catch(() => null);
      return history?.events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
    });
  }

  async function open(path: string): Promise<Page> {
    const { uiUrl } = await temporal();
    assert.ok(uiUrl !== undefined);
    const page = await chromium.browser.newPage({ viewport: { width: LEFT + WIDTH, height: 1300 } });
    page.setDefaultTimeout(60_000);
    await page.goto(`${uiUrl}/namespaces/${NAMESPACE}${path}`);
    return page;
  }

  async function openRun(name: string, tab: string): Promise<Page> {
    const { workflowId } = runs[name]!;
    const { runId } = await (await temporalClient()).workflow.getHandle(workflowId).describe();
    return open(`/workflows/${encodeURIComponent(workflowId)}/${runId}/${tab}`);
  }

  /** All beside the navigation, from here down to the end of what `last` finds. */
  async function partUntil(last: Locator, top = TOP): Promise<Part> {
    await last.waitFor();
    const box = await last.boundingBox();
    assert.ok(box !== null);
    return { x: LEFT, y: top, width: WIDTH, height: Math.ceil(box.y + box.height + MARGIN - top) };
  }

  it('lists payments with the columns that the page chooses, as the page says how', async () => {
    const query = /`(MalipoMerchantId = 'mer_…' AND WorkflowType != 'deliveryWorkflow')`/.exec(PAGE)?.[1];
    assert.ok(query !== undefined, 'the page has the query');
    const filled = query.replace('mer_…', testEnv.merchant.id);
    const page = await open(`/workflows?query=${encodeURIComponent(filled)}`);
    await page.getByTestId('workflows-summary-table-configuration-button').click();
    await page.getByText('Configure Workflows Table').waitFor();
    for (const column of ['Workflow ID', 'Run ID', 'Type', 'Start', 'End'])
      await page.getByRole('button', { name: `Remove ${column} column` }).click();
    for (const column of [...COLUMNS, 'Workflow ID'])
      await page.getByRole('button', { name: `Add ${column} column` }).click();
    await page.getByTestId('drawer-close-button').click();
    await page.getByTestId('table-density-button').click();
    await page.getByRole('button', { name: 'Collapse saved views' }).click();
    // The dense list has the two ends of each id.
    const ends = (id: string) => `${id.slice(0, 7)}...${id.slice(-7)}`;
    const cell = (name: string, text: string) => {
      const row = page.getByRole('row').filter({ hasText: runs[name]!.id.slice(-7) });
      return row.getByText(text, { exact: true });
    };
    const shows = [
      ...COLUMNS.map((column) => page.getByRole('columnheader', { name: column })),
      ...Object.keys(runs).flatMap((state) => [
        cell(state, state),
        cell(state, ends(runs[state]!.id)),
        cell(state, ends(testEnv.merchant.id)),
        cell(state, 'mtn-momo'),
      ]),
      cell('prompted', 'payer'),
      cell('queued', 'approver'),
      cell('reconciling', 'operator'),
      cell('released', 'operator'),
    ];
    const part = await partUntil(page.getByTestId('workflows-summary-table-configuration-button'));
    await pictureForDocs(page, { name: 'temporal-ui-list', part, shows, hides });
    await page.close();
  });

  it('explains on the page of a run its purpose, its wait and the allowed manual acts', async () => {
    const page = await openRun('prompted', 'user-metadata');
    const frame = (n: number) => page.locator('iframe').nth(n).contentFrame();
    const details = frame(1).getByText('a run that is terminated is started again from it');
    const shows = [
      frame(0).getByText(`collection ${runs['prompted']!.id} at mtn-momo`),
      details,
      frame(2).getByText('Waiting for the payer to answer the prompt. The prompt expires at'),
      frame(2).getByText('The operator is asked by schedule'),
    ];
    await pictureForDocs(page, { name: 'temporal-ui-run', part: await partUntil(details), shows, hides });
    await page.close();
  });

  it('has a history with the purpose of each timer and activity', async () => {
    const page = await openRun('released', 'history?sort=ascending');
    await page.getByTestId('compact').click();
    const summaries = ['load the recorded payment', 'approval expires', 'send the payout to mtn-momo'];
    const shows = summaries.map((summary) => page.getByText(summary).first());
    const top = await page.getByTestId('compact').boundingBox();
    assert.ok(top !== null);
    const part = await partUntil(shows.at(-1)!, top.y - MARGIN);
    await pictureForDocs(page, { name: 'temporal-ui-history', part, shows, hides });
    await page.close();
  });

  it('is on the pictures of the page, each with a text alternative', () => {
    const shown = [...PAGE.matchAll(/!\[([^\]]*)\]\((pictures\/[^)]+)\)/g)].map(([, words = '', file = '']) => ({
      words,
      file,
    }));
    assert.deepEqual(
      shown.map(({ file }) => file).sort(),
      readdirSync(join(DOCS, 'pictures'))
        .map((file) => `pictures/${file}`)
        .sort(),
    );
    for (const { words, file } of shown) {
      assert.ok(words.length > 40, file);
      assert.ok(existsSync(join(DOCS, file)), file);
    }
  });
});
