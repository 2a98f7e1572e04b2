// The current session: its person, its permissions, and its end.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { answerOf, api, showMerchant, type Schemas } from '../api/client.ts';
import { ApiError } from '../api/api-error.ts';

export type Session = Schemas['Session'];
export type Role = Schemas['Role'];

export const SESSION_KEY = ['session'] as const;
/** A step-up is requested this long before the last one expires, so that it does not expire in transit. */
const FRESH_MARGIN_MS = 15_000;

/** The session from the API; null if nobody is logged in. */
export async function fetchSession(): Promise<Session | null> {
  try {
    const session = await answerOf(api.GET('/v1/console/session'));
    // While the page restarts, nothing of the new session is shown beside data of the old one.
    return isOfThisPage(session) ? session : await new Promise<never>(() => undefined);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

let whose: string | null = null;

/**
 * Whether the session has the person and the merchant of this page; the first session sets both. For another one the
 * page restarts at its home, because its lists and forms are of the previous one.
 */
function isOfThisPage({ person, merchant }: Session): boolean {
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

/** The session for the pages of logged-in people. */
export const SessionContext = createContext<Session | null>(null);

/** The session of such a page. After its end the page keeps it until the app removes the page. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('a page that needs a session was shown without one');
  return session;
}

/** Replaces the current session by that of a response. */
export function useReplaceSession() {
  const client = useQueryClient();
  return (session: Session | null) => {
    if (session === null || isOfThisPage(session)) client.setQueryData(SESSION_KEY, session);
  };
}

/** Whether the person has one of these roles; an owner has every role. */
export function hasRole({ roles }: Session, ...wanted: readonly Role[]): boolean {
  return roles.includes('owner') || wanted.some((role) => roles.includes(role));
}

/** Whether this operation is refused until the person verifies their identity again. */
export function needsStepUp({ needs_step_up, fresh_until }: Session, operationId: string, atMs: number): boolean {
  const freshUntilMs = fresh_until === null ? 0 : Date.parse(fresh_until);
  return needs_step_up.includes(operationId) && atMs > freshUntilMs - FRESH_MARGIN_MS;
}
