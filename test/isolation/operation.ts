// An operation for the isolation tests, written by hand from the contract: its access, its ids, and a call.
import type { Scope } from '../../src/domain/accounts/api-key.ts';
import type { Role } from '../../src/domain/accounts/member.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { TestPerson } from '../support/people.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import type { Shop } from './tenants.ts';

export const ANY: readonly Role[] = ['owner', 'admin', 'developer', 'maker', 'approver', 'viewer'];
export const PEOPLE: readonly Role[] = ['owner', 'admin'];
export const KEYS: readonly Role[] = ['owner', 'admin', 'developer'];
export const RELEASES: readonly Role[] = ['owner', 'approver'];

export type Sample = {
  /** In the path. */
  readonly id?: string;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string>>;
};

/** The person who is to make the call, and the merchant and environment. */
export type SampleContext = { readonly testEnv: TestEnvironment; readonly shop: Shop; readonly person: TestPerson };

export const NOTHING = (): Sample => ({});

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

type Noun = keyof typeof NOT_FOUND;

/** The console: a session in one of these roles. The public API: a key, or a session, with this scope. */
type Callers =
  | { readonly roles: readonly Role[] }
  | { readonly scope: Scope }
  /** A route of the console that comes before a session. */
  | { readonly isBeforeSession: true };

export type IsolatedOperation = Callers & {
  /** The noun of the id in its path. */
  readonly pathId?: Noun;
  /** A field of its body that holds ids, and the error for an unknown one. */
  readonly bodyId?: { readonly field: string; readonly refusal: ErrorCode };
  /** The ids that filter a list, with their nouns. An unknown one finds nothing. */
  readonly queryIds?: Readonly<Record<string, Noun>>;
  /** It succeeds only for a person with a second factor, or only for one without. */
  readonly hasSecondFactor?: boolean;
  /** Creates what a call needs, and returns the call. */
  readonly sample: (context: SampleContext) => Sample | Promise<Sample>;
};

/** By the id of the operation. */
export type Operations = Readonly<Record<string, IsolatedOperation>>;

/** An operation on one object, which `make` makes. */
export function about(
  roles: readonly Role[],
  pathId: Noun,
  make: (context: SampleContext) => Promise<string>,
): IsolatedOperation {
  return { roles, pathId, sample: async (context) => ({ id: await make(context) }) };
}

/** A list of objects, each of which `add` adds. */
export function listOf(roles: readonly Role[], add: (context: SampleContext) => Promise<unknown>): IsolatedOperation {
  return {
    roles,
    sample: async (context) => {
      for (let i = 0; i < 3; i++) await add(context);
      return {};
    },
  };
}
