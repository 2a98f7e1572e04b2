// The HTTP server around the application, which gives a complete error response to what never reaches the application.
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

const UNREADABLE = 'The request is not HTTP as we can read it. Check how it is written.';
const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB. Send fewer or shorter ones.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it again, all of it at once.',
};

export type HttpServerOptions = {
  readonly limits: ServerOptions;
  readonly handle: RequestListener;
  /** Of every response that the application does not make. */
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Log;
};

/** The requests of a connection: the last one that arrived, and those whose responses are under way. */
type Connection = { last: IncomingMessage; readonly underWay: Set<ServerResponse>; isEnding: boolean };

/**
 * Node refuses some requests by itself, without request id and body. Here they get both, and the connection is closed.
 *
 * Every request gets one response: what follows it on the connection and cannot be read changes nothing about it, and a
 * client may end its half of the connection before the response.
 */
export function createHttpServer({ limits, handle, headers, log }: HttpServerOptions): Server {
  const connections = new WeakMap<Duplex, Connection>();
  const server = createServer({ ...limits, requireHostHeader: false }, (request, response) => {
    track(connections, request, response);
    // We speak no other protocol. Node loses the bytes that follow such a request at once: a later response would be taken for theirs.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const fault = hostFault(request);
    if (fault === null) handle(request, response);
    else refuse(response, fault, headers);
  });
  // Node's types do not know it: without it, the end of the client's half ends ours too, responses or not.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    track(connections, request, response);
    refuse(response, 'The only expectation we meet is 100-continue. Send no other Expect header.', headers);
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

function track(connections: WeakMap<Duplex, Connection>, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const connection = connections.get(socket) ?? { last: request, underWay: new Set(), isEnding: false };
  connections.set(socket, connection);
  connection.last = request;
  connection.underWay.add(response);
  response.once('close', () => connection.underWay.delete(response));
}

// What cannot be read belongs to a request that has its response already or will get it, or follows such a request.
function isBusy({ last, underWay }: Connection): boolean {
  return !last.complete || underWay.size > 0;
}

// Closes the connection when the responses that are under way are sent. More bytes may arrive, and fail, until then.
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

function hostFault({ httpVersionMajor, httpVersionMinor, headersDistinct }: IncomingMessage): string | null {
  const hosts = headersDistinct['host']?.length ?? 0;
  if (hosts > 1) return 'A request has one Host header. Send no second one.';
  return hosts === 0 && httpVersionMajor === 1 && httpVersionMinor === 1 ? 'A request needs a Host header.' : null;
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
