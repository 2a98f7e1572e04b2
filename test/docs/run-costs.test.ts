// The costs of runs in docs/temporal-ui.md, counted from recorded histories.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { REAL_CLOCKS } from '../../src/domain/clocks.ts';
import { recordedHistories, type HistoryEvent } from '../replay/recorded-histories.ts';

const PAGE = readFileSync(new URL('../../docs/temporal-ui.md', import.meta.url), 'utf8');
const DAY_MS = 86_400_000;

const RUNS = {
  'a collection that is paid, with a callback': 'collection-paid-after-callback',
  'a collection that is declined, found by polling': 'collection-declined-found-by-polling',
  'a payout that is released and paid': 'payout-released-and-paid',
  'a payout that is rejected': 'payout-rejected',
  'a refund that is released and paid, with a callback': 'reversal-confirmed-after-callback',
  'a delivery that is accepted at the third attempt': 'delivery-accepted-at-the-third-attempt',
  'a recheck of one payment': 'collection-rechecked-after-it-failed',
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

  it('are right for each status query, and for a day of an undecided payment', () => {
    const events = eventsOf('payout-undecided-then-paid');
    const timers = events.flatMap(({ eventType }, at) => (eventType === 'EVENT_TYPE_TIMER_STARTED' ? [at] : []));
    // From one wait to the next, with a query between them, and nothing recorded.
    const [from = 0, to = 0] = timers.slice(2, 4);
    const poll = events.slice(from, to);
    assert.ok(poll.every(({ eventType }) => eventType !== 'EVENT_TYPE_MARKER_RECORDED'));
    const { reconcileScheduleMs } = REAL_CLOCKS;
    const polls = DAY_MS / reconcileScheduleMs[reconcileScheduleMs.length - 1]!;
    const actions = actionsOf(poll);
    const text = PAGE.replaceAll(/\s+/g, ' ');
    const each = `${poll.length} events and ${actions} actions for each query`;
    const daily = `so ${poll.length * polls} events and ${actions * polls} actions a day for each such payment`;
    assert.ok(text.includes(`${each}, ${daily}`), `the page must have: ${each}, ${daily}`);
  });
});
