// The sessions of a person, for themselves to list and end, and those of a member, for an owner or admin to end.
import {
  endMemberSessions,
  endOtherSessions,
  endSession,
  listOwnSessions,
} from '../../../operations/accounts/own-sessions.ts';
import { endedSessionResponse } from '../../own-session.ts';
import { route, routesUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
import { listedSessionObject, sessionListSchema } from '../../schemas/accounts/own-sessions.ts';

export const ownSessionsRoutes: readonly UnboundRoute<RouteDeps>[] = [
  ...routesUnder<RouteDeps>('Console session', '/v1/console/sessions', [
    route('GET', {
      operationId: 'listSessions',
      summary: 'List your sessions at this merchant, most recently used first',
      access: 'session',
      response: { status: 200, description: 'Only sessions that have not ended.', schema: sessionListSchema },
      handle: async ({ session }, deps) => ({
        body: { data: (await listOwnSessions(deps.db, session, new Date())).map(listedSessionObject) },
      }),
    }),
    route('DELETE /{id}', {
      operationId: 'endSession',
      summary: 'End one of your sessions',
      access: 'session',
      idPrefix: 'ses',
      setsCookie: true,
      response: { status: 204, description: 'The session has ended.' },
      handle: async ({ id, session, by }, deps) => {
        await endSession(deps.db, id, by, new Date());
        return { status: 204, ...(id === session.id && endedSessionResponse(deps)) };
      },
    }),
    route('DELETE', {
      operationId: 'endOtherSessions',
      summary: 'End your other sessions at this merchant',
      description:
        'The current session continues. A change of the password ends your other sessions at every merchant.',
      access: 'session',
      response: { status: 204, description: 'The sessions have ended.' },
      handle: ({ session: { tokenSha256 }, by }, deps) => endOtherSessions(deps.db, tokenSha256, by, new Date()),
    }),
  ]),
  ...routesUnder<RouteDeps>('Console members', '/v1/console/members', [
    route('DELETE /{id}/sessions', {
      operationId: 'endMemberSessions',
      summary: 'End the sessions of a member at this merchant',
      description: 'The member can log in again. The audit log records who ended the sessions.',
      access: { roles: ['admin'] },
      needsStepUp: true,
      idPrefix: 'usr',
      response: { status: 204, description: 'The sessions have ended.' },
      handle: ({ id, by }, deps) => endMemberSessions(deps.db, id, by, new Date()),
    }),
  ]),
];
