// The stream of live updates.
import type { LiveStreams } from '../live-streams.ts';
import { route, routesUnder, type RouteDeps } from '../route.ts';
import { openStreamSchema, streamSchema } from '../schemas/live-update.ts';

export type StreamDeps = RouteDeps & {
  readonly streams: LiveStreams;
};

export const streamRoutes = routesUnder<StreamDeps>('Console overview', '/v1/console/stream', [
  route('GET', {
    operationId: 'getStream',
    summary: 'Stream state changes as server-sent events',
    description:
      'An event `ready` (`StreamReady`) comes first, then an event `update` (`LiveUpdate`) for each new state of a ' +
      'collection, payout, reversal, delivery, endpoint or replay, and for each approval: fetch the object again. ' +
      'After an interruption of up to 23 hours, `EventSource` continues by itself where it stopped. The stream does ' +
      'not count as use of the session: the session ends as it would without the stream, and the stream ends with it.',
    access: 'session',
    isUse: false,
    query: openStreamSchema,
    response: {
      status: 200,
      description: 'Events, until the session ends.',
      schema: streamSchema,
      type: 'text/event-stream',
    },
    handle: ({ session, lastEventId, query }, deps) =>
      Promise.resolve({
        stream: deps.streams.open(session, lastEventId === '' ? (query.after ?? '') : lastEventId),
        // A proxy that buffers responses would hold the updates back.
        headers: { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-store, no-transform' },
      }),
  }),
]);
