// Which faults explain to the checker of campaigns that a payment was never sent.
import assert from 'node:assert/strict';
import type { RecordedFault } from '../../chaos/checker/evidence.ts';
import { CATCH_UP_MS, isExplained } from '../../chaos/checker/send-rules.ts';

const SEND = { fromMs: 1_000_000, untilMs: 1_008_000 } as const;

function fault(changes: Partial<RecordedFault>): RecordedFault {
  return { kind: 'server_stopped', hits: 'server', begunAtMs: 1_002_000, healedAtMs: 1_004_000, ...changes };
}

const CASES: readonly (readonly [title: string, faults: readonly RecordedFault[], isExplained: boolean])[] = [
  ['is not explained while nothing is broken', [], false],
  ['is explained by a fault in the time in which it might be sent', [fault({})], true],
  ['is explained by a fault that lasts', [fault({ begunAtMs: 0, healedAtMs: null })], true],
  ['is not explained by a fault that began after its time', [fault({ begunAtMs: 1_008_001 })], false],
  [
    'is explained by a fault that ended so shortly before that the service still caught up',
    [fault({ begunAtMs: 0, healedAtMs: SEND.fromMs - CATCH_UP_MS })],
    true,
  ],
  [
    'is not explained by a fault that ended long before',
    [fault({ begunAtMs: 0, healedAtMs: SEND.fromMs - CATCH_UP_MS - 1 })],
    false,
  ],
  ['is not explained by a receiver of webhooks that was down', [fault({ hits: 'receiver' })], false],
  [
    'is explained by one fault of several',
    [fault({ hits: 'receiver' }), fault({ hits: 'postgres' }), fault({ begunAtMs: 2_000_000 })],
    true,
  ],
];

describe('a payment of a campaign that was never sent', () => {
  for (const [title, faults, expected] of CASES) {
    it(title, () => {
      assert.equal(isExplained(SEND, faults), expected);
    });
  }
});
