// Asks operators in recovery about payments that a restored database may know less of than they do.
import type { Database } from '../src/db/platform/database.ts';
import { listOpenRestores } from '../src/db/platform/fence.ts';
import { listDoubtful } from '../src/db/payments/restore-finding.ts';
import { capabilitiesOf, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import {
  questionsAbout,
  type DoubtfulPayment,
  type Finding,
  type Question,
} from '../src/domain/payments/restore-finding.ts';
import type { Log } from '../src/log.ts';
import { recordFinding } from '../src/operations/payments/record-finding.ts';
import type { Operator, StatusOutcome } from '../src/operators/port.ts';
import { LONGEST_GRANT_WAIT_MS, type OperatorCalls } from './operator-calls.ts';

export type RestoreQuestionDeps = {
  readonly db: Database;
  readonly operators: Readonly<Record<OperatorId, Operator>>;
  readonly calls: Pick<OperatorCalls, 'permit'>;
  readonly log: Log;
};

const PAGE = 100;
const AT_ONCE = 10;

/** Each payment in turn; nothing while the service is not in recovery. What got no answer is asked again by the next call. */
export async function askAfterRestore(deps: RestoreQuestionDeps, isStopped: () => boolean): Promise<void> {
  const [latest] = await listOpenRestores(deps.db);
  if (latest === undefined) return;
  for (let after = ''; ;) {
    const payments = await listDoubtful(deps.db, latest.id, after, PAGE);
    for (let first = 0; first < payments.length && !isStopped(); first += AT_ONCE) {
      await Promise.all(payments.slice(first, first + AT_ONCE).map((payment) => askAbout(payment, latest.id, deps)));
    }
    if (isStopped()) return;
    const last = payments.at(-1);
    if (last === undefined || payments.length < PAGE) return;
    after = last.id;
  }
}

async function askAbout(payment: DoubtfulPayment, restoreId: string, deps: RestoreQuestionDeps): Promise<void> {
  for (const question of questionsAbout(payment)) await askOne(payment, question, restoreId, deps);
}

async function askOne(
  payment: DoubtfulPayment,
  question: Question,
  restoreId: string,
  { db, operators, calls, log }: RestoreQuestionDeps,
): Promise<void> {
  const { kind, operator, id } = payment;
  const record = (said: Finding) =>
    recordFinding(db, { ...question, paymentId: id, restoreId, said, askedAt: new Date() });
  // Its answer would come to an address of a recorded query of a payment that was sent.
  if (capabilitiesOf(payment).status !== 'sync') return record('unanswerable');
  const permit = await calls.permit(operator, { kind, use: 'callback_query', waitMs: LONGEST_GRANT_WAIT_MS });
  if (permit.kind !== 'granted') return;
  try {
    const sent = { ...UNRECORDED, operatorReference: question.operatorReference };
    const asked = operators[operator];
    const outcome = await (payment.collectionReference === null
      ? asked.getPayoutStatus(sent)
      : asked.getRefundStatus({ ...sent, originalOperatorReference: payment.collectionReference }));
    await permit.answered(outcome);
    const said = findingOf(outcome);
    if (said === null) return;
    if (said !== 'not_found')
      log.warn({ id, operator, status: said }, 'the operator has a payment of a restored database');
    await record(said);
  } finally {
    await permit.end();
  }
}

/** The row may not say that the payment was sent. */
const UNRECORDED = { issuedId: null, namedId: null, sentAt: null, queryId: null } as const;

/** Null: the operator gave no usable answer. */
function findingOf(outcome: StatusOutcome): Finding | null {
  switch (outcome.kind) {
    case 'pending':
    case 'unreadable':
      return 'open';
    case 'succeeded':
    case 'paid_unreadable':
      return 'paid';
    case 'returned':
    case 'failed':
    case 'not_found':
      return outcome.kind;
    case 'asked':
      return 'unanswerable';
    case 'unknown':
      return null;
  }
}
