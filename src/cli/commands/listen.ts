// `malipo listen`: forwards a test merchant's events to a developer's own machine, without a public address.
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPES } from '../../domain/event.ts';
import { eventSchema, parseResponse, type EventObject } from '../responses.ts';
import {
  FLAG,
  printResult,
  readMoment,
  readChoices,
  TEXT,
  type Command,
  type Context,
  type CommandLine,
} from '../command.ts';
import { createEventFeed } from '../event-feed.ts';
import { pollEvents } from '../event-poll.ts';
import { usage } from '../failure.ts';
import { createForwarder, readForwardUrl, type Attempt, type Forwarder } from '../forwarder.ts';
import { listenSecret } from '../listen-secret.ts';
import { createRetryingApi, type RetryingApi } from '../retrying-api.ts';
import { requireTest, signIn } from '../sign-in.ts';

const HELP = `usage: malipo listen --forward-to URL [--types A,B] [--since TIME] [--secret whsec_…] [--print] [--json]

Forwards the events of a test merchant to a receiver on your own machine as they happen, signed, with the headers and
bytes that the service sends. You need no public address and no endpoint. Ctrl-C ends it. A live service is refused.
Works with any role.

  --forward-to URL  your receiver. If it answers 2xx within 10 s, the event is accepted. Otherwise it is retried after
                    1 s and 5 s, and then given up: malipo resend sends it again
  --types A,B       only these types
  --since TIME      also events created since this time: 2026-01-31T12:00:00Z, or 10m, 2h, 3d ago
  --secret SECRET   the signing secret; also MALIPO_LISTEN_SECRET. Default: a secret that is created at the first use,
                    kept where only you can read it, and printed at the start. Your receiver verifies with the secret
  --print           also print the body of each event; without --forward-to, print only

With --json: a line for each attempt (event_id, type, attempt, status_code, error, duration_ms, outcome: accepted,
retrying or given_up), with --print the event's body in it; without --forward-to a line for each event.

If the service is unavailable for a while, the events of that time are forwarded afterwards. Delivery is at least once, as
with the service itself, and in no guaranteed order.

examples
  malipo listen --forward-to http://127.0.0.1:3000/malipo
  malipo listen --print --types collection.succeeded,collection.failed
`;

const POLL_EVERY_MS = 1000;
/** The most events in forwarding at once, including those that wait for another attempt. Beyond it, polling pauses. */
const MAX_IN_FLIGHT = 16;

export const listen: Command = {
  name: 'listen',
  summary: 'receive test webhooks on your own machine',
  help: HELP,
  options: { 'forward-to': TEXT, types: TEXT, since: TEXT, secret: TEXT, print: FLAG },
  endsByInterrupt: true,
  async run(line, context) {
    const target = line.text('forward-to');
    const url = target === null ? null : readForwardUrl(target);
    if (url === null && !line.flag('print')) throw usage('name the receiver: --forward-to URL, or --print');
    const types = readChoices(line, 'types', EVENT_TYPES);
    const since = readMoment(line, 'since');
    const { terminal, stop } = context;
    try {
      const signedIn = await signIn(line, context);
      requireTest(signedIn, 'listen');
      const secret = url && listenSecret(line, context, signedIn);
      terminal.say(`listening to ${signedIn.session.merchant.name} at ${signedIn.api.baseUrl}; Ctrl-C ends it`);
      if (url && secret) {
        terminal.say(
          `forwarding to ${url.href}, signed with ${secret.isOwn ? secret.value : 'the secret that you gave'}`,
        );
      }
      const retry = createRetryingApi(signedIn.api, line, context);
      const sink =
        url && secret
          ? createForwardingSink(createForwarder({ url, secret: secret.value, stop }), line, context)
          : createPrintingSink(line, context);
      await forwardEvents({ retry, sink, types, since, context });
    } catch (error) {
      if (!stop.aborted) throw error;
    }
  },
};

type EventSink = {
  /** Begins to process the event as soon as there is capacity; resolves then. */
  accept(event: EventObject): Promise<void>;
  end(): Promise<void>;
};

type Listening = {
  readonly retry: RetryingApi;
  readonly sink: EventSink;
  readonly types: readonly string[] | null;
  readonly since: Date | null;
  readonly context: Context;
};

async function forwardEvents({ retry, sink, types, since, context }: Listening): Promise<void> {
  const { stop, terminal } = context;
  const feed = createEventFeed((from) => retry((api) => pollEvents(api, from)), since);
  try {
    for (let polls = 0; !stop.aborted; polls++) {
      const fresh = await feed.next();
      // From the first poll on no event is missed, so a script that waits for this line may start.
      if (polls === 0) terminal.say('ready');
      for (const { id, type } of fresh) {
        if (types && !types.includes(type)) continue;
        await sink.accept(
          await retry(async (api) => parseResponse(eventSchema, await api.call('GET', `/v1/console/events/${id}`))),
        );
      }
      await sleep(POLL_EVERY_MS, undefined, { signal: stop });
    }
  } finally {
    await sink.end();
  }
}

function createForwardingSink(forwarder: Forwarder, line: CommandLine, context: Context): EventSink {
  const inFlight = new Set<Promise<void>>();
  const counts = { accepted: 0, retrying: 0, given_up: 0 };

  const forward = async (event: EventObject): Promise<void> => {
    if (line.flag('print') && !line.isJson) printEvent(event, line, context);
    await forwarder.forward(event, (attempt) => {
      counts[attempt.outcome] += 1;
      printAttempt(event, attempt, line, context);
    });
  };
  return {
    async accept(event) {
      while (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
      context.stop.throwIfAborted();
      const forwarding = forward(event).finally(() => inFlight.delete(forwarding));
      inFlight.add(forwarding);
    },
    async end() {
      await Promise.all(inFlight);
      context.terminal.say(`ended: ${counts.accepted} accepted, ${counts.given_up} given up`);
    },
  };
}

function createPrintingSink(line: CommandLine, context: Context): EventSink {
  return {
    accept(event) {
      printEvent(event, line, context);
      return Promise.resolve();
    },
    end: () => Promise.resolve(),
  };
}

function printEvent(event: EventObject, line: CommandLine, context: Context): void {
  const { id, type, created_at: createdAt, body } = event;
  printResult(line, context, { event_id: id, type, body }, `${createdAt}  ${type}  ${id}\n${body}`);
}

export function printAttempt(event: EventObject, attempt: Attempt, line: CommandLine, { terminal }: Context): void {
  const { number, statusCode, error, durationMs, outcome } = attempt;
  if (line.isJson) {
    const { id, type, body } = event;
    const shown = {
      event_id: id,
      type,
      attempt: number,
      status_code: statusCode,
      error,
      duration_ms: durationMs,
      outcome,
    };
    terminal.printJson(line.flag('print') ? { ...shown, body } : shown);
    return;
  }
  const colour = { accepted: 'green', retrying: 'yellow', given_up: 'red' } as const;
  const answer = { colour: colour[outcome], text: statusCode === null ? (error ?? 'no answer') : String(statusCode) };
  const then = {
    accepted: '',
    retrying: '; trying again',
    given_up: `; given up after ${number} attempts, malipo resend ${event.id} sends it again`,
  }[outcome];
  terminal.print(`${event.type} ${event.id} → `, answer, ` in ${durationMs} ms${then}`);
}
