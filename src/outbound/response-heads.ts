// Reads the heads of responses on a connection of undici, which accepts neither 100 (Continue) nor a folded header.
import type { Socket } from 'node:net';

/** More interim (1xx) responses came than are accepted before the response itself. */
export class InterimResponsesError extends Error {
  readonly code = 'TOO_MANY_INTERIM_RESPONSES';
}

/** 101 came: what follows is not HTTP, and no request asked for another protocol. */
export class ProtocolSwitchedError extends Error {
  readonly code = 'PROTOCOL_SWITCHED';
}

export const MAX_HEAD_BYTES = 16 * 1024;
const MAX_INTERIM_RESPONSES = 10;
const BEGINNING = 'HTTP/1.';

/**
 * From now on, undici gets of each response on this connection only what it can read: no interim response, and the final head with
 * its lines unfolded and ended by CRLF (RFC 9110, 15.2; RFC 9112, 2.2 and 5.2). Too many interim responses, and 101, end the connection
 * with their errors. It relies on undici having one request at a time on a connection, writing it whole, and reading by `read` alone.
 */
export function readResponseHeads(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const read = socket.read.bind(socket) as () => Buffer | null;
  let readHead: HeadReader | null = null;

  socket.write = (...args: unknown[]) => {
    readHead ??= createHeadReader();
    return write(...args);
  };
  socket.read = () => {
    try {
      for (let chunk = read(); chunk !== null; chunk = read()) {
        const bytes = readHead === null ? chunk : readHead(chunk);
        if (bytes === null) continue;
        readHead = null;
        return bytes;
      }
    } catch (error) {
      socket.destroy(error as InterimResponsesError | ProtocolSwitchedError);
    }
    return null;
  };
}

/** Returns what undici gets, from the final head on; null while that has not arrived as a whole. */
type HeadReader = (chunk: Buffer) => Buffer | null;

function createHeadReader(): HeadReader {
  let held: Buffer = Buffer.alloc(0);
  let interimResponses = 0;
  let searched = 0;
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      // The end of a head may have begun in what was searched before.
      const from = Math.max(0, searched - 3);
      const end = /\r?\n\r?\n/.exec(held.toString('latin1', from, MAX_HEAD_BYTES));
      searched = end === null ? held.length : 0;
      // Undici says what is wrong with a head that is too large, or with bytes that are none.
      if (end === null) return held.length < MAX_HEAD_BYTES && mayBecomeHead(held) ? null : held;
      const head = held.toString('latin1', 0, from + end.index);
      const rest = held.subarray(from + end.index + end[0].length);
      const [, status] = /^HTTP\/1\.[01] (1\d\d)(?!\d)/.exec(head) ?? [];
      if (status === undefined) return isPlain(head, end[0]) ? held : Buffer.concat([plain(head), rest]);
      if (status === '101') throw new ProtocolSwitchedError('the connection changed to another protocol');
      interimResponses += 1;
      if (interimResponses > MAX_INTERIM_RESPONSES) throw new InterimResponsesError('too many interim responses');
      held = rest;
    }
  };
}

function mayBecomeHead(held: Buffer): boolean {
  const text = held.toString('latin1', 0, BEGINNING.length);
  return text.startsWith(BEGINNING) || BEGINNING.startsWith(text);
}

function isPlain(head: string, end: string): boolean {
  return end === '\r\n\r\n' && !/(?<!\r)\n|\n[ \t]/.test(head);
}

function plain(head: string): Buffer {
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
