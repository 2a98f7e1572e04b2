// The open streams of live updates of this process. One loop reads the database for all of them.
import { Readable } from 'node:stream';
import { createCoalescingLoop } from '../coalescing-loop.ts';
import type { Database } from '../db/platform/database.ts';
import type { Session } from '../domain/accounts/session.ts';
import { DomainError } from '../domain/errors.ts';
import { isBefore, readPlace, writePlace, type LiveUpdate, type Place } from '../domain/live-update.ts';
import type { Log } from '../log.ts';
import { isSessionUnchanged, readEnd, readUpdates } from '../operations/read-live-updates.ts';
import { tooManyRequests } from './middleware/rate-limit.ts';
import { liveUpdateObject } from './schemas/live-update.ts';

export type LiveStreams = {
  /**
   * Opens a stream of the updates of the session's merchant, as text of server-sent events: after `lastPlace`, or from
   * now on. The stream ends with the session, when the roles of the person change, and when the reader is too slow.
   * Throws `rate_limited` and `service_unavailable` if too many streams are open.
   */
  open(session: Session, lastPlace: string): Readable;
  /** Ends all streams, because an open stream would delay the stop of the server, and refuses new ones. */
  close(): void;
};

export type LiveStreamsOptions = {
  readonly db: Database;
  readonly log: Log;
  readonly pollEveryMs?: number;
  /** How often an idle stream sends a heartbeat, so that proxies keep it open and its reader keeps the place. */
  readonly heartbeatEveryMs?: number;
  readonly checkSessionsEveryMs?: number;
  readonly maxStreams?: number;
  readonly maxPerSession?: number;
};

type Stream = {
  readonly session: Session;
  readonly output: Readable;
  /** The place up to which the stream has sent. Null: it starts at the end, once the end is known. */
  place: Place | null;
  readonly isResumed: boolean;
  isGreeted: boolean;
  lastSentMs: number;
};

const BATCH_SIZE = 500;
/** A reader with more unread bytes is disconnected. It continues from its last place when it reconnects. */
const MAX_UNREAD_BYTES = 256 * 1024;
const RETRY_AFTER_MS = 2000;

export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { db, log, pollEveryMs = 500, heartbeatEveryMs = 15_000, checkSessionsEveryMs = 5000 } = options;
  const { maxStreams = 1000, maxPerSession = 8 } = options;
  const streams = new Set<Stream>();
  let isClosed = false;
  let sessionsCheckedMs = Date.now();

  async function poll(): Promise<void> {
    const end = await readEnd(db);
    for (const group of groupsOf(streams, end)) await advance(group, end);
    if (Date.now() - sessionsCheckedMs >= checkSessionsEveryMs) await checkSessions();
    for (const stream of streams) {
      if (Date.now() - stream.lastSentMs >= heartbeatEveryMs) send(stream, `: still here\n`, stream.place);
    }
  }

  async function advance(group: readonly Stream[], end: Place): Promise<void> {
    for (let place = group[0]?.place ?? end; isBefore(place, end);) {
      const live = group.filter(({ output }) => !output.destroyed);
      if (live.length === 0) return;
      const merchantIds = [...new Set(live.map(({ session }) => session.person.merchantId))];
      const { updates, next } = await readUpdates(db, merchantIds, { after: place, end }, BATCH_SIZE);
      for (const update of updates) tell(live, update);
      place = next;
      for (const stream of live) stream.place = next;
    }
  }

  async function checkSessions(): Promise<void> {
    sessionsCheckedMs = Date.now();
    const bySession = new Map<string, Stream[]>();
    for (const stream of streams) {
      const key = stream.session.tokenSha256.toString('hex');
      bySession.set(key, [...(bySession.get(key) ?? []), stream]);
    }
    for (const group of bySession.values()) {
      const [first] = group;
      if (!first || (await isSessionUnchanged(db, first.session, new Date()))) continue;
      for (const stream of group) finish(stream);
    }
  }

  const polls = createPolls(poll, { everyMs: pollEveryMs, isNeeded: () => streams.size > 0, log });

  return {
    open(session, lastPlace) {
      if (isClosed || streams.size >= maxStreams) throw tooManyStreams();
      const sessionStreams = [...streams].filter((stream) => stream.session.id === session.id);
      if (sessionStreams.length >= maxPerSession) {
        throw tooManyRequests('This session has too many streams open. Close some pages of the console.', 10_000);
      }
      const place = lastPlace === '' ? null : readPlace(lastPlace, new Date());
      const output = new Readable({ read: () => undefined });
      const stream = { session, output, place, isResumed: place !== null, isGreeted: false, lastSentMs: Date.now() };
      streams.add(stream);
      output.once('close', () => streams.delete(stream));
      polls.wake();
      return output;
    },
    close() {
      isClosed = true;
      polls.close();
      for (const stream of streams) finish(stream);
    },
  };
}

type Polls = { wake(): void; close(): void };
type PollsOptions = { readonly everyMs: number; readonly isNeeded: () => boolean; readonly log: Log };

/** Polls when it is woken and, while polling is needed, at intervals. */
function createPolls(poll: () => Promise<void>, { everyMs, isNeeded, log }: PollsOptions): Polls {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const loop = createCoalescingLoop({
    async pass() {
      clearTimeout(timer);
      try {
        await poll();
      } finally {
        if (isNeeded() && !isClosed) timer = setTimeout(loop.wake, everyMs);
      }
    },
    onError(error) {
      // The streams stay open: the next successful poll sends what was missed.
      log.debug({ error }, 'the live updates could not be read');
    },
  });
  return {
    wake: loop.wake,
    close() {
      isClosed = true;
      clearTimeout(timer);
      void loop.stop();
    },
  };
}

function tooManyStreams(): DomainError {
  return new DomainError('service_unavailable', 'No more streams can be opened here now. Try again.', {
    retryAfterSeconds: 5,
  });
}

/** Greets new streams, and groups all streams by their place. */
function groupsOf(streams: ReadonlySet<Stream>, end: Place): Stream[][] {
  const groups = new Map<string, Stream[]>();
  for (const stream of streams) {
    // A place beyond the end comes from another database, for example from before a restore.
    const isKnown = stream.place !== null && !isBefore(end, stream.place);
    if (!isKnown) stream.place = end;
    if (!stream.isGreeted) {
      stream.isGreeted = true;
      const data = JSON.stringify({ resumed: stream.isResumed && isKnown });
      send(stream, `retry: ${RETRY_AFTER_MS}\nevent: ready\ndata: ${data}\n`, stream.place);
    }
    const key = `${stream.place?.xid} ${stream.place?.id}`;
    groups.set(key, [...(groups.get(key) ?? []), stream]);
  }
  return [...groups.values()];
}

function tell(streams: readonly Stream[], update: LiveUpdate): void {
  const text = `event: update\ndata: ${JSON.stringify(liveUpdateObject(update))}\n`;
  for (const stream of streams) {
    if (stream.session.person.merchantId === update.merchantId) send(stream, text, update.place);
  }
}

function send(stream: Stream, text: string, place: Place | null): void {
  const { output } = stream;
  if (output.destroyed || output.readableEnded) return;
  stream.lastSentMs = Date.now();
  // The reader keeps an id without data, and shows nothing.
  const id = place === null ? '' : `id: ${writePlace(place, new Date())}\n`;
  output.push(`${id}${text}\n`);
  if (output.readableLength > MAX_UNREAD_BYTES) output.destroy();
}

function finish(stream: Stream): void {
  if (!stream.output.destroyed) stream.output.push(null);
}
