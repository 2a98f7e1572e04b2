// Who may call which operation, written out again from the contract: the tests compare document and server with it.
import type { Scope } from '../../src/domain/accounts/api-key.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/accounts/member.ts';

const ANY: readonly Role[] = ['owner', 'admin', 'developer', 'maker', 'approver', 'viewer'];
const PEOPLE: readonly Role[] = ['owner', 'admin'];
const KEYS: readonly Role[] = ['owner', 'admin', 'developer'];
const RELEASES: readonly Role[] = ['owner', 'approver'];

/** Section 10 of the contract: the routes behind a session and the roles that may call each. */
export const CONSOLE_ROLES: Readonly<Record<string, readonly Role[]>> = {
  getSession: ANY,
  logOut: ANY,
  stepUp: ANY,
  switchMerchant: ANY,
  changePassword: ANY,
  startSecondFactor: ANY,
  confirmSecondFactor: ANY,
  removeSecondFactor: ANY,
  createRecoveryCodes: ANY,
  getPasskeys: ANY,
  startPasskey: ANY,
  registerPasskey: ANY,
  namePasskey: ANY,
  removePasskey: ANY,
  startPasskeyStepUp: ANY,
  listSessions: ANY,
  endSession: ANY,
  endOtherSessions: ANY,
  endMemberSessions: PEOPLE,
  listApiKeys: ANY,
  createApiKey: KEYS,
  rollApiKey: KEYS,
  revokeApiKey: KEYS,
  listMembers: ANY,
  changeMember: PEOPLE,
  removeMember: PEOPLE,
  approveMemberChange: PEOPLE,
  rejectMemberChange: PEOPLE,
  withdrawMemberChange: PEOPLE,
  listInvitations: ANY,
  createInvitation: PEOPLE,
  approveInvitation: PEOPLE,
  rejectInvitation: PEOPLE,
  withdrawInvitation: PEOPLE,
  listConsoleCollections: ANY,
  getConsoleCollectionCount: ANY,
  listConsolePayouts: ANY,
  getConsolePayoutCount: ANY,
  getConsoleCollection: ANY,
  getConsolePayout: ANY,
  checkPayouts: ['owner', 'maker'],
  releasePayout: RELEASES,
  releasePayouts: RELEASES,
  rejectPayout: RELEASES,
  // Open to the payout's maker, whatever their roles are now.
  cancelPayout: ANY,
  reverseCollection: ['owner', 'maker'],
  getLatestReversal: ANY,
  listReversals: ANY,
  getReversal: ANY,
  releaseReversal: RELEASES,
  rejectReversal: RELEASES,
  // Open to the refund's maker, whatever their roles are now.
  cancelReversal: ANY,
  createCheckout: ['owner', 'maker'],
  listCheckouts: ANY,
  getCheckout: ANY,
  cancelCheckout: ['owner', 'maker'],
  listLedgerEntries: ANY,
  getOverview: ANY,
  getTotals: ANY,
  getStream: ANY,
  getCollectionsCsv: ANY,
  getPayoutsCsv: ANY,
  getLedgerCsv: ANY,
  listEndpoints: ANY,
  getEndpoint: ANY,
  createEndpoint: KEYS,
  changeEndpoint: KEYS,
  deleteEndpoint: KEYS,
  rotateEndpointSecret: KEYS,
  testEndpoint: KEYS,
  listEvents: ANY,
  getEvent: ANY,
  listDeliveries: ANY,
  getDelivery: ANY,
  replayDelivery: KEYS,
  createReplay: KEYS,
  listReplays: ANY,
  getReplay: ANY,
  getPolicy: ANY,
  changePolicy: PEOPLE,
  approvePolicyChange: PEOPLE,
  rejectPolicyChange: PEOPLE,
  withdrawPolicyChange: PEOPLE,
  listAuditEntries: ANY,
  getOperators: ANY,
  getSearchHits: ANY,
  listApiRequests: KEYS,
  getApiRequest: KEYS,
};

/** The routes of the console that come before a session. */
export const BEFORE_A_SESSION: readonly string[] = ['logIn', 'startPasskeyLogIn', 'acceptInvitation', 'recoverAccount'];

/** The public routes, and the scope that a key needs for each. */
export const API_SCOPES: Readonly<Record<string, Scope>> = {
  createCollection: 'collections:write',
  listCollections: 'collections:read',
  getCollection: 'collections:read',
  createPayout: 'payouts:write',
  listPayouts: 'payouts:read',
  getPayout: 'payouts:read',
  getBalance: 'balance:read',
};

/** The roles whose sessions have a scope. */
export const SCOPE_ROLES: Readonly<Record<Scope, readonly Role[]>> = {
  'collections:read': ANY,
  'payouts:read': ANY,
  'balance:read': ANY,
  'collections:write': ['owner', 'maker'],
  'payouts:write': ['owner', 'maker'],
};

/** What anybody may call, because it shows nothing of a merchant. */
export const WITHOUT_AUTHENTICATION: readonly string[] = [
  'getHealth',
  'getReadiness',
  'getOpenApi',
  'postMtnMomoCallback',
  'putMtnMomoCallback',
];

/** The noun of the id in the path of an operation. */
export const PATH_IDS: Readonly<Record<string, keyof typeof NOT_FOUND>> = {
  getCollection: 'col',
  getPayout: 'pay',
  getConsoleCollection: 'col',
  getConsolePayout: 'pay',
  rollApiKey: 'key',
  revokeApiKey: 'key',
  changeMember: 'usr',
  removeMember: 'usr',
  endMemberSessions: 'usr',
  endSession: 'ses',
  namePasskey: 'psk',
  removePasskey: 'psk',
  approveMemberChange: 'mch',
  rejectMemberChange: 'mch',
  withdrawMemberChange: 'mch',
  approveInvitation: 'inv',
  rejectInvitation: 'inv',
  withdrawInvitation: 'inv',
  releasePayout: 'pay',
  rejectPayout: 'pay',
  cancelPayout: 'pay',
  reverseCollection: 'col',
  getLatestReversal: 'col',
  getReversal: 'rev',
  releaseReversal: 'rev',
  rejectReversal: 'rev',
  cancelReversal: 'rev',
  approvePolicyChange: 'pch',
  rejectPolicyChange: 'pch',
  withdrawPolicyChange: 'pch',
  getEndpoint: 'whe',
  changeEndpoint: 'whe',
  deleteEndpoint: 'whe',
  rotateEndpointSecret: 'whe',
  testEndpoint: 'whe',
  getEvent: 'evt',
  getDelivery: 'dlv',
  replayDelivery: 'dlv',
  getReplay: 'rpl',
  getApiRequest: 'req',
  getCheckout: 'chk',
  cancelCheckout: 'chk',
};

/** The error for an unknown id of this noun, and for another merchant's. */
export const NOT_FOUND = {
  col: 'collection_not_found',
  pay: 'payout_not_found',
  rev: 'reversal_not_found',
  key: 'api_key_not_found',
  usr: 'member_not_found',
  mch: 'member_change_not_found',
  inv: 'invitation_not_found',
  pch: 'policy_change_not_found',
  whe: 'endpoint_not_found',
  evt: 'event_not_found',
  dlv: 'delivery_not_found',
  rpl: 'replay_not_found',
  ses: 'session_not_found',
  psk: 'passkey_not_found',
  req: 'request_not_found',
  chk: 'checkout_not_found',
} as const satisfies Record<string, ErrorCode>;

/** Ids that come in a body: the field, and the error for an unknown one. */
export const BODY_IDS: Readonly<Record<string, { readonly field: string; readonly refusal: ErrorCode }>> = {
  releasePayouts: { field: 'ids', refusal: 'payout_not_found' },
  logIn: { field: 'merchant_id', refusal: 'permission_denied' },
  switchMerchant: { field: 'merchant_id', refusal: 'permission_denied' },
  createReplay: { field: 'endpoint_id', refusal: 'endpoint_not_found' },
};

/** Ids that a list is filtered by, with their nouns. An unknown one finds nothing. */
export const QUERY_IDS: Readonly<Record<string, Readonly<Record<string, keyof typeof NOT_FOUND>>>> = {
  listEvents: { object_id: 'col' },
  listDeliveries: { endpoint_id: 'whe', event_id: 'evt', object_id: 'col' },
  listAuditEntries: { subject_id: 'pay', actor_id: 'usr' },
  listConsoleCollections: { api_key_id: 'key', checkout_id: 'chk' },
  getConsoleCollectionCount: { api_key_id: 'key', checkout_id: 'chk' },
  listConsolePayouts: { api_key_id: 'key' },
  getConsolePayoutCount: { api_key_id: 'key' },
  listLedgerEntries: { payment_id: 'pay' },
  getCollectionsCsv: { api_key_id: 'key', checkout_id: 'chk' },
  getPayoutsCsv: { api_key_id: 'key' },
  getLedgerCsv: { payment_id: 'pay' },
};

/** Operations that need a session or accept one. */
export const BEHIND_A_SESSION: readonly string[] = [...Object.keys(CONSOLE_ROLES), ...Object.keys(API_SCOPES)];

/** Whether the operation only reads; decided by its name, so that tests can be listed before there is a document. */
export function isRead(operationId: string): boolean {
  return /^(get|list)/.test(operationId);
}
