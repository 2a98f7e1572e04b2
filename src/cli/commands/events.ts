// `malipo events`: what happened, and the exact text that was sent of it.
import { EVENT_TYPES } from '../../domain/event.ts';
import { eventRowSchema, eventSchema, read } from '../answers.ts';
import { readCount, readMoment, readWords, table, TEXT, type Command, type Context, type Line } from '../command.ts';
import { usage } from '../failure.ts';
import { readList } from '../pages.ts';
import { signIn } from '../sign-in.ts';
import { printable } from '../terminal.ts';

const HELP = `usage: malipo events [--type TYPE] [--since TIME] [--until TIME] [--limit N] [--json]
       malipo events EVENT_ID [--json]

Lists events, newest first; or shows one, with the body as it is signed and sent, and its deliveries. Any role will do.

  --type TYPE    only this type
  --since TIME   made from then on: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --until TIME   made before then
  --limit N      at most so many; 20 without it

With --json: {"data": […], "has_more"}; of one the event, its body as text in it.

examples
  malipo events --type collection.failed --since 2h
  malipo events evt_01kdvcg… --json | jq -r .body
`;

const MOST = 10_000;

export const events: Command = {
  name: 'events',
  summary: 'what happened, and what was sent of it',
  help: HELP,
  options: { type: TEXT, since: TEXT, until: TEXT, limit: TEXT },
  words: [0, 1],
  async run(line, context) {
    const [id] = line.words;
    await (id === undefined ? list(line, context) : show(id, line, context));
  },
};

async function list(line: Line, context: Context): Promise<void> {
  const types = readWords(line, 'type', EVENT_TYPES);
  if (types && types.length > 1) throw usage('--type takes one type');
  const query = {
    type: types?.[0],
    created_from: readMoment(line, 'since')?.toISOString(),
    created_to: readMoment(line, 'until')?.toISOString(),
  };
  const limit = readCount(line, 'limit', MOST) ?? 20;
  const { api } = await signIn(line, context);
  const { data, hasMore } = await readList(api, { path: '/v1/console/events', query, item: eventRowSchema, limit });
  const { terminal } = context;
  if (line.isJson) {
    terminal.print(JSON.stringify({ data, has_more: hasMore }));
    return;
  }
  const rows = data.map((row) => [row.created_at, row.type, row.id, row.object_id]);
  for (const text of table(['created', 'type', 'event', 'of'], rows)) terminal.print(text);
  if (hasMore) terminal.say(`there are more: --limit ${limit * 5}, or a shorter time`);
}

async function show(id: string, line: Line, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const event = read(eventSchema, await api.call('GET', `/v1/console/events/${encodeURIComponent(id)}`));
  const { terminal } = context;
  if (line.isJson) {
    terminal.print(JSON.stringify(event));
    return;
  }
  terminal.print(`${event.type}  ${event.id}  of ${event.object_id}  at ${event.created_at}`);
  for (const { id: deliveryId, endpoint_id: endpointId, state } of event.deliveries) {
    terminal.print(`${deliveryId} to ${endpointId}: ${state}`);
  }
  terminal.print(`\n${printable(event.body)}`);
}
