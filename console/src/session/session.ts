// Whose session this is, what it may do, and how it ends.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { answerOf, api, showMerchant, type Schemas } from '../api/client.ts';
import { ApiError } from '../api/api-error.ts';

export type Session = Schemas['Session'];
export type Role = Schemas['Role'];

export const SESSION_KEY = ['session'] as const;
/** A step-up is asked for this long before the last one runs out, so that it does not run out on the way. */
const FRESH_MARGIN_MS = 15_000;

/** The session as the service shows it; null when nobody is logged in. */
export async function fetchSession(): Promise<Session | null> {
  try {
    const session = await answerOf(api.GET('/v1/console/session'));
    // While the page begins again, nothing of the new session is shown beside what was kept of the other.
    return keepsTo(session) ? session : await new Promise<never>(() => undefined);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

let whose: string | null = null;

/**
 * Whether the session is of the person and the merchant that this page shows; of the first ones it is. For others the page begins again at
 * its home: what it keeps, in lists and forms, is of the one before.
 */
function keepsTo({ person, merchant }: Session): boolean {
  const its = `${person.id} ${merchant.id}`;
  if (whose !== null && whose !== its) {
    window.location.assign('/console/');
    return false;
  }
  whose = its;
  showMerchant(merchant.id);
  return true;
}

export function useSessionQuery() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: fetchSession });
}

/** What the app gives the pages that it shows to people who are logged in alone. */
export const SessionContext = createContext<Session | null>(null);

/** The session of such a page. When it ends, the page has it until the app takes the page away. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('a page that needs a session was shown without one');
  return session;
}

/** Puts the session that a response carried in the place of the one that is shown. */
export function useReplaceSession() {
  const client = useQueryClient();
  return (session: Session | null) => {
    if (session === null || keepsTo(session)) client.setQueryData(SESSION_KEY, session);
  };
}

/** Whether the person has one of these roles; an owner may do everything. */
export function hasRole({ roles }: Session, ...wanted: readonly Role[]): boolean {
  return roles.includes('owner') || wanted.some((role) => roles.includes(role));
}

/** Whether this operation is refused until the person proves again who they are. */
export function needsStepUp({ needs_step_up, fresh_until }: Session, operationId: string, atMs: number): boolean {
  const freshUntilMs = fresh_until === null ? 0 : Date.parse(fresh_until);
  return needs_step_up.includes(operationId) && atMs > freshUntilMs - FRESH_MARGIN_MS;
}
