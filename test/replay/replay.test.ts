// Replays the histories of earlier runs with the current workflow code: open workflows must survive a new version.
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import * as workflows from '../../workflows/index.ts';
import { prepareRuntime, workflowBundle } from '../support/engines.ts';
import { recordedHistories, recordHistories, RECORDING, type RecordedHistory } from './recorded-histories.ts';
import { SCENARIOS } from './scenarios.ts';
import { valuesOf } from '../support/values-of.ts';
import { alteredBundle } from '../support/altered-bundle.ts';

/** The names of the histories that the code cannot replay, with the reason. */
async function failuresOf(
  bundle: WorkflowBundleWithSourceMap,
  histories: readonly RecordedHistory[],
): Promise<Map<string, string>> {
  await prepareRuntime();
  const failures = new Map<string, string>();
  const iterable = histories.map(({ name, text }) => ({ workflowId: name, history: JSON.parse(text) as unknown }));
  const results = Worker.runReplayHistories({ workflowBundle: bundle }, iterable);
  for await (const { workflowId, error } of results) if (error) failures.set(workflowId, error.message);
  return failures;
}

describe('recorded histories', () => {
  before(async function () {
    const asked = process.env[RECORDING];
    if (asked !== 'true' && asked !== 'missing') return;
    this.timeout(900_000);
    await recordHistories(asked === 'true' ? 'every' : 'missing');
  });

  it('exist for every scenario, and for nothing else', () => {
    assert.deepEqual(valuesOf(recordedHistories(), 'name'), SCENARIOS.map(({ name }) => name).sort());
  });

  it('exist for every workflow', () => {
    const recorded = recordedHistories().map(({ events }) => {
      const started = events[0]?.['workflowExecutionStartedEventAttributes'] as { workflowType: { name: string } };
      return started.workflowType.name;
    });
    assert.deepEqual([...new Set(recorded)].sort(), Object.keys(workflows).sort());
  });

  it('are of runs that are closed', () => {
    for (const { name, events } of recordedHistories()) {
      assert.match(String(events.at(-1)?.eventType), /^EVENT_TYPE_WORKFLOW_EXECUTION_(COMPLETED|FAILED)$/, name);
    }
  });

  it('can be replayed by the current code', async () => {
    const failures = await failuresOf(await workflowBundle(), recordedHistories());
    assert.deepEqual([...failures], [], 'a run that is open would be stuck: CONTRIBUTING.md says how workflows change');
  });

  it('can be replayed where the quick status query failed instead of timing out', async () => {
    const name = 'collection-status-query-times-out-after-callback';
    const recorded = recordedHistories().filter((history) => history.name === name);
    const timedOut =
      '"failure":{"message":"Activity timed out","timeoutFailureInfo":{"timeoutType":"TIMEOUT_TYPE_START_TO_CLOSE"}}';
    const failed =
      '"failure":{"message":"the connection is lost","source":"TypeScriptSDK","applicationFailureInfo":{"type":"Error"}}';
    const altered = recorded.map((history) => ({ ...history, text: history.text.replaceAll(timedOut, failed) }));
    assert.ok(altered[0]!.text.includes(failed));
    assert.deepEqual([...(await failuresOf(await workflowBundle(), altered))], []);
  });

  it('contain no machine name, folder or phone', () => {
    for (const { name, text } of recordedHistories()) {
      const decoded = [...text.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
        Buffer.from(data!, 'base64').toString('utf8'),
      );
      const all = [text, ...decoded].join('\n');
      assert.doesNotMatch(
        all,
        /\d@|\/(home|root|tmp|work|Users)\/|node_modules|127\.0\.0\.1|localhost|25677\d{7}/,
        name,
      );
      assert.ok(!new RegExp(`@${hostname()}\\b`).test(all), name);
    }
  });
});

describe('the replay of the histories', () => {
  const CHANGES: readonly (readonly [string, string, string, string])[] = [
    [
      'a collection no longer raises the prompt',
      'collection-paid-after-callback',
      'await orNull(atOnce.sendWithOperator',
      'true ? null : await orNull(atOnce.sendWithOperator',
    ],
    [
      'a payout is sent before anybody has decided',
      'payout-released-and-paid',
      'await awaitDecision(payment, from, signals)',
      `{ seen, snapshot: { ...loaded, state: 'released', sendDeadlineAtMs: 0 } }`,
    ],
    [
      'a delivery no longer waits for its next attempt',
      'delivery-accepted-at-the-third-attempt',
      'due.dueInMs > 0',
      'false',
    ],
    [
      'a sweep removes nothing',
      'sweep-with-nothing-wrong',
      'await purgeExpiredRecords.executeWithOptions(',
      'await ((..._args) => 0)(',
    ],
  ];

  for (const [what, name, passage, replacement] of CHANGES) {
    it(`fails when ${what}`, async () => {
      const histories = recordedHistories().filter((history) => history.name === name);
      const failures = await failuresOf(await alteredBundle(passage, replacement), histories);
      assert.match(String(failures.get(name)), /[Nn]ondeterminism/);
    });
  }
});
