// Polls the list of events once, and reports the time of the poll by the service's clock.
import { eventRowSchema } from './responses.ts';
import type { ApiResponse, Api } from './api.ts';
import { OVERLAP_MS, type EventPoll } from './event-feed.ts';
import { readList } from './pages.ts';

const PATH = '/v1/console/events';

/** Every event created from then on; for null, within the overlap before now. */
export async function pollEvents(api: Api, from: Date | null): Promise<EventPoll> {
  const since = from ?? new Date((await readServiceTime(api)).getTime() - OVERLAP_MS);
  const startedMs = Date.now();
  let polledAt = new Date(startedMs);
  const { data: events } = await readList(api, {
    path: PATH,
    query: { created_from: since.toISOString() },
    item: eventRowSchema,
    limit: null,
    onFirstPage: (response) => {
      polledAt = requestTime(response, startedMs);
    },
  });
  return { events, polledAt };
}

// This machine's clock may be wrong by any amount.
async function readServiceTime(api: Api): Promise<Date> {
  const startedMs = Date.now();
  return requestTime(await api.call('GET', PATH, { query: { limit: 1 } }), startedMs);
}

// The response's `Date` header is in whole seconds and later than the request.
function requestTime({ date }: ApiResponse, startedMs: number): Date {
  return date ? new Date(date.getTime() - (Date.now() - startedMs) - 1000) : new Date(startedMs);
}
