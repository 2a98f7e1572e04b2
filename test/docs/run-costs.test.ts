// The costs of runs in docs/temporal-ui.md, counted from recorded histories.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { recordedHistories, type HistoryEvent } from '../replay/recorded-histories.ts';

const PAGE = readFileSync(new URL('../../docs/temporal-ui.md', import.meta.url), 'utf8');

const RUNS = {
  'a collection that is paid, with a callback': 'collection-paid-after-callback',
  'a collection that is declined, found by schedule': 'collection-declined-found-by-polling',
  'a payout that is released and paid': 'payout-released-and-paid',
  'a payout that is rejected': 'payout-rejected',
  'a refund that is released and paid, with a callback': 'reversal-confirmed-after-callback',
  'a delivery that is accepted at the third attempt': 'delivery-accepted-at-the-third-attempt',
  'a sweep': 'sweep-with-nothing-wrong',
  'a check of the ledger': 'ledger-check-with-nothing-wrong',
} as const;

const BILLED = [
  'WORKFLOW_EXECUTION_STARTED',
  'WORKFLOW_EXECUTION_SIGNALED',
  'TIMER_STARTED',
  'ACTIVITY_TASK_SCHEDULED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
];

type Attributes = { readonly attempt?: number; readonly workflowTaskCompletedEventId?: string };

function attributesOf(event: HistoryEvent): Attributes {
  return (
    Object.values(event).find((value) => typeof value === 'object' && value !== null && 'attempt' in value) ??
    event['markerRecordedEventAttributes'] ??
    {}
  );
}

/** As docs.temporal.io/cloud/actions counts them. */
function actionsOf(events: readonly HistoryEvent[]): number {
  const isOf = (type: string) => (event: HistoryEvent) => event.eventType === `EVENT_TYPE_${type}`;
  const billed = BILLED.reduce((sum, type) => sum + events.filter(isOf(type)).length, 0);
  const repeated = events
    .filter(isOf('ACTIVITY_TASK_STARTED'))
    .reduce((sum, event) => sum + (attributesOf(event).attempt ?? 1) - 1, 0);
  const tasksWithMarkers = new Set(
    events.filter(isOf('MARKER_RECORDED')).map((event) => attributesOf(event).workflowTaskCompletedEventId),
  );
  // A start and the signal that comes with it are one action.
  const isSignalled = events.slice(0, 3).some(isOf('WORKFLOW_EXECUTION_SIGNALED'));
  return billed + repeated + tasksWithMarkers.size - (isSignalled ? 1 : 0);
}

const eventsOf = (run: string) => recordedHistories().find(({ name }) => name === run)?.events ?? [];

/** The row of a table, in whatever way the page is aligned. */
const rowsIn = (page: string) =>
  page.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .join('|'),
  );

describe('the costs of runs in the documentation', () => {
  for (const [what, run] of Object.entries(RUNS)) {
    it(`are right for ${what}`, () => {
      const events = eventsOf(run);
      const row = `|${what}|${events.length}|${actionsOf(events)}|`;
      assert.ok(rowsIn(PAGE).includes(row), `the page must have ${row}`);
    });
  }

  it('are right for the wait of an undecided payment: no event follows except signals of changes', () => {
    const events = eventsOf('payout-undecided-then-paid');
    const timers = events.filter(({ eventType }) => eventType === 'EVENT_TYPE_TIMER_STARTED');
    // That of its approval.
    assert.equal(timers.length, 1);
    assert.match(PAGE.replaceAll(/\s+/g, ' '), /An undecided payment costs Temporal nothing while it waits/);
  });
});
