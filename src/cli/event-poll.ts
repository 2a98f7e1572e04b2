// One look at the list of events, with the moment at which it was taken by the service's clock.
import { eventRowSchema } from './answers.ts';
import type { Answer, Api } from './api.ts';
import { OVERLAP_MS, type Look } from './event-feed.ts';
import { readList } from './pages.ts';

const PATH = '/v1/console/events';

/** Every event made from then on; for null, within the overlap before now. */
export async function lookAtEvents(api: Api, from: Date | null): Promise<Look> {
  const since = from ?? new Date((await askForTime(api)).getTime() - OVERLAP_MS);
  const startedMs = Date.now();
  let askedAt = new Date(startedMs);
  const { data: events } = await readList(api, {
    path: PATH,
    query: { created_from: since.toISOString() },
    item: eventRowSchema,
    limit: null,
    onFirstPage: (answer) => {
      askedAt = askedWhen(answer, startedMs);
    },
  });
  return { events, askedAt };
}

// This machine's clock may be off by as much as it likes.
async function askForTime(api: Api): Promise<Date> {
  const startedMs = Date.now();
  return askedWhen(await api.call('GET', PATH, { query: { limit: 1 } }), startedMs);
}

// The answer's header says when it was made, in whole seconds; the question was asked before.
function askedWhen({ date }: Answer, startedMs: number): Date {
  return date ? new Date(date.getTime() - (Date.now() - startedMs) - 1000) : new Date(startedMs);
}
