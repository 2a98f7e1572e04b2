// Reads a stream of server-sent events, as a browser does.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export type StreamEvent = { readonly event: string; readonly id: string; readonly data: Record<string, unknown> };

export type EventReader = {
  readonly status: number;
  readonly headers: Headers;
  /** All that came so far. */
  readonly events: StreamEvent[];
  /** The id to go on from, which comes with heartbeats too. */
  lastId(): string;
  /** Resolves when the events so far pass; fails after half a minute. */
  until(isThere: (events: readonly StreamEvent[]) => boolean): Promise<void>;
  /** Resolves when the server has ended the stream, or its process is gone. */
  readonly ended: Promise<void>;
  close(): void;
};

const LIMIT_MS = 90_000;

export async function readEvents(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const events: StreamEvent[] = [];
  let lastId = '';
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        ) as Record<string, string>;
        lastId = fields['id'] ?? lastId;
        if (fields['data'] === undefined) continue;
        const data = JSON.parse(fields['data']) as Record<string, unknown>;
        events.push({ event: fields['event'] ?? 'message', id: lastId, data });
      }
    }
  };
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const ended = isEventStream ? read().catch(() => undefined) : Promise.resolve();
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastId: () => lastId,
    ended,
    async until(isThere) {
      const endsAt = Date.now() + LIMIT_MS;
      while (!isThere(events)) {
        assert.ok(Date.now() < endsAt, `it did not come: ${JSON.stringify(events)}`);
        await sleep(10);
      }
    },
    close: () => {
      abort.abort();
    },
  };
}
