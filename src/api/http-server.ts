// The HTTP server around the application. Requests that never reach the application get a complete error response too.
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError, errorBody } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Log } from '../log.ts';
import { breakBody } from './broken-body.ts';
import { HTTP_STATUS } from './errors.ts';
import { MAX_BODY_BYTES } from './middleware/body.ts';

const UNREADABLE = 'The request is not valid HTTP. Check how it is written.';
const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB. Send fewer or shorter ones.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it again without pauses.',
};

export type HttpServerOptions = {
  readonly limits: ServerOptions;
  readonly handle: RequestListener;
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Log;
};

/** The requests of a connection: the last one that arrived, and those whose responses are in progress. */
type Connection = { last: IncomingMessage; readonly underWay: Set<ServerResponse>; isEnding: boolean };

/**
 * Node refuses some requests by itself, without request id and body. This server adds both and closes the connection.
 * Every request gets one response. Unreadable bytes after it on the connection do not change that response, and a
 * client may end its half of the connection before the response. A response is the last one of its connection if it is
 * made before the end of a body that is too large or of unknown size: nothing more is read.
 */
export function createHttpServer({ limits, handle, headers, log }: HttpServerOptions): Server {
  const connections = new WeakMap<Duplex, Connection>();
  const server = createServer({ ...limits, requireHostHeader: false }, (request, response) => {
    const connection = track(connections, request, response);
    // Requests behind the last response of a connection would get no response.
    if (connection.isEnding) return;
    stopReadingAfter(connection, request, response);
    // Node loses bytes that follow such a request: the client would take a later response for theirs.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const fault = headerFault(request);
    if (fault === null) handle(request, response);
    else refuse(response, fault, headers);
  });
  // Missing in Node's types. Without it, the end of the client's half also ends ours, before the responses.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    track(connections, request, response);
    refuse(response, 'The only supported expectation is 100-continue. Send no other Expect header.', headers);
  });
  const end = (socket: Duplex, error: Error & { code?: string }): void => {
    const connection = connections.get(socket);
    if (socket.writable && connection && isBusy(connection)) finish(connection, socket);
    else if (socket.writable) refuseUnread(socket, error, { headers, log });
    else socket.destroy();
  };
  server.on('clientError', (error, socket) => {
    end(socket, error);
  });
  server.on('connect', (_request, socket) => {
    end(socket, new Error('a request for a tunnel'));
  });
  return server;
}

function track(
  connections: WeakMap<Duplex, Connection>,
  request: IncomingMessage,
  response: ServerResponse,
): Connection {
  const { socket } = request;
  const connection = connections.get(socket) ?? { last: request, underWay: new Set(), isEnding: false };
  connections.set(socket, connection);
  connection.last = request;
  connection.underWay.add(response);
  response.once('close', () => connection.underWay.delete(response));
  return connection;
}

// Unreadable bytes belong to a request that already has or will get its response, or they follow such a request.
function isBusy({ last, underWay }: Connection): boolean {
  return !last.complete || underWay.size > 0;
}

// Closes the connection once the responses in progress are sent. More bytes may arrive and fail until then.
function finish(connection: Connection, socket: Duplex): void {
  if (connection.isEnding) return;
  connection.isEnding = true;
  const { last, underWay } = connection;
  if (!last.complete) breakBody(last);
  const final = [...underWay].at(-1);
  if (final && !final.headersSent) final.setHeader('Connection', 'close');
  const close = (): void => void socket.end(() => socket.destroy());
  if (final) final.once('close', close);
  else close();
}

function refuseUnread(
  socket: Duplex,
  error: Error & { code?: string },
  { headers: given, log }: Pick<HttpServerOptions, 'headers' | 'log'>,
): void {
  const { status, headers, body } = refusal(MESSAGES[error.code ?? ''] ?? UNREADABLE, given);
  log.debug({ error, requestId: headers['Malipo-Request-Id'] }, 'a request could not be read');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () => {
    socket.destroy();
  });
}

// Of two such headers Node uses the first or the last, or joins them. A proxy in front may choose differently.
const SENT_ONCE = ['Host', 'Authorization', 'Content-Type', 'Idempotency-Key'];

function headerFault({ httpVersionMajor, httpVersionMinor, headersDistinct, url }: IncomingMessage): string | null {
  const countOf = (name: string) => headersDistinct[name.toLowerCase()]?.length ?? 0;
  // An operator sends a callback once, so it is read whatever its media type.
  const decisive = url?.startsWith('/operators/') ? ['Host'] : SENT_ONCE;
  const repeated = decisive.find((name) => countOf(name) > 1);
  if (repeated !== undefined) return `A request has one ${repeated} header only. Send no second one.`;
  const needsHost = httpVersionMajor === 1 && httpVersionMinor === 1;
  return needsHost && countOf('Host') === 0 ? 'A request needs a Host header.' : null;
}

/** How long a client may take to receive the last response of a connection while it still sends its request. */
const LINGER_MS = 1000;

// Node would read the whole rest of the body, or close at once: a client that still sends then loses the response.
function stopReadingAfter(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    if (!isBounded(request)) {
      connection.isEnding = true;
      response.shouldKeepAlive = false;
      // With a listener Node leaves the body to this code, and a paused body is not read.
      request.on('data', () => undefined).pause();
      socket.destroySoon = () => {
        socket.end();
        setTimeout(() => socket.destroy(), LINGER_MS).unref();
      };
    }
    return writeHead(...args);
  };
}

// The rest of a body of the usual size is read and dropped, and the connection serves further requests.
function isBounded({ complete, headers }: IncomingMessage): boolean {
  const isSized = headers['transfer-encoding'] === undefined;
  return complete || (isSized && Number(headers['content-length'] ?? 0) <= MAX_BODY_BYTES);
}

function refuse(response: ServerResponse, message: string, given: HttpServerOptions['headers']): void {
  const { status, headers, body } = refusal(message, given);
  response.writeHead(status, headers).end(body);
}

function refusal(message: string, given: HttpServerOptions['headers']) {
  const error = new DomainError('body_malformed', message);
  const requestId = newId('req');
  const body = JSON.stringify(errorBody(error, requestId));
  const headers: Record<string, string> & { 'Malipo-Request-Id': string } = {
    ...given,
    'Malipo-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  return { status: HTTP_STATUS[error.category], headers, body };
}
