// Describes to a merchant why an attempt got no response.
import { IncompleteResponseError } from './response.ts';

export type AttemptLimits = {
  readonly connectTimeoutMs: number;
  /** The whole attempt, from the look-up of the name to the last byte read. */
  readonly attemptTimeoutMs: number;
};

const CLOSED = 'the connection was closed before an answer arrived';
const UNREACHABLE = 'the host cannot be reached';
const NOT_HTTP = 'the answer is not valid HTTP';
const UNTRUSTED = 'the certificate is not signed by a trusted authority';

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  UND_ERR_SOCKET: CLOSED,
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are larger than 16 KiB',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: NOT_HTTP,
  TOO_MANY_INTERIM_RESPONSES: 'the receiver sent too many interim answers',
  PROTOCOL_SWITCHED: 'the receiver changed to another protocol (101)',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** The description, or null for an error that receivers, networks and name servers do not cause. */
export function describeFailure(error: unknown, limits: AttemptLimits): string | null {
  if (error instanceof IncompleteResponseError) {
    const received = `status ${error.statusCode} and ${error.bodyBytes} bytes of its body arrived`;
    const why = isTimeout(error.cause) ? timeoutText(limits) : 'the answer ended before it was complete';
    return `${why}: ${received}`;
  }
  if (isTimeout(error)) return timeoutText(limits);
  if (error instanceof Error && error.name === 'HTTPParserError') return NOT_HTTP;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  if (error.code === 'ADDRESS_REFUSED' || error.code === 'NAME_LOOKUP_FAILED') return `not sent: ${error.message}`;
  if (error.code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${inSeconds(limits.connectTimeoutMs)}`;
  // A response without a request.
  if (error.code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')) return NOT_HTTP;
  if (error.code === 'ERR_ASSERTION') return NOT_HTTP;
  const described = BY_CODE[error.code];
  if (described !== undefined) return described;
  return /^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(error.code) ? 'the TLS handshake failed' : null;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function timeoutText({ attemptTimeoutMs }: AttemptLimits): string {
  return `no complete answer within ${inSeconds(attemptTimeoutMs)}`;
}

function inSeconds(ms: number): string {
  return `${ms / 1000} s`;
}
