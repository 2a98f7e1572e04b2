// Logs requests that tried to get round a control: a bounded number of lines a minute, without personal data.
import type { DomainError, ErrorCode } from '../domain/errors.ts';
import type { ErrorCategory } from '../domain/error-codes.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';

export type RefusedRequest = {
  readonly requestId: string;
  readonly method: string;
  /** The path template of the route; null if the request reached none. */
  readonly route: string | null;
  /** The network that counts as one client. */
  readonly network: string;
  readonly merchantId: MerchantId | undefined;
};

const WINDOW_MS = 60_000;
/** For each code in a window, so that no kind of refusal hides another, and all kinds together are bounded. */
const MAX_LINES_PER_CODE = 10;

const CATEGORIES: ReadonlySet<ErrorCategory> = new Set<ErrorCategory>([
  'unauthenticated',
  'forbidden',
  'not_found',
  'rate_limited',
  'too_large',
  'unsupported_media',
]);
// A mistyped phone number or an empty field is no attempt to get round a control.
const CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'approval_self',
  'body_malformed',
  'cursor_invalid',
  'parameter_invalid',
  'parameter_unknown',
]);
/** Refusals of a caller who has only arrived and has tried nothing. */
const HARMLESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['api_key_missing', 'route_not_found']);
export const NO_SESSION = 'no session';

/** Whether this refusal may be caused by an attempt to get round a control. */
export function isAttempt({ code, category, reason }: Pick<DomainError, 'code' | 'category' | 'reason'>): boolean {
  if (HARMLESS.has(code) || reason === NO_SESSION) return false;
  return CATEGORIES.has(category) || CODES.has(code);
}

/**
 * Returns a function that logs a refusal at `warn`: in each process once a minute for each code, reason and client, and
 * at most ten lines a minute for a code. `leftOut` counts the refusals that were not written since the previous line.
 */
export function createRefusalLog(
  log: Pick<Log, 'warn'>,
  nowMs: () => number = () => performance.now(),
): (error: DomainError, request: RefusedRequest) => void {
  const written = new Map<ErrorCode, Set<string>>();
  let windowEndsMs = -Infinity;
  let leftOut = 0;
  return (error, { network, ...request }) => {
    if (!isAttempt(error)) return;
    const now = nowMs();
    if (now >= windowEndsMs) {
      written.clear();
      windowEndsMs = now + WINDOW_MS;
    }
    const { code, reason } = error;
    const ofCode = written.get(code) ?? new Set<string>();
    const key = `${network} ${reason}`;
    if (ofCode.has(key) || ofCode.size >= MAX_LINES_PER_CODE) {
      leftOut += 1;
      return;
    }
    written.set(code, ofCode.add(key));
    log.warn({ ...request, address: network, code, reason, leftOut }, 'a request was refused');
    leftOut = 0;
  };
}
