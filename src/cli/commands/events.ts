// `malipo events`: lists events, or shows one with its exact body and its deliveries.
import { EVENT_TYPES } from '../../domain/event.ts';
import { readChoice, TEXT, type Command, type CommandLine, type Context } from '../command.ts';
import { printList, readList, readRange } from '../pages.ts';
import { eventRowSchema, eventSchema, parseResponse } from '../responses.ts';
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

export const events: Command = {
  name: 'events',
  summary: 'what happened, and its deliveries',
  help: HELP,
  options: { type: TEXT, since: TEXT, until: TEXT, limit: TEXT },
  positionals: [0, 1],
  async run(line, context) {
    const [id] = line.positionals;
    await (id === undefined ? list(line, context) : show(id, line, context));
  },
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const type = readChoice(line, 'type', EVENT_TYPES);
  const { limit, ...range } = readRange(line);
  const { api } = await signIn(line, context);
  const query = { type, ...range };
  const listed = await readList(api, { path: '/v1/console/events', query, item: eventRowSchema, limit });
  const { terminal } = context;
  printList(listed, line, terminal, {
    created: (row) => row.created_at,
    type: (row) => row.type,
    event: (row) => row.id,
    of: (row) => row.object_id,
  });
  if (listed.hasMore && !line.isJson) terminal.say(`there are more: use --limit ${limit * 5}, or a shorter time`);
}

async function show(id: string, line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const event = parseResponse(eventSchema, await api.call('GET', `/v1/console/events/${encodeURIComponent(id)}`));
  const { terminal } = context;
  if (line.isJson) {
    terminal.printJson(event);
    return;
  }
  terminal.print(`${event.type}  ${event.id}  of ${event.object_id}  at ${event.created_at}`);
  for (const { id: deliveryId, endpoint_id: endpointId, state } of event.deliveries) {
    terminal.print(`${deliveryId} to ${endpointId}: ${state}`);
  }
  terminal.print(`\n${event.body}`);
}
