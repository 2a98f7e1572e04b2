// Evidence of a campaign in which nothing happened.
import type { Case } from '../../chaos/checker/violation.ts';

export const EMPTY_CASE: Case = {
  records: {
    collections: [],
    payouts: [],
    reversals: [],
    approvals: [],
    transfers: [],
    balances: [],
    events: [],
    deliveries: [],
    audit: [],
    policies: [],
    discrepancies: [],
  },
  requests: [],
  operator: new Map(),
  received: [],
  workflows: [],
  endpoints: [],
  processEnds: [],
  interference: { faults: [], signals: [] },
};
