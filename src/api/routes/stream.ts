// The stream of live updates.
import type { ApiDeps } from '../context.ts';
import { route, type Route } from '../route.ts';
import { openStreamSchema, streamSchema } from '../schemas/live-update.ts';

export function streamRoutes(deps: ApiDeps): Route[] {
  return [
    route(deps, {
      method: 'get',
      path: '/v1/console/stream',
      operationId: 'getStream',
      tag: 'Console overview',
      summary: 'Live updates as server-sent events: which object came into which state',
      description:
        'An event `ready` (`StreamReady`) comes first, then an event `update` (`LiveUpdate`) for each new state of a collection, ' +
        'payout, reversal, delivery, endpoint or replay, and for each approval: read the object again. After a break, `EventSource` ' +
        'goes on by itself where it was, for up to 23 hours. Neither opening it nor reading it is a sign of use: the session ends as it would, and the stream with it.',
      access: 'session',
      isUse: false,
      query: openStreamSchema,
      response: {
        status: 200,
        description: 'Events, until the session ends.',
        schema: streamSchema,
        type: 'text/event-stream',
      },
      handle: ({ session, lastEventId, query }) =>
        Promise.resolve({
          stream: deps.streams.open(session, lastEventId === '' ? (query.after ?? '') : lastEventId),
          // A proxy that gathers a response before it passes it on would hold the updates back.
          headers: { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-store, no-transform' },
        }),
    }),
  ];
}
