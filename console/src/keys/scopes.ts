// The scopes of API keys in words, and who may manage which key.
import type { Schemas } from '../api/client.ts';
import { hasRole, type Session } from '../session/session.ts';

export type Scope = Schemas['ApiKey']['scopes'][number];

export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'collections:read': 'See collections',
  'collections:write': 'Make collections: raise prompts on payers’ phones',
  'payouts:read': 'See payouts',
  'payouts:write': 'Make payouts, which people then release',
  'balance:read': 'See the balance',
};

export const ALL_SCOPES = Object.keys(SCOPE_WORDS) as Scope[];

/** Whether this person may create, roll and revoke keys with these scopes. The API decides; this avoids a refusal. */
export function mayHandle(session: Session, scopes: readonly Scope[]): boolean {
  // Such a key moves money out.
  return scopes.includes('payouts:write') ? hasRole(session, 'admin') : hasRole(session, 'admin', 'developer');
}
