// Sends callbacks as a mobile-money operator does: once, unsigned, whatever the response.
import { Agent } from 'undici';
import type { SandboxSettings } from './sandbox-config.ts';

type CallbackResult = { readonly isSent: boolean; readonly result: string };

export type CallbackSender = {
  /** Never rejects. The result is for example `http 200`, or the reason why there was no response. */
  send(url: string, body: unknown): Promise<CallbackResult>;
  close(): Promise<void>;
};

const MAX_RESPONSE_BYTES = 64 * 1024;
/** Distinct receivers with open connections. */
const MAX_ORIGINS = 64;

export function createCallbackSender({ limits, times, callbackMethod }: SandboxSettings): CallbackSender {
  const agent = new Agent({
    connections: limits.callbackConnections,
    pipelining: 1,
    connect: { timeout: times.callbackTimeoutMs },
    headersTimeout: times.callbackTimeoutMs,
    bodyTimeout: times.callbackTimeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
    maxOrigins: MAX_ORIGINS,
  });
  let underWay = 0;

  return {
    async send(url, body) {
      if (underWay >= limits.callbacks) return { isSent: false, result: 'dropped: too many in progress' };
      underWay += 1;
      try {
        const { origin, pathname, search } = new URL(url);
        const response = await agent.request({
          origin,
          path: pathname + search,
          method: callbackMethod,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(times.callbackTimeoutMs),
        });
        await response.body.dump();
        return { isSent: true, result: `http ${response.statusCode}` };
      } catch (error) {
        return { isSent: true, result: nameOf(error) };
      } finally {
        underWay -= 1;
      }
    },
    close: () => agent.destroy(),
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
