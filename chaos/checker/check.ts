// Judges a campaign by its evidence. Shares no code with the service, so that no mistake can hide in both.
import { auditRules } from './audit-rules.ts';
import { eventRules } from './event-rules.ts';
import {
  readInterference,
  readOperator,
  readProcessEnds,
  readReceived,
  readRequests,
  type Evidence,
} from './evidence.ts';
import { ledgerRules } from './ledger-rules.ts';
import { readOpenWorkflows } from './open-workflows.ts';
import { operatorRules } from './operator-rules.ts';
import { progressRules } from './progress-rules.ts';
import { reasonRules } from './reason-rules.ts';
import { readRecords } from './records.ts';
import { requestRules } from './request-rules.ts';
import { sendRules } from './send-rules.ts';
import type { Case, Rules, Violation } from './violation.ts';
import { byOurReferences } from './wires.ts';

const ALL_RULES: readonly Rules[] = [
  requestRules,
  operatorRules,
  reasonRules,
  sendRules,
  ledgerRules,
  eventRules,
  progressRules,
  auditRules,
];

export type Judgement = { readonly evidence: Case; readonly violations: readonly Violation[] };

/**
 * Reads all evidence and applies every rule. The service may run meanwhile: violations by work in progress disappear at
 * the next check. Rejects if a part of the evidence cannot be read.
 */
export async function check(evidence: Evidence): Promise<Judgement> {
  // The database last: everything in the other evidence was recorded before, or is about to be.
  const workflows = await readOpenWorkflows(evidence.temporalAddress, evidence.namespace);
  const operator = readOperator(evidence);
  const other = {
    workflows,
    requests: readRequests(evidence),
    received: readReceived(evidence),
    endpoints: evidence.endpoints,
    processEnds: readProcessEnds(evidence),
    interference: readInterference(evidence),
  };
  const records = await readRecords(evidence.databaseUrl);
  const read: Case = { ...other, records, operator: byOurReferences(operator, records) };
  return { evidence: read, violations: ALL_RULES.flatMap((rules) => rules(read)) };
}
