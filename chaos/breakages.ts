// Falsifications of the evidence of a good run, as a broken service would cause them: the checker must name every one.
import { Client as TemporalClient, Connection } from '@temporalio/client';
import {
  appendLine,
  change,
  changeLines,
  firstPayment,
  forgetAtOperator,
  isSame,
  linesOf,
  rowOf,
  sendAgain,
  PAID_COLLECTION,
  type Breakage,
  type BreakagesByRule,
  type Copy,
} from './break-evidence.ts';
import type { Evidence, ProcessEnd } from './checker/evidence.ts';
import type { RuleName } from './checker/violation.ts';
import { EVENT_BREAKAGES } from './event-breakages.ts';

const PAID_PAYOUT = firstPayment(`kind = 'payout' AND state = 'succeeded'`);
const FAILED_COLLECTION = firstPayment(`kind = 'collection' AND state = 'failed'`);
const EXPIRED_COLLECTION = firstPayment(`kind = 'collection' AND state = 'expired'`);
const REFUSED_PAYOUT = firstPayment(`kind = 'payout' AND state = 'failed'`);
const UNDECIDED_PAYOUT = firstPayment(`kind = 'payout' AND state = 'reconciling'`);
const AVAILABLE_ACCOUNT = `SELECT id FROM ledger_accounts WHERE kind = 'available' ORDER BY id LIMIT 1`;
const RAISE_BALANCE = 'UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE id = $1';
const NEVER_SENT = `UPDATE payments SET failure_code = 'service_unavailable', send_begun_at = NULL WHERE id = $1`;

const BREAKAGES_BY_RULE: BreakagesByRule = {
  sent_twice: {
    'a collection that was sent under a second reference': sendAgain,
    'a prompt that was raised twice under one reference': async (copy) => {
      const { id = '', reference } = await rowOf(copy, PAID_COLLECTION);
      changeLines(copy.evidence.operatorFile, (line) =>
        line['operatorReference'] === reference ? [{ ...line, promptsRaised: 2 }] : [line],
      );
      return id;
    },
  },
  transfers_wrong: {
    'an entry of the ledger that was changed': change(
      PAID_COLLECTION,
      `UPDATE ledger_transfers SET amount_minor = amount_minor + 1 WHERE payment_id = $1`,
    ),
  },
  balance_differs_from_entries: {
    'a balance that was changed': change(AVAILABLE_ACCOUNT, RAISE_BALANCE),
  },
  balance_differs_from_operator: {
    'money that was created by a transfer and its balance together': change(
      AVAILABLE_ACCOUNT,
      RAISE_BALANCE,
      `UPDATE ledger_transfers SET amount_minor = amount_minor + 1
       WHERE id = (SELECT min(t.id) FROM ledger_transfers t WHERE credit_account_id = $1 AND kind = 'collection_paid')`,
    ),
  },
  accepted_request_lost: {
    'an accepted request that was lost': change(PAID_COLLECTION, 'DELETE FROM payments WHERE id = $1'),
  },
  row_without_request: {
    'a payment that nobody requested': async (copy) => {
      const { id = '', key } = await rowOf(copy, PAID_COLLECTION);
      changeLines(copy.evidence.journalFile, (line) => (line['key'] === key ? [] : [line]));
      return id;
    },
  },
  replay_differs: {
    'a repeated request that got other bytes': (copy) => {
      const [first] = linesOf(copy.evidence.journalFile).filter(
        ({ type, status }) => type === 'result' && status === 202,
      );
      const request = linesOf(copy.evidence.journalFile).find((line) => line['number'] === first?.['number']);
      changeLines(copy.evidence.journalFile, (line) =>
        line === first || isSame(line, first) ? [line, { ...line, body: `${String(line['body'])} ` }] : [line],
      );
      return Promise.resolve(String(request?.['key']));
    },
  },
  state_contradicts_operator: {
    'a state that contradicts the operator': change(
      PAID_COLLECTION,
      `UPDATE payments SET state = 'expired', failure_code = 'unknown', operator_receipt = NULL,
           previous_state = 'prompted' WHERE id = $1`,
    ),
    'held money that was given back while the operator may still pay': change(
      UNDECIDED_PAYOUT,
      `UPDATE payments SET state = 'failed', failure_code = 'unknown', previous_state = 'reconciling' WHERE id = $1`,
    ),
  },
  reason_contradicts_operator: {
    'an expiry that says that nothing was sent': change(EXPIRED_COLLECTION, NEVER_SENT),
    'a payout that failed for a reason of the operator, which never saw it': forgetAtOperator(REFUSED_PAYOUT),
    'a refund that failed for a reason of the operator, which never saw it': forgetAtOperator(
      firstPayment(`kind = 'reversal' AND send_begun_at IS NOT NULL`),
      `UPDATE payments SET state = 'failed', failure_code = 'payer_not_found', status_attestation = '' WHERE id = $1`,
    ),
    'a collection that failed for another reason than the operator gave': change(
      FAILED_COLLECTION,
      `UPDATE payments SET failure_code = 'insufficient_funds' WHERE id = $1`,
    ),
  },
  sent_without_release: {
    'a payout that was sent without a release': change(PAID_PAYOUT, 'DELETE FROM approvals WHERE payment_id = $1'),
    'a payout above the limit of its merchant that one person released': change(
      `SELECT payment_id AS id FROM approvals WHERE payment_id LIKE 'pay%' GROUP BY 1 HAVING count(*) = 2 ORDER BY 1 LIMIT 1`,
      `DELETE FROM approvals WHERE payment_id = $1 AND user_id = (
         SELECT max(user_id) FROM approvals WHERE payment_id = $1)`,
      'UPDATE payments SET approvals_required = 1 WHERE id = $1',
    ),
    'a refund that was sent without a release': change(
      firstPayment(`kind = 'reversal' AND state = 'succeeded'`),
      'DELETE FROM approvals WHERE payment_id = $1',
    ),
  },
  audit_missing: {
    'a decision without its entry in the audit log': change(
      PAID_PAYOUT,
      'DELETE FROM audit_entries WHERE subject_id = $1',
    ),
  },
  process_ended: {
    'a server that ended by itself': ({ evidence }) =>
      endProcess(evidence, { pid: 4242, reason: 'ended with code 1', wasReady: true }),
    'a server that ended by a signal of its own': ({ evidence }) =>
      endProcess(evidence, { pid: 4242, reason: 'was ended by SIGSEGV', wasReady: true }),
    'a server that somebody else killed while it started': ({ evidence }) => {
      const killed = { type: 'signal', pid: 4141, signal: 'SIGKILL', atMs: Date.now() };
      appendLine(evidence.faultFile, killed);
      const reason = 'it was ended by SIGKILL before it was ready. The end of server.log:\n';
      return endProcess(evidence, { pid: 4242, reason, wasReady: false });
    },
  },
  decision_ignored: {
    'an approved payout that is not released': approveQueued,
    'an approved payout that expired': async (copy) => {
      const id = await approveQueued(copy);
      const expire = `UPDATE payments SET state = 'expired', previous_state = 'queued', version = 1 WHERE id = $1`;
      await copy.db.query(expire, [id]);
      return id;
    },
  },
  never_sent: {
    'a collection that was never sent while nothing was broken': forgetAtOperator(EXPIRED_COLLECTION, NEVER_SENT),
    'a payout that never reached the operator while nothing was broken': forgetAtOperator(
      REFUSED_PAYOUT,
      `UPDATE payments SET failure_code = 'operator_unavailable' WHERE id = $1`,
    ),
  },
  // The last one, because it ends the workflows of the others too.
  payment_stuck: {
    'a payment that is stuck, its workflow gone and no work left to do': async (copy) => {
      const id = await change(UNDECIDED_PAYOUT, 'DELETE FROM work WHERE id = $1')(copy);
      const { temporalAddress: address, namespace } = copy.evidence;
      const connection = await Connection.connect({ address });
      const { workflow } = new TemporalClient({ connection, namespace });
      for await (const { workflowId } of workflow.list({
        query: `ExecutionStatus = 'Running' AND MalipoResourceId = '${id}'`,
      })) {
        await workflow.getHandle(workflowId).terminate('a breakage for the checker');
      }
      await connection.close();
      return id;
    },
  },
};

export const BREAKAGES: readonly Breakage[] = [EVENT_BREAKAGES, BREAKAGES_BY_RULE].flatMap((breakages) =>
  Object.entries(breakages).flatMap(([rule, applies]) =>
    Object.entries(applies).map(([name, apply]) => ({ name, rule: rule as RuleName, apply })),
  ),
);

function endProcess({ processFile }: Evidence, end: Omit<ProcessEnd, 'name' | 'atMs'>): Promise<string> {
  appendLine(processFile, { name: 'server 0', atMs: Date.now(), ...end });
  return Promise.resolve('server 0');
}

/** The queued payout, with an approval by an approver of its merchant. */
async function approveQueued(copy: Copy): Promise<string> {
  const { id = '' } = await rowOf(copy, firstPayment(`kind = 'payout' AND state = 'queued'`));
  await rowOf(
    copy,
    `INSERT INTO approvals (payment_id, user_id, merchant_id, approved_at, attestation)
     SELECT p.id, m.user_id, p.merchant_id, now(), repeat('a', 43) FROM payments p JOIN members m USING (merchant_id)
     WHERE p.id = $1 AND 'approver' = ANY (m.roles) ORDER BY m.user_id LIMIT 1 RETURNING payment_id`,
    [id],
  );
  return id;
}
