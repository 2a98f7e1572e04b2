// Who may call which operation, as the files of `operations` state it: the tests compare document and server with it.
import type { Scope } from '../../src/domain/accounts/api-key.ts';
import type { Role } from '../../src/domain/accounts/member.ts';
import { ANY, type IsolatedOperation, type Operations } from './operation.ts';
import { ACCOUNT_OPERATIONS } from './operations/accounts.ts';
import { PAYMENT_OPERATIONS } from './operations/payments.ts';
import { WEBHOOK_OPERATIONS } from './operations/webhooks.ts';

export const OPERATIONS: Operations = { ...ACCOUNT_OPERATIONS, ...PAYMENT_OPERATIONS, ...WEBHOOK_OPERATIONS };

/** For each operation that has it, the result of `read`. */
function byOperation<Value>(
  read: (operation: IsolatedOperation) => Value | undefined,
): Readonly<Record<string, Value>> {
  const found = Object.entries(OPERATIONS).map(([operationId, operation]) => [operationId, read(operation)] as const);
  return Object.fromEntries(found.filter((each): each is [string, Value] => each[1] !== undefined));
}

/** Section 10 of the contract: the routes behind a session and the roles that may call each. */
export const CONSOLE_ROLES = byOperation((operation) => ('roles' in operation ? operation.roles : undefined));

/** The routes of the console that come before a session. */
export const BEFORE_A_SESSION = Object.keys(byOperation((operation) => 'isBeforeSession' in operation || undefined));

/** The public routes, and the scope that a key needs for each. */
export const API_SCOPES = byOperation((operation) => ('scope' in operation ? operation.scope : undefined));

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
  'postAirtelMoneyCallback',
  'postAirtelMoneyCallbackOfPayment',
  'putAirtelMoneyCallback',
  'putAirtelMoneyCallbackOfPayment',
  'postDarajaQueryMessage',
  'postDarajaResultMessage',
  'postDarajaTimeoutMessage',
  'postMtnMomoCallback',
  'postMtnMomoCallbackOfPayment',
  'putMtnMomoCallback',
  'putMtnMomoCallbackOfPayment',
];

/** The noun of the id in the path of an operation. */
export const PATH_IDS = byOperation(({ pathId }) => pathId);

/** Ids that come in a body: the field, and the error for an unknown one. */
export const BODY_IDS = byOperation(({ bodyId }) => bodyId);

/** Ids that a list is filtered by, with their nouns. An unknown one finds nothing. */
export const QUERY_IDS = byOperation(({ queryIds }) => queryIds);

/** Operations that need a session or accept one. */
export const BEHIND_A_SESSION: readonly string[] = [...Object.keys(CONSOLE_ROLES), ...Object.keys(API_SCOPES)];

/** Whether the operation only reads; decided by its name, so that tests can be listed before there is a document. */
export function isRead(operationId: string): boolean {
  return /^(get|list)/.test(operationId);
}
