// The log: JSON lines on standard output, with everything secret or personal taken out.
import { pino, type DestinationStream, type Logger } from 'pino';

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

export function createLog(options: {
  readonly level: string;
  readonly process: string;
  /** Instead of standard output. */
  readonly destination?: DestinationStream;
}): Log {
  const settings = {
    level: options.level,
    base: { process: options.process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: [...REDACTED, ...REDACTED.map((path) => `*.${path}`)], censor: '***' },
    // `err` is pino's own name for an error that is logged by itself.
    serializers: { error: describeError, err: describeError },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return options.destination ? pino(settings, options.destination) : pino(settings);
}

// Deeper, or in a ring, says nothing more.
const MAX_CAUSES = 5;

/**
 * What is written of an error: these fields by name and no others. A database's error has the whole refused row in its
 * `detail`, and what other libraries hang onto theirs is requests and answers.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' && error !== null ? 'not an Error' : error;
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

function isPlain(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
