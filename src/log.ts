// The log: JSON lines on standard output, with everything secret or personal taken out.
import { pino, type Logger } from 'pino';

export type Log = Logger;

const REDACTED = [
  'authorization',
  'secret',
  'secretSealed',
  'password',
  'token',
  'phone',
  'headers.authorization',
  'headers.cookie',
];

export function createLog(options: { readonly level: string; readonly process: string }): Log {
  return pino({
    level: options.level,
    base: { process: options.process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: [...REDACTED, ...REDACTED.map((path) => `*.${path}`)], censor: '***' },
    serializers: { error: pino.stdSerializers.errWithCause },
    formatters: { level: (label) => ({ level: label }) },
  });
}
