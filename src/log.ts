// The log: JSON lines on standard output, without secrets or personal data.
import { isNativeError } from 'node:util/types';
import { pino, type DestinationStream, type Logger } from 'pino';
import { isPaymentId, traceIdOf } from './domain/trace.ts';

export type Log = Logger;

const REDACTED = [
  'authorization',
  'secret',
  'secretSealed',
  'secretsSealed',
  'password',
  'token',
  'phone',
  'headers.authorization',
  'headers.cookie',
];

/** Lines that cannot be written now are written later, up to this size; further ones are dropped. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024;

export function createLog(options: {
  readonly level: string;
  readonly process: string;
  /** In place of standard output. */
  readonly destination?: DestinationStream;
}): Log {
  const settings = {
    level: options.level,
    base: { process: options.process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: [...REDACTED, ...REDACTED.map((path) => `*.${path}`)], censor: '***' },
    // `err` is pino's own name for an error that is logged by itself.
    serializers: { error: describeError, err: describeError },
    formatters: { level: (label: string) => ({ level: label }), log: withTrace },
  };
  return pino(settings, options.destination ?? standardOutput());
}

// Written at once, line by line: what is buffered would be written once more at the end of the process, and that would wait
// for a full disk for ever.
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: process.stdout.fd, sync: true, maxLength: MOST_UNWRITTEN_BYTES });
  // Without a listener, a line that cannot be written because the disk is full would end the process.
  output.on('error', () => undefined);
  return output;
}

/** Each line about a payment has its trace, and its id under one name. */
function withTrace(line: Record<string, unknown>): Record<string, unknown> {
  const paymentId = [line['paymentId'], line['id']].find(isPaymentId);
  return paymentId === undefined ? line : { ...line, paymentId, traceId: line['traceId'] ?? traceIdOf(paymentId) };
}

// A longer chain of causes, or a circular one, is cut here.
const MAX_CAUSES = 5;

/** The only fields of errors that are logged: others can hold refused rows, requests and responses. */
function describeError(error: unknown, depth = 0): unknown {
  if (!isError(error)) return typeof error === 'object' && error !== null ? 'not an Error' : error;
  const { code, constraint, table, errors } = error as Readonly<Record<string, unknown>> & Error;
  const isDeep = depth >= MAX_CAUSES;
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    ...(isPlain(code) && { code }),
    ...(isPlain(constraint) && { constraint }),
    ...(isPlain(table) && { table }),
    ...(Array.isArray(errors) && !isDeep && { errors: errors.map((each) => describeError(each, depth + 1)) }),
    ...(error.cause !== undefined && !isDeep && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** Workflow code has an `Error` of its own. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
