// Statements that change, or leave out, the attestation of a requested payout or refund.
import { insert, ruleCase, update, type RuleCase } from '../rule-cases.ts';

const UNATTESTED = /the request of .* has an attestation, which changes with the approvals that it needs alone/;
const OTHER = `request_attestation = '${'b'.repeat(43)}'`;

const TABLES = [
  ['payout', 'payouts'],
  ['refund', 'reversals'],
] as const;

export const REQUEST_RULE_CASES: readonly RuleCase[] = TABLES.flatMap(([noun, table]) => [
  ruleCase(`a ${noun} without an attestation of its request`, UNATTESTED, (fixture) => [
    insert(fixture, table, { request_attestation: null }),
  ]),
  ruleCase(`to attest the request of a queued ${noun} again`, UNATTESTED, (fixture) => [
    update('payments', fixture[table].queued, OTHER),
  ]),
  ruleCase(`to take the attestation of a queued ${noun} away`, UNATTESTED, (fixture) => [
    update(
      'payments',
      fixture[table].queued,
      'request_attestation = NULL, approvals_required = approvals_required + 1',
    ),
  ]),
  ruleCase(`to attest the request of a released ${noun} again`, UNATTESTED, (fixture) => [
    update('payments', fixture[table].released, `${OTHER}, approvals_required = approvals_required + 1`),
  ]),
]);
