// Wrong evidence about the send of a payout or refund, and wrong causes of its failure, each with the rule that refuses it.
import { ruleCase, update, type RuleCase, type RuleFixture } from '../rule-cases.ts';

type Sent = {
  readonly noun: string;
  readonly idOf: (fixture: RuleFixture) => string;
};

/** The assignments that fail it. */
const FAILS = "state = 'failed', previous_state = state, version = version + 1";
const SENT_BEFORE = "send_begun_at = send_deadline_at - interval '1 s'";
const FIRST = 'not_found_count = 1, not_found_since = send_deadline_at, not_found_last_at = send_deadline_at';
const SECOND = "not_found_count = 2, not_found_last_at = send_deadline_at + interval '1 s'";
const BY_EVIDENCE = "failed_by = 'never_accepted', failure_code = 'operator_unavailable'";
const ALREADY_RETURNED = `${FAILS}, failed_by = 'never_sent', failure_code = 'already_returned'`;
const NOT_COUNTED = /what counts against .* is one later status of a payment that was sent and never accepted/;
const REPEATED = /a send of .* is repeated after it began, while it may be sent and before its deadline/;
const NO_CAUSE = /cannot fail with .* by .*: the row does not say so/;

function casesOf({ noun, idOf }: Sent): RuleCase[] {
  const refuses = (what: string, by: string | RegExp, ...assignments: readonly string[]): RuleCase =>
    ruleCase(`${what} of a ${noun}`, by, (fixture) =>
      assignments.map((assignment) => update('payments', idOf(fixture), assignment)),
    );
  return [
    refuses('a not-found that counts before anything was sent', NOT_COUNTED, FIRST),
    refuses(
      'a not-found that counts after the operator accepted',
      NOT_COUNTED,
      `${SENT_BEFORE}, accepted_at = now()`,
      FIRST,
    ),
    refuses(
      'two not-founds at once',
      NOT_COUNTED,
      SENT_BEFORE,
      `${FIRST}, not_found_count = 2`.replace('not_found_count = 1, ', ''),
    ),
    refuses('a second not-found at the time of the first', NOT_COUNTED, SENT_BEFORE, FIRST, 'not_found_count = 2'),
    refuses(
      'a not-found before the send deadline',
      NOT_COUNTED,
      SENT_BEFORE,
      FIRST.replaceAll('= send_deadline_at', "= send_deadline_at - interval '1 s'"),
    ),
    refuses('a count that is set back', NOT_COUNTED, SENT_BEFORE, FIRST, SECOND, 'not_found_count = 1'),
    refuses(
      'a count that begins again as of an older status',
      NOT_COUNTED,
      SENT_BEFORE,
      FIRST,
      "not_found_count = 0, not_found_since = NULL, not_found_last_at = send_deadline_at - interval '1 s'",
    ),
    refuses(
      'a not-found count without its first time',
      NOT_COUNTED,
      'not_found_last_at = now()',
      'not_found_count = 0, not_found_since = now(), not_found_last_at = now()',
    ),
    refuses('a further try to send before the first', REPEATED, 'send_repeated_at = now()'),
    refuses('a further try to send at its deadline', REPEATED, SENT_BEFORE, 'send_repeated_at = send_deadline_at'),
    refuses(
      'to forget a further try to send',
      REPEATED,
      SENT_BEFORE,
      "send_repeated_at = send_deadline_at - interval '1 s'",
      'send_repeated_at = NULL',
    ),
    refuses('a failure without a cause', NO_CAUSE, `${FAILS}, failure_code = 'operator_rejected'`),
    refuses('a failure by an unknown cause', NO_CAUSE, `${FAILS}, failure_code = 'unknown', failed_by = 'guess'`),
    refuses(
      'a cause without a failure',
      'payments_failed_by',
      `${FAILS.replace('failed', 'reconciling')}, failed_by = 'declined'`,
    ),
    refuses(
      'a refusal that says it was never sent',
      NO_CAUSE,
      `${FAILS}, failure_code = 'service_unavailable', failed_by = 'declined'`,
    ),
    refuses(
      'a failure as never sent with another code',
      NO_CAUSE,
      `${FAILS}, failure_code = 'unknown', failed_by = 'never_sent'`,
    ),
    // The failure of a refund needs an attestation first.
    ...(noun === 'payout'
      ? [
          refuses(
            'a failure as never sent, for the outage of the operator, of what somebody tried to send',
            'payments_never_sent',
            SENT_BEFORE,
            `${FAILS}, failure_code = 'operator_unavailable', failed_by = 'never_sent'`,
          ),
        ]
      : []),
    refuses('a failure as never accepted without evidence', NO_CAUSE, SENT_BEFORE, `${FAILS}, ${BY_EVIDENCE}`),
    refuses('a failure as never accepted by one not-found', NO_CAUSE, SENT_BEFORE, FIRST, `${FAILS}, ${BY_EVIDENCE}`),
    refuses(
      'a failure as never accepted of what the operator accepted',
      NO_CAUSE,
      SENT_BEFORE,
      FIRST,
      SECOND,
      'accepted_at = now()',
      `${FAILS}, ${BY_EVIDENCE}`,
    ),
  ];
}

export const SEND_RULE_CASES: readonly RuleCase[] = [
  ...casesOf({ noun: 'payout', idOf: ({ payouts }) => payouts.released }),
  ...casesOf({ noun: 'refund', idOf: ({ reversals }) => reversals.released }),
  ruleCase('a further prompt before the first', REPEATED, ({ collections }) => [
    update('payments', collections.initiated, 'send_repeated_at = now()'),
  ]),
  ruleCase('another send deadline of a payout that was released', /is set by its release/, ({ payouts }) => [
    update(
      'payments',
      payouts.released,
      "state = 'reconciling', previous_state = state, version = version + 1, send_deadline_at = now()",
    ),
  ]),
  ruleCase('to change what a payout failed by', /can change only together with its state/, ({ payouts }) => [
    update('payments', payouts.failed, "failed_by = 'never_sent'"),
  ]),
  ruleCase('to change what a refund failed by', /can change only together with its state/, ({ reversals }) => [
    update('payments', reversals.failed, "failed_by = 'never_sent'"),
  ]),
  ruleCase('a refund that fails as returned while its collection is not', /is still needed/, ({ reversals }) => [
    update('payments', reversals.released, ALREADY_RETURNED),
  ]),
  ruleCase(
    'a refund that was sent and fails as returned',
    'payments_already_returned',
    ({ collections, reversals }) => [
      update('payments', reversals.released, SENT_BEFORE),
      update(
        'payments',
        collections.succeeded,
        "state = 'reversed', previous_state = state, version = version + 1, amount_reversed_minor = amount_minor",
      ),
      update('payments', reversals.released, ALREADY_RETURNED),
    ],
  ),
  ruleCase('a collection that fails as returned', 'payments_already_returned', ({ collections }) => [
    update(
      'payments',
      collections.prompted,
      "state = 'failed', failure_code = 'already_returned', previous_state = state, version = version + 1",
    ),
  ]),
  ruleCase('a payout that fails as returned', 'payments_already_returned', ({ payouts }) => [
    update('payments', payouts.released, ALREADY_RETURNED),
  ]),
  ruleCase('to clear accepted_at of a refund', /accepted_at of .* cannot be cleared/, ({ reversals }) => [
    update('payments', reversals.released, 'accepted_at = now()'),
    update('payments', reversals.released, 'accepted_at = NULL'),
  ]),
];
