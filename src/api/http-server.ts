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
import { HTTP_STATUS } from './errors.ts';

const UNREADABLE = 'The request is not HTTP as we can read it. Check how it is written.';
const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB. Send fewer or shorter ones.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it again, all of it at once.',
};

/**
 * Node refuses some requests by itself, without request id and body. Here they get both, and the connection is closed.
 */
export function createHttpServer(options: ServerOptions, handle: RequestListener, log: Log): Server {
  const server = createServer({ ...options, requireHostHeader: false }, (request, response) => {
    if (lacksHost(request)) refuse(response, 'A request needs a Host header.');
    else handle(request, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, 'The only expectation we meet is 100-continue. Send no other Expect header.');
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (!socket.writable || isResponding(socket)) {
      socket.destroy();
      return;
    }
    const { status, headers, body } = refusal(MESSAGES[error.code ?? ''] ?? UNREADABLE);
    log.debug({ error, requestId: headers['Malipo-Request-Id'] }, 'a request could not be read');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () => {
      socket.destroy();
    });
  });
  return server;
}

function lacksHost({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor === 1 && headers.host === undefined;
}

function refuse(response: ServerResponse, message: string): void {
  const { status, headers, body } = refusal(message);
  response.writeHead(status, headers).end(body);
}

function refusal(message: string) {
  const error = new DomainError('body_malformed', message);
  const requestId = newId('req');
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = {
    'Malipo-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  return { status: HTTP_STATUS[error.category], headers, body };
}

// Once a response has begun, anything else we write would be read as part of it. Node keeps the response in a private
// field.
function isResponding(socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
