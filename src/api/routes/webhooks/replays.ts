// Replays of many deliveries in the console: create one, see its progress.
import { createReplay } from '../../../operations/webhooks/replay-deliveries.ts';
import { getReplay } from '../../../db/webhooks/replay.ts';
import { listRequestedReplays, withRequesters } from '../../../operations/webhooks/read-deliveries.ts';
import type { Replay } from '../../../domain/webhooks/replay.ts';
import { route, type Route, type RouteDeps } from '../../route.ts';
import { pageObject } from '../../schemas/page.ts';
import {
  createReplaySchema,
  listReplaysSchema,
  replayListSchema,
  replayObject,
  replaySchema,
  toReplayFilter,
} from '../../schemas/webhooks/replay.ts';

const TAG = 'Console webhooks';
const PATH = '/v1/console/replays';

export function replayRoutes(deps: RouteDeps): Route[] {
  return [createRoute(deps), listRoute(deps), fetchRoute(deps)];
}

function createRoute(deps: RouteDeps): Route {
  return route(deps, TAG, 'POST /v1/console/deliveries/replay', {
    operationId: 'createReplay',
    summary: 'Send many deliveries again',
    description:
      'The replay runs in the background, oldest deliveries first. It skips deliveries to endpoints that are disabled by then.',
    access: { roles: ['admin', 'developer'] },
    body: createReplaySchema,
    response: { status: 202, description: 'The replay has begun.', schema: replaySchema },
    errors: ['endpoint_not_found', 'state_conflict'],
    handle: async ({ body, by }) => {
      const at = new Date();
      const replay = await createReplay(deps.db, { filter: toReplayFilter(body, at), by, at });
      return { body: await withRequester(deps, replay) };
    },
  });
}

function listRoute(deps: RouteDeps): Route {
  return route(deps, TAG, `GET ${PATH}`, {
    operationId: 'listReplays',
    summary: 'List replays of many deliveries, newest first',
    access: 'session',
    query: listReplaysSchema,
    response: { status: 200, description: 'One page.', schema: replayListSchema },
    handle: async ({ merchantId, query: { limit, cursor = null } }) => ({
      body: pageObject(await listRequestedReplays(deps.db, merchantId, cursor, limit), replayObject),
    }),
  });
}

function fetchRoute(deps: RouteDeps): Route {
  return route(deps, TAG, `GET ${PATH}/{id}`, {
    operationId: 'getReplay',
    summary: 'Fetch one replay with its progress',
    access: 'session',
    idPrefix: 'rpl',
    response: { status: 200, description: 'The replay.', schema: replaySchema },
    errors: ['replay_not_found'],
    handle: async ({ merchantId, id }) => ({
      body: await withRequester(deps, await getReplay(deps.db, merchantId, id)),
    }),
  });
}

async function withRequester({ db }: RouteDeps, replay: Replay) {
  const [withPerson] = await withRequesters(db, replay.merchantId, [replay]);
  if (!withPerson) throw new Error(`the replay ${replay.id} was lost while its names were read`);
  return replayObject(withPerson);
}
