// Replays of many deliveries in the console: begin one, see how far it came.
import { createReplay } from '../../../operations/webhooks/create-replay.ts';
import { getReplay } from '../../../queries/webhooks/replay.ts';
import { listReplays } from '../../../queries/webhooks/replay.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../../context.ts';
import { readLists } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import { PAGE_CODES, pageObject } from '../../schemas/page.ts';
import {
  createReplaySchema,
  listReplaysSchema,
  replayListSchema,
  replayObject,
  replaySchema,
  toReplayFilter,
} from '../../schemas/webhooks/replay.ts';
import { validate } from '../../validation.ts';

const TAG = 'webhooks';
const PATH = '/v1/console/replays';

export function replayRoutes(deps: ApiDeps): Route[] {
  return [createRoute(deps), listRoute(deps), fetchRoute(deps)];
}

function createRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: '/v1/console/deliveries/replay',
      operationId: 'createReplay',
      tag: TAG,
      summary: 'Send many deliveries again',
      description:
        'In the background, oldest first. Those to endpoints that are disabled by then are left as they are.',
      roles: ['admin', 'developer'],
      body: createReplaySchema,
      answer: { status: 202, description: 'It has begun.', schema: replaySchema },
      errors: ['endpoint_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['states']) : ctx.request.body;
      const at = new Date();
      const filter = toReplayFilter(validate(createReplaySchema, fields), at);
      const replay = await createReplay(deps.db, { filter, by: auditOf(ctx), at });
      ctx.status = 202;
      ctx.body = replayObject(replay);
    },
  );
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listReplays',
      tag: TAG,
      summary: 'List replays of many deliveries, newest first',
      query: listReplaysSchema,
      answer: { status: 200, description: 'One page.', schema: replayListSchema },
      errors: ['parameter_invalid', 'cursor_invalid'],
    },
    async (ctx) => {
      const { limit, cursor } = validate(listReplaysSchema, { ...ctx.query }, PAGE_CODES);
      const page = await listReplays(deps.db, sessionOf(ctx).person.merchantId, cursor ?? null, limit);
      ctx.body = pageObject(page, replayObject);
    },
  );
}

function fetchRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getReplay',
      tag: TAG,
      summary: 'Fetch one replay with how far it came',
      id: 'rpl',
      answer: { status: 200, description: 'The replay.', schema: replaySchema },
      errors: ['replay_not_found'],
    },
    async (ctx) => {
      ctx.body = replayObject(await getReplay(deps.db, sessionOf(ctx).person.merchantId, idOf(ctx)));
    },
  );
}
