// What messages of operators prove together: a table of cases, and properties over arbitrary ones.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  messageEvidence,
  type AskedQuery,
  type SolicitedMessage,
} from '../../../src/domain/payments/message-evidence.ts';
import type { OperatorStatus } from '../../../src/domain/payments/operator-status.ts';
import type { PayoutState } from '../../../src/domain/payments/payout.ts';

const PAID: OperatorStatus = { kind: 'paid', operatorReceipt: 'SFC1' };
const OTHER_RECEIPT: OperatorStatus = { kind: 'paid', operatorReceipt: 'SFC2' };
const DECLINED: OperatorStatus = { kind: 'declined', failureCode: 'payer_not_found' };
const RETURNED: OperatorStatus = { kind: 'returned', operatorReceipt: 'SFC1' };
const PENDING: OperatorStatus = { kind: 'pending' };
const UNREADABLE: OperatorStatus = { kind: 'unreadable' };
const UNKNOWN: OperatorStatus = { kind: 'unknown' };

/** At the address of the payment, or of the query that is named. */
type Came = readonly [status: OperatorStatus, queryId?: string];
/** Each query with how many messages had come when it began. */
type Asked = Readonly<Record<string, number>>;

const atMs = (id: number) => new Date(1000 * id);
const messagesOf = (came: readonly Came[]): SolicitedMessage[] =>
  came.map(([status, queryId = null], index) => ({
    id: BigInt(index + 1),
    queryId,
    receivedAt: atMs(index + 1),
    status,
  }));
const queriesOf = (asked: Asked): AskedQuery[] =>
  Object.entries(asked).map(([id, seen]) => ({ id, askedAt: atMs(seen + 0.5), seenMessageId: BigInt(seen) }));

type Case = readonly [
  what: string,
  state: PayoutState,
  came: readonly Came[],
  asked: Asked,
  found: OperatorStatus['kind'] | null,
  isUnconfirmed: boolean,
];

const CASES: readonly Case[] = [
  ['nothing, of nothing', 'released', [], {}, null, false],
  ['a payment, by one message', 'released', [[PAID]], {}, 'paid', false],
  ['a payment, by one answer to a query', 'reconciling', [[PAID, 'q']], { q: 0 }, 'paid', false],
  ['a payment, although an earlier message denied it', 'released', [[DECLINED], [PAID, 'q']], { q: 1 }, 'paid', false],
  ['that the operator has it, by one refusal', 'released', [[DECLINED]], {}, 'pending', true],
  [
    'a refusal, by the answer to a query that began after it',
    'released',
    [[DECLINED], [DECLINED, 'q']],
    { q: 1 },
    'declined',
    false,
  ],
  [
    'no refusal, by the answer to a query that began before it',
    'released',
    [[DECLINED], [DECLINED, 'q']],
    { q: 0 },
    'pending',
    true,
  ],
  [
    'no refusal, by the same message again and again',
    'released',
    [[DECLINED], [DECLINED], [DECLINED]],
    {},
    'pending',
    true,
  ],
  [
    'no refusal, by two answers to one query',
    'released',
    [
      [DECLINED, 'q'],
      [DECLINED, 'q'],
    ],
    { q: 0 },
    'pending',
    true,
  ],
  ['no refusal, by one answer alone', 'released', [[DECLINED, 'q']], { q: 0 }, 'pending', true],
  [
    'a refusal, by answers to two queries, one after the other',
    'reconciling',
    [
      [DECLINED, 'q'],
      [DECLINED, 'r'],
    ],
    { q: 0, r: 1 },
    'declined',
    false,
  ],
  [
    'no refusal, by answers to two queries that began together',
    'released',
    [
      [DECLINED, 'q'],
      [DECLINED, 'r'],
    ],
    { q: 0, r: 0 },
    'pending',
    true,
  ],
  ['nothing, by the answer to a query that nobody made', 'released', [[PAID, 'forged']], {}, null, false],
  [
    'no refusal, where the second answer is to a query that nobody made',
    'released',
    [[DECLINED], [DECLINED, 'forged']],
    {},
    'pending',
    true,
  ],
  [
    'no refusal, where the answer says nothing',
    'released',
    [[DECLINED], [UNREADABLE, 'q']],
    { q: 1 },
    'pending',
    false,
  ],
  ['that the operator has it, by what cannot be read', 'released', [[UNREADABLE]], {}, 'pending', false],
  [
    'that the operator has it, by a status that is still open',
    'released',
    [[PENDING, 'q']],
    { q: 0 },
    'pending',
    false,
  ],
  ['nothing, by the news that it was not processed in time', 'released', [[UNKNOWN]], {}, null, false],
  ['a return that two say', 'succeeded', [[PAID], [RETURNED], [RETURNED, 'q']], { q: 2 }, 'returned', false],
  ['no return that one says', 'succeeded', [[PAID], [RETURNED]], {}, null, true],
  ['nothing new, of a payment that is recorded', 'succeeded', [[PAID], [PAID, 'q']], { q: 1 }, null, false],
  ['no contradiction of a failure by one message', 'failed', [[PAID]], {}, null, true],
  ['a contradiction of a failure by two', 'failed', [[PAID], [PAID, 'q']], { q: 1 }, 'paid', false],
  ['no contradiction by two that name other receipts', 'failed', [[PAID], [OTHER_RECEIPT, 'q']], { q: 1 }, null, true],
  [
    'nothing new, by another refusal of what failed',
    'failed',
    [[DECLINED], [DECLINED, 'q'], [DECLINED, 'r']],
    { q: 1, r: 2 },
    null,
    false,
  ],
];

const STATUSES = [PAID, OTHER_RECEIPT, DECLINED, RETURNED, PENDING, UNREADABLE, UNKNOWN] as const;
const anyCame = fc.array(
  fc.tuple(fc.constantFrom(...STATUSES), fc.constantFrom(undefined, 'q', 'r', 'forged')) as fc.Arbitrary<Came>,
  { maxLength: 8 },
);
const anyAsked = fc.record({ q: fc.nat(8), r: fc.nat(8) }, { requiredKeys: [] }) as fc.Arbitrary<Asked>;

describe('messages about a payment', () => {
  for (const [what, state, came, asked, found, isUnconfirmed] of CASES) {
    it(`prove ${what}`, () => {
      const evidence = messageEvidence(messagesOf(came), queriesOf(asked), state);
      assert.deepEqual([evidence.queried?.status.kind ?? null, evidence.isUnconfirmed], [found, isUnconfirmed]);
    });
  }

  it('prove it as of the time of the query that they answer, and otherwise of when they came', () => {
    const { queried } = messageEvidence(messagesOf([[DECLINED], [DECLINED, 'q']]), queriesOf({ q: 1 }), 'released');
    assert.equal(queried?.queriedAtMs, atMs(1.5).getTime());
    assert.equal(messageEvidence(messagesOf([[PAID]]), [], 'released').queried?.queriedAtMs, atMs(1).getTime());
  });

  it('prove a failure with the code of the result, where the status that confirms it names another', () => {
    const confirming: OperatorStatus = { kind: 'declined', failureCode: 'operator_rejected' };
    const came: readonly Came[] = [[DECLINED], [confirming, 'q']];
    const { queried } = messageEvidence(messagesOf(came), queriesOf({ q: 1 }), 'released');
    assert.deepEqual(queried, { status: DECLINED, queriedAtMs: atMs(1.5).getTime() });
  });

  it('never give money to a merchant unless two agree, of which the second answers a query that began after the first', () => {
    fc.assert(
      fc.property(
        anyCame,
        anyAsked,
        fc.constantFrom('released', 'reconciling', 'succeeded', 'failed'),
        (came, asked, state) => {
          const { queried } = messageEvidence(messagesOf(came), queriesOf(asked), state);
          if (queried === null || queried.status.kind === 'pending') return;
          if (queried.status.kind === 'paid' && (state === 'released' || state === 'reconciling')) return;
          const { kind } = queried.status;
          const isProven = came.some(([second, queryId], at) => {
            const seen = queryId === undefined ? undefined : asked[queryId];
            const isFirst = !came.slice(0, at).some(([, other]) => other === queryId);
            return (
              seen !== undefined &&
              isFirst &&
              second.kind === kind &&
              came.slice(0, Math.min(seen, at)).some(([first]) => first.kind === kind)
            );
          });
          assert.ok(isProven, `${kind} of what is ${state}`);
        },
      ),
    );
  });

  it('prove no less when another one comes that says nothing', () => {
    fc.assert(
      fc.property(anyCame, anyAsked, (came, asked) => {
        const evidence = (all: readonly Came[]) => messageEvidence(messagesOf(all), queriesOf(asked), 'released');
        assert.deepEqual(evidence([...came, [UNKNOWN]]), evidence(came));
      }),
    );
  });
});
