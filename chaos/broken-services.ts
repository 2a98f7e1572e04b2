// Servers with one replaced line of code: each breaks one promise of the service, and the checker must name it.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../src/project-root.ts';
import type { RuleName } from './checker/violation.ts';

export type BrokenService = {
  /** Completes "a service that …". */
  readonly name: string;
  readonly rule: RuleName;
  /** Below dist/, as the build wrote it. */
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
};

export const BROKEN_SERVICES: readonly BrokenService[] = [
  {
    name: 'draws a new reference at every send',
    rule: 'operator_payment_unknown',
    file: 'src/operators/mtn-momo/requests.js',
    from: 'externalId: operatorReference',
    to: 'externalId: globalThis.crypto.randomUUID()',
  },
  {
    name: 'requests one shilling more than it was asked for',
    rule: 'operator_payment_differs',
    file: 'src/operators/mtn-momo/requests.js',
    from: 'toDecimalString(money)',
    to: 'toDecimalString({ ...money, amountMinor: money.amountMinor + 1n })',
  },
  {
    name: 'takes a refusal of the operator for a payment',
    rule: 'state_contradicts_operator',
    file: 'src/operators/mtn-momo/statuses.js',
    from: 'switch (status.status) {',
    to: `switch (status.status === 'FAILED' ? 'SUCCESSFUL' : status.status) {`,
  },
  {
    name: 'accepts a collection and does not record it',
    rule: 'accepted_request_lost',
    file: 'src/operations/payments/create-collection.js',
    from: 'await insertCollection(tx, collection);',
    to: '',
  },
  {
    name: 'changes the response that it repeats',
    rule: 'replay_differs',
    file: 'src/db/payments/idempotency-key.js',
    from: 'return response;',
    to: 'return { ...response, body: `${response.body} ` };',
  },
  {
    name: 'records deliveries as delivered without sending them',
    rule: 'webhook_not_received',
    file: 'src/webhooks/sender.js',
    from: 'const result = await attempt(webhook, attemptNumber, startedAt);',
    to: `const result = { kind: 'answered', statusCode: 200, headers: {}, body: Buffer.alloc(0) };`,
  },
  {
    name: 'signs other bytes than it sends',
    rule: 'webhook_wrong',
    file: 'src/webhooks/sender.js',
    from: 'signatureHeader(body, secrets',
    to: `signatureHeader(Buffer.from('other'), secrets`,
  },
  {
    name: 'leaves the acts of people out of the audit log',
    rule: 'audit_missing',
    file: 'src/db/accounts/audit.js',
    from: `await insertAuditEntry(tx, { ...act, ...actorOf(by), outcome: 'done' });`,
    to: '',
  },
  {
    name: 'records approvals and releases nothing',
    rule: 'decision_ignored',
    file: 'src/operations/payments/release-payment.js',
    from: 'const isReleased = (await countApprovals(tx, approved, count, context)) >= approved.approvalsRequired;',
    to: 'const isReleased = false;',
  },
  {
    name: 'accepts everything and sends nothing',
    rule: 'never_sent',
    file: 'activities/send.js',
    from: 'return { payment, isFirstTry, begunAt };',
    to: 'return null;',
  },
  {
    name: 'takes a payout for refused without asking the operator',
    rule: 'reason_contradicts_operator',
    file: 'src/operators/mtn-momo/mtn-momo.js',
    from: `return readSendResponse(await call(disbursement, transfer(request, callbackUrl)), 'payout');`,
    to: `return { kind: 'refused', code: 'payer_not_found', operatorCode: 'PAYEE_NOT_FOUND' };`,
  },
  {
    name: 'never says that an outcome came late',
    rule: 'event_wrong',
    file: 'src/domain/event.js',
    from: '...(isLateOutcome(payment) && { late: true }),',
    to: '',
  },
];

/**
 * Copies the built service to a new folder and replaces the line there. Throws if the line does not occur exactly once:
 * then the service was changed, and the replacement must follow.
 */
export function breakService({ file, from, to }: Pick<BrokenService, 'file' | 'from' | 'to'>, folder: string): void {
  const root = findProjectRoot();
  mkdirSync(folder);
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'dist', file);
  const code = readFileSync(path, 'utf8');
  const parts = code.split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`);
  writeFileSync(path, parts.join(to));
}
