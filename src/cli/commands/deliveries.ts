// `malipo deliveries`: what was sent where, and what was answered.
import { DELIVERY_STATES } from '../../domain/webhooks/delivery.ts';
import { deliverySchema, read, shownDeliverySchema } from '../answers.ts';
import { readCount, readMoment, readWords, table, TEXT, type Command, type Context, type Line } from '../command.ts';
import { usage } from '../failure.ts';
import { readList } from '../pages.ts';
import { signIn } from '../sign-in.ts';
import { printable } from '../terminal.ts';

const HELP = `usage: malipo deliveries [--endpoint ID] [--event ID] [--state STATE] [--since TIME] [--until TIME] [--limit N] [--json]
       malipo deliveries DELIVERY_ID [--json]

Lists what was sent, or is to be sent, to which endpoint, newest first; or shows one with every attempt and what was
answered. Any role will do.

  --endpoint ID  only to this endpoint
  --event ID     only of this event
  --state STATE  ${DELIVERY_STATES.join(', ')}
  --since TIME   made from then on: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --until TIME   made before then
  --limit N      at most so many; 20 without it

With --json: {"data": […], "has_more"}; of one the delivery with its attempts.

examples
  malipo deliveries --state dead_lettered
  malipo deliveries dlv_01kdvcg…
`;

const MOST = 10_000;

export const deliveries: Command = {
  name: 'deliveries',
  summary: 'what was sent where, and what was answered',
  help: HELP,
  options: { endpoint: TEXT, event: TEXT, state: TEXT, since: TEXT, until: TEXT, limit: TEXT },
  words: [0, 1],
  async run(line, context) {
    const [id] = line.words;
    await (id === undefined ? list(line, context) : show(id, line, context));
  },
};

async function list(line: Line, context: Context): Promise<void> {
  const states = readWords(line, 'state', DELIVERY_STATES);
  if (states && states.length > 1) throw usage('--state takes one state');
  const query = {
    endpoint_id: line.text('endpoint'),
    event_id: line.text('event'),
    state: states?.[0],
    created_from: readMoment(line, 'since')?.toISOString(),
    created_to: readMoment(line, 'until')?.toISOString(),
  };
  const limit = readCount(line, 'limit', MOST) ?? 20;
  const { api } = await signIn(line, context);
  const { data, hasMore } = await readList(api, { path: '/v1/console/deliveries', query, item: deliverySchema, limit });
  const { terminal } = context;
  if (line.isJson) {
    terminal.print(JSON.stringify({ data, has_more: hasMore }));
    return;
  }
  const rows = data.map((row) => [
    row.created_at,
    row.state,
    String(row.attempt_count),
    row.event_type,
    row.id,
    row.endpoint_id,
  ]);
  for (const text of table(['created', 'state', 'attempts', 'type', 'delivery', 'endpoint'], rows))
    terminal.print(text);
  if (hasMore) terminal.say(`there are more: --limit ${limit * 5}, or fewer by the other options`);
}

async function show(id: string, line: Line, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const answer = await api.call('GET', `/v1/console/deliveries/${encodeURIComponent(id)}`);
  const delivery = read(shownDeliverySchema, answer);
  const { terminal } = context;
  if (line.isJson) {
    terminal.print(JSON.stringify(delivery));
    return;
  }
  const { state, next_attempt_at: nextAttemptAt } = delivery;
  terminal.print(`${delivery.id}  ${delivery.event_type} ${delivery.event_id} to ${delivery.endpoint_id}`);
  terminal.print(nextAttemptAt === null ? state : `${state}; the next attempt at ${nextAttemptAt}`);
  for (const attempt of delivery.attempts) {
    const answered = attempt.status_code === null ? (attempt.error ?? 'no answer') : String(attempt.status_code);
    terminal.print(`\n#${attempt.number}  ${attempt.started_at}  ${answered}  in ${attempt.duration_ms} ms`);
    for (const [name, value] of Object.entries(attempt.response_headers ?? {}))
      terminal.print(printable(`${name}: ${value}`));
    if (attempt.response_body !== null && attempt.response_body !== '')
      terminal.print(printable(attempt.response_body));
  }
}
