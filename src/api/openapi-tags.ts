// The groups of operations in the OpenAPI document, in the order in which a reader meets them.

export const TAGS = {
  Collections: 'Money from a payer’s phone: the payer approves a prompt with a PIN.',
  Payouts: 'Money to a phone, after a second person releases it.',
  Balance: 'The available and the held amount.',
  Webhooks: 'The requests that your receiver gets.',
  'Console session': 'Log-in, second factors and your own sessions.',
  'Console overview': 'The home page of the console, totals by day, and live updates.',
  'Console collections': 'Collections as people see them.',
  'Console payouts': 'Payouts as people see them: release, rejection and cancellation, and the check of a file.',
  'Console reversals': 'The return of a collection to its payer, released by a second person.',
  'Console checkouts': 'Pages where a payer pays. The merchant needs no server.',
  'Console ledger': 'Every change of the balance.',
  'Console exports': 'Lists as CSV.',
  'Console operators': 'The operators of this deployment, with their markets.',
  'Console search': 'Find objects by an id, a reference or a phone number.',
  'Console webhooks': 'Endpoints, events, deliveries and replays.',
  'Console keys': 'API keys.',
  'Console request log': 'The latest requests of keys.',
  'Console members': 'People, their roles and invitations.',
  'Console policy': 'The rules for approvals. A change takes two people.',
  'Console audit': 'Acts and refusals, each with who did it.',
  Operators: 'Callbacks of mobile-money operators.',
  Service: 'Whether the service is up, and this document.',
} as const;

export type Tag = keyof typeof TAGS;
