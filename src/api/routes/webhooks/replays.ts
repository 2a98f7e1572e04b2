// Replays of many deliveries in the console: create one, see its progress.
import { createReplay } from '../../../operations/webhooks/replay-deliveries.ts';
import { getReplay } from '../../../db/webhooks/replay.ts';
import { listRequestedReplays, withRequesters } from '../../../operations/webhooks/read-deliveries.ts';
import type { Replay } from '../../../domain/webhooks/replay.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import {
  createReplaySchema,
  listReplaysSchema,
  replayListSchema,
  replayObject,
  replaySchema,
  toReplayFilter,
} from '../../schemas/webhooks/replay.ts';

export const replayRoutes = routesUnder<RouteDeps>('Console webhooks', '/v1/console', [
  route('POST /deliveries/replay', {
    operationId: 'createReplay',
    summary: 'Send many deliveries again',
    description:
      'The replay runs in the background, oldest deliveries first. It skips deliveries to endpoints that are disabled by then.',
    access: { roles: ['admin', 'developer'] },
    body: createReplaySchema,
    response: { status: 202, description: 'The replay has begun.', schema: replaySchema },
    errors: ['endpoint_not_found', 'state_conflict'],
    handle: async ({ body, by }, deps) => {
      const at = new Date();
      const replay = await createReplay(deps.db, { filter: toReplayFilter(body, at), by, at });
      return { body: await withRequester(deps, replay) };
    },
  }),
  route('GET /replays', {
    operationId: 'listReplays',
    summary: 'List replays of many deliveries, newest first',
    access: 'session',
    ...onePage(listReplaysSchema, replayListSchema),
    handle: async ({ merchantId, query: { limit, cursor = null } }, deps) => ({
      body: pageObject(await listRequestedReplays(deps.db, merchantId, cursor, limit), replayObject),
    }),
  }),
  route('GET /replays/{id}', {
    operationId: 'getReplay',
    summary: 'Fetch one replay with its progress',
    access: 'session',
    ...oneObject('rpl', 'The replay.', replaySchema),
    handle: async ({ merchantId, id }, deps) => ({
      body: await withRequester(deps, await getReplay(deps.db, merchantId, id)),
    }),
  }),
]);

async function withRequester({ db }: RouteDeps, replay: Replay) {
  const [withPerson] = await withRequesters(db, replay.merchantId, [replay]);
  if (!withPerson) throw new Error(`the replay ${replay.id} was lost while its names were read`);
  return replayObject(withPerson);
}
