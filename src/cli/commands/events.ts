// `malipo events`: lists events, or shows one with its exact body and its deliveries.
import { EVENT_TYPES } from '../../domain/event.ts';
import { readChoice, TEXT, type Command, type CommandLine, type Context } from '../command.ts';
import { printList, readList, readRange, listOrOne } from '../pages.ts';
import { eventRowSchema, eventSchema, type EventObject } from '../responses.ts';
import { signIn } from '../sign-in.ts';

const HELP = `usage: malipo events [--type TYPE] [--since TIME] [--until TIME] [--limit N] [--json]
       malipo events EVENT_ID [--json]

Lists events, newest first; or shows one, with the body as it is signed and sent, and its deliveries. Works with any role.

  --type TYPE    only this type
  --since TIME   created at this time or later: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --until TIME   created before this time
  --limit N      at most this many; default 20

With --json: {"data": […], "has_more"}; for one event, the event with its body as text.

examples
  malipo events --type collection.failed --since 2h
  malipo events evt_01kdvcg… --json | jq -r .body
`;

const PATH = '/v1/console/events';

export const events: Command = {
  name: 'events',
  summary: 'list events with their deliveries',
  help: HELP,
  options: { type: TEXT, since: TEXT, until: TEXT, limit: TEXT },
  ...listOrOne(PATH, list, { schema: eventSchema, textOf }),
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const type = readChoice(line, 'type', EVENT_TYPES);
  const { limit, ...range } = readRange(line);
  const { api } = await signIn(line, context);
  const query = { type, ...range };
  const listed = await readList(api, { path: PATH, query, item: eventRowSchema, limit });
  printList(listed, line, context, {
    created: (row) => row.created_at,
    type: (row) => row.type,
    event: (row) => row.id,
    of: (row) => row.object_id,
  });
  if (listed.hasMore && !line.isJson) {
    context.terminal.say(`there are more: use --limit ${limit * 5}, or a shorter time`);
  }
}

function textOf(event: EventObject): string {
  const deliveries = event.deliveries.map(
    ({ id, endpoint_id: endpointId, state }) => `${id} to ${endpointId}: ${state}`,
  );
  const head = `${event.type}  ${event.id}  of ${event.object_id}  at ${event.created_at}`;
  return [head, ...deliveries, '', event.body].join('\n');
}
