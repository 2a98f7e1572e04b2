// `malipo deliveries`: lists webhook deliveries, or shows one with its attempts.
import type { z } from 'zod';
import { DELIVERY_STATES } from '../../domain/webhooks/delivery.ts';
import { readChoice, TEXT, type Command, type CommandLine, type Context } from '../command.ts';
import { printList, readList, readRange, listOrOne } from '../pages.ts';
import { deliverySchema, shownDeliverySchema } from '../responses.ts';
import { signIn } from '../sign-in.ts';

const HELP = `usage: malipo deliveries [--endpoint ID] [--event ID] [--state STATE] [--since TIME] [--until TIME] [--limit N] [--json]
       malipo deliveries DELIVERY_ID [--json]

Lists deliveries to endpoints, sent or still to be sent, newest first; or shows one delivery with every attempt and its
answer. Works with any role.

  --endpoint ID  only to this endpoint
  --event ID     only deliveries of this event
  --state STATE  ${DELIVERY_STATES.join(', ')}
  --since TIME   created at this time or later: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --until TIME   created before this time
  --limit N      at most this many; default 20

With --json: {"data": […], "has_more"}; for one delivery, the delivery with its attempts.

examples
  malipo deliveries --state dead_lettered
  malipo deliveries dlv_01kdvcg…
`;

const PATH = '/v1/console/deliveries';

export const deliveries: Command = {
  name: 'deliveries',
  summary: 'list deliveries to endpoints, with the answers',
  help: HELP,
  options: { endpoint: TEXT, event: TEXT, state: TEXT, since: TEXT, until: TEXT, limit: TEXT },
  ...listOrOne(PATH, list, { schema: shownDeliverySchema, textOf }),
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const state = readChoice(line, 'state', DELIVERY_STATES);
  const { limit, ...range } = readRange(line);
  const query = { endpoint_id: line.text('endpoint'), event_id: line.text('event'), state, ...range };
  const { api } = await signIn(line, context);
  const listed = await readList(api, { path: PATH, query, item: deliverySchema, limit });
  printList(listed, line, context, {
    created: (row) => row.created_at,
    state: (row) => row.state,
    attempts: (row) => String(row.attempt_count),
    type: (row) => row.event_type,
    delivery: (row) => row.id,
    endpoint: (row) => row.endpoint_id,
  });
  if (listed.hasMore && !line.isJson) {
    context.terminal.say(`there are more: use --limit ${limit * 5}, or narrow the list with the other options`);
  }
}

function textOf(delivery: z.infer<typeof shownDeliverySchema>): string {
  const { state, next_attempt_at: nextAttemptAt } = delivery;
  const lines = [
    `${delivery.id}  ${delivery.event_type} ${delivery.event_id} to ${delivery.endpoint_id}`,
    nextAttemptAt === null ? state : `${state}; the next attempt at ${nextAttemptAt}`,
  ];
  for (const attempt of delivery.attempts) {
    const answered = attempt.status_code === null ? (attempt.error ?? 'no answer') : String(attempt.status_code);
    lines.push(`\n#${attempt.number}  ${attempt.started_at}  ${answered}  in ${attempt.duration_ms} ms`);
    for (const [name, value] of Object.entries(attempt.response_headers ?? {})) lines.push(`${name}: ${value}`);
    if (attempt.response_body !== null && attempt.response_body !== '') lines.push(attempt.response_body);
  }
  return lines.join('\n');
}
