// `malipo replay`: sends one delivery or many to their endpoints again.
import { setTimeout as sleep } from 'node:timers/promises';
import { REPLAYABLE_STATES, replayTotalText, UNDELIVERED_STATES } from '../../domain/webhooks/replay.ts';
import { deliverySchema, parseResponse, replaySchema, type DeliveryObject, type ReplayObject } from '../responses.ts';
import type { Api } from '../api.ts';
import {
  FLAG,
  printResult,
  readCount,
  readMoment,
  readChoices,
  TEXT,
  type Command,
  type Context,
  type CommandLine,
} from '../command.ts';
import { CliFailure, usage } from '../failure.ts';
import { signIn } from '../sign-in.ts';
import { replayText } from './replays.ts';

const HELP = `usage: malipo replay DELIVERY_ID [--wait] [--timeout SECONDS] [--json]
       malipo replay [--endpoint ID] [--state A,B] [--since TIME] [--until TIME] [--all] [--wait] [--timeout SECONDS] [--json]

Sends deliveries again, with the same event id and bytes, signed with the current secret, on the whole schedule. Replays
one delivery in any state, or many in the background. Deliveries to a disabled endpoint are skipped. Needs the role
developer or admin.

  --endpoint ID      only to this endpoint
  --state A,B        one or more of ${REPLAYABLE_STATES.join(', ')}; default ${UNDELIVERED_STATES.join(' and ')}
  --since TIME       created at this time or later: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --until TIME       created before this time
  --all              in place of the options above: all endpoints, any time
  --wait             wait and show progress. Many: until all are on their way. One: until it is delivered (exit code 0)
                     or not (1)
  --timeout SECONDS  with --wait: wait at most this long, then exit code 5; default 60

With --json: the final delivery, or the final replay (id, state, total, replayed, skipped).

examples
  malipo replay dlv_01kdvcg… --wait
  malipo replay --endpoint whe_01kdvc… --since 2d --wait
`;

const POLL_EVERY_MS = 500;
const MAX_SECONDS = 86_400;

export const replay: Command = {
  name: 'replay',
  summary: 'send deliveries again',
  help: HELP,
  options: { endpoint: TEXT, state: TEXT, since: TEXT, until: TEXT, all: FLAG, wait: FLAG, timeout: TEXT },
  positionals: [0, 1],
  async run(line, context) {
    const filter = readFilter(line);
    const giveUpAtMs = Date.now() + 1000 * (readCount(line, 'timeout', MAX_SECONDS) ?? 60);
    const [id] = line.positionals;
    if (id === undefined) await replayMany(filter, line, { context, giveUpAtMs });
    else await replayOne(id, line, { context, giveUpAtMs });
  },
};

type Waiting = { readonly context: Context; readonly giveUpAtMs: number };

function readFilter(line: CommandLine): Record<string, unknown> {
  const entries = Object.entries({
    endpoint_id: line.text('endpoint'),
    all: line.flag('all') ? true : null,
    states: readChoices(line, 'state', REPLAYABLE_STATES),
    created_from: readMoment(line, 'since')?.toISOString() ?? null,
    created_to: readMoment(line, 'until')?.toISOString() ?? null,
  }).filter(([, value]) => value !== null);
  if (line.positionals.length > 0 && entries.length > 0) {
    throw usage('name one delivery, or select deliveries with options, not both');
  }
  if (line.positionals.length === 0 && entries.length === 0) {
    throw usage(
      'name a delivery, or select deliveries with --endpoint, --state, --since, --until; use --all for everything undelivered',
    );
  }
  return Object.fromEntries(entries);
}

async function replayOne(id: string, line: CommandLine, { context, giveUpAtMs }: Waiting): Promise<void> {
  const { api } = await signIn(line, context);
  const path = `/v1/console/deliveries/${encodeURIComponent(id)}`;
  let delivery = parseResponse(deliverySchema, await api.call('POST', `${path}/replay`));
  const isDone = ({ state }: DeliveryObject) => state !== 'pending' && state !== 'retrying';
  while (line.flag('wait') && !isDone(delivery) && Date.now() < giveUpAtMs) {
    await sleep(POLL_EVERY_MS, undefined, { signal: context.stop });
    delivery = parseResponse(deliverySchema, await api.call('GET', path));
  }
  const { state, event_type: type, endpoint_id: endpointId } = delivery;
  printResult(line, context, delivery, `${delivery.id} ${type} to ${endpointId}: ${state}`);
  if (!line.flag('wait') || state === 'delivered') return;
  const hint = `malipo deliveries ${delivery.id} shows what was answered`;
  if (isDone(delivery)) throw new CliFailure('failed', `it was not delivered; ${hint}`);
  throw new CliFailure('timedOut', `it is not delivered yet, and is retried on the schedule; ${hint}`);
}

async function replayMany(filter: object, line: CommandLine, { context, giveUpAtMs }: Waiting): Promise<void> {
  const { api } = await signIn(line, context);
  const response = await api.call('POST', '/v1/console/deliveries/replay', { json: filter });
  const started = parseResponse(replaySchema, response);
  if (!line.isJson) context.terminal.say(`${started.id}: ${replayTotalText(started.total)} to send again`);
  const last = line.flag('wait') ? await waitForReplay(api, started, { context, giveUpAtMs }) : started;
  printResult(line, context, last, replayText(last));
  if (line.flag('wait') && last.state !== 'completed') {
    throw new CliFailure('timedOut', 'the replay continues in the background; malipo deliveries shows its results');
  }
}

async function waitForReplay(api: Api, started: ReplayObject, { context, giveUpAtMs }: Waiting): Promise<ReplayObject> {
  let seen = started;
  while (seen.state !== 'completed' && Date.now() < giveUpAtMs) {
    await sleep(POLL_EVERY_MS, undefined, { signal: context.stop });
    const now = parseResponse(replaySchema, await api.call('GET', `/v1/console/replays/${started.id}`));
    if (now.replayed + now.skipped > seen.replayed + seen.skipped) {
      context.terminal.say(`${now.replayed + now.skipped} of ${replayTotalText(now.total)}`);
    }
    seen = now;
  }
  return seen;
}
