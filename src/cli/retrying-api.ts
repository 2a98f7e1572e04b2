// Asks until there is an answer: through restarts of the service, and past the end of a session that can be opened anew.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiRefusal, type Api } from './api.ts';
import type { Context, Line } from './command.ts';
import { CliFailure } from './failure.ts';
import { signIn } from './sign-in.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Only for questions: what changes something must not be repeated without thought. */
export type Persistence = <Value>(ask: (api: Api) => Promise<Value>) => Promise<Value>;

/** Throws what does not pass by itself, and when `stop` comes. */
export function createPersistence(first: Api, line: Line, context: Context): Persistence {
  const { terminal, stop } = context;
  let api = first;

  return async (ask) => {
    let hasAskedAnew = false;
    for (let failures = 0; ;) {
      try {
        const value = await ask(api);
        if (failures > 0) terminal.say(`${api.baseUrl} answers again`);
        return value;
      } catch (error) {
        stop.throwIfAborted();
        if (error instanceof ApiRefusal && error.status === 403 && !hasAskedAnew) {
          const opened = await whenUp(() => signIn(line, context));
          if (opened) api = opened.api;
          hasAskedAnew = opened !== null;
          continue;
        }
        if (!isPassing(error)) throw error;
        if (failures === 0) terminal.say(`${error.message} Trying again until it does.`);
        const waitMs = error instanceof ApiRefusal ? error.retryAfterMs : null;
        await sleep(waitMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures), undefined, { signal: stop });
        failures += 1;
      }
    }
  };
}

// Away again in the middle: the question itself finds that out and waits.
async function whenUp<Value>(ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    if (isPassing(error)) return null;
    throw error;
  }
}

function isPassing(error: unknown): error is ApiRefusal | CliFailure {
  if (error instanceof CliFailure) return error.kind === 'unreachable';
  return error instanceof ApiRefusal && (error.status >= 500 || error.status === 429);
}
