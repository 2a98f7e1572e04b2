// Repeats a query until it succeeds: through restarts of the service, and with a new session when the current one ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiRefusal, isRefusal, type Api } from './api.ts';
import type { Context, CommandLine } from './command.ts';
import { CliFailure } from './failure.ts';
import { signIn, type SignedIn } from './sign-in.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Only for queries: a call that changes something must not be repeated blindly. */
export type RetryingApi = <Value>(query: (api: Api) => Promise<Value>) => Promise<Value>;

/** Throws errors that are not temporary, and when `stop` is aborted. */
export function createRetryingApi(first: Api, line: CommandLine, context: Context): RetryingApi {
  const { terminal, stop } = context;
  let api = first;

  return async (query) => {
    let hasSignedInAgain = false;
    for (let failures = 0; ;) {
      try {
        const value = await query(api);
        if (failures > 0) terminal.say(`${api.baseUrl} answers again`);
        return value;
      } catch (error) {
        stop.throwIfAborted();
        if (isRefusal(error) && !hasSignedInAgain) {
          const signedIn = await trySignIn(line, context);
          if (signedIn) api = signedIn.api;
          hasSignedInAgain = signedIn !== null;
          continue;
        }
        if (!isTemporary(error)) throw error;
        if (failures === 0) terminal.say(`${error.message} Retrying until it does.`);
        const waitMs = error instanceof ApiRefusal ? error.retryAfterMs : null;
        await sleep(waitMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures), undefined, { signal: stop });
        failures += 1;
      }
    }
  };
}

// Null if the service is unavailable again: the query itself will then fail and wait.
async function trySignIn(line: CommandLine, context: Context): Promise<SignedIn | null> {
  try {
    return await signIn(line, context);
  } catch (error) {
    if (isTemporary(error)) return null;
    throw error;
  }
}

function isTemporary(error: unknown): error is ApiRefusal | CliFailure {
  if (error instanceof CliFailure) return error.kind === 'unreachable';
  return error instanceof ApiRefusal && (error.status >= 500 || error.status === 429);
}
