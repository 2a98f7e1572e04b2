// Sends one webhook attempt: signed, to public addresses only, with limits on its time and on the response it reads.
import { Agent, request } from 'undici';
import type { Attempt, AttemptResult } from '../domain/webhooks/delivery.ts';
import type { DeliveryId, EndpointId, EventId } from '../domain/ids.ts';
import { open, type KeyRing } from '../security/sealing.ts';
import { signatureHeader } from '../security/webhook-signature.ts';
import type { Log } from '../log.ts';
import { createConnector } from '../outbound/connector.ts';
import { MAX_HEAD_BYTES } from '../outbound/response-heads.ts';
import { createAddressGuard, type AddressGuard } from './address-guard.ts';
import { readResponse } from './response.ts';
import { describeFailure, type AttemptLimits } from './attempt-failure.ts';

export type WebhookSenderOptions = AttemptLimits & {
  readonly keyRing: KeyRing;
  readonly allowsLoopback: boolean;
  /** How many connections may stay open for later attempts, to all receivers together. */
  readonly keptConnections: number;
  /** `address` or `address:port`; the machine's own when absent. */
  readonly nameServers?: readonly string[];
  readonly log: Log;
};

export type WebhookRequest = {
  readonly id: DeliveryId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly url: string;
  /** The secrets in force, the newest first: two while a rotation overlaps. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
};

export type WebhookSender = {
  /**
   * Never throws because of the receiver, the network or a lost key: such a failure is a result, recorded like any
   * other. Starts at once, however many attempts are in flight: callers enforce the limits, so no attempt waits within
   * its time limit.
   */
  send(webhook: WebhookRequest, attemptNumber: number): Promise<Attempt>;
  close(): Promise<void>;
};

/** Less than the five seconds after which common servers close, so that few requests meet a closed connection. */
const KEEP_ALIVE_MS = 4000;

export function createWebhookSender(given: WebhookSenderOptions): WebhookSender {
  const { attemptTimeoutMs, keptConnections } = given;
  // An attempt cannot be aborted while it connects, so connecting must not be allowed more time than the whole attempt.
  const connectTimeoutMs = Math.min(given.connectTimeoutMs, attemptTimeoutMs);
  const options = { ...given, connectTimeoutMs };
  // The rest of the time to connect distinguishes a slow name server from a slow host.
  const guard = createAddressGuard({ ...options, timeoutMs: Math.ceil(connectTimeoutMs * 0.8) });
  const agent = createAgent(guard, connectTimeoutMs);
  let connections = 0;
  let inFlight = 0;
  agent.on('connect', () => {
    connections += 1;
  });
  agent.on('disconnect', () => {
    connections -= 1;
  });

  async function attempt(webhook: WebhookRequest, attemptNumber: number, at: Date): Promise<AttemptResult> {
    const refusal = guard.refuseUrl(webhook.url);
    if (refusal !== null) return { kind: 'no_answer', error: `not sent: ${refusal}` };
    const secrets = openSecrets(webhook, options);
    if (secrets === null) return { kind: 'no_answer', error: 'not sent: the signing secret cannot be opened' };
    const body = Buffer.from(webhook.body);
    try {
      const response = await request(webhook.url, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'malipo-signature': signatureHeader(body, secrets, Math.floor(at.getTime() / 1000)),
          'malipo-event-id': webhook.eventId,
          'malipo-delivery-id': webhook.id,
          'malipo-attempt': String(attemptNumber),
          'user-agent': 'Malipo-Webhooks/1',
        },
        body,
        // Closes the connection after the response if there are many: thousands of receivers would accumulate them.
        reset: connections + inFlight > keptConnections,
        signal: AbortSignal.timeout(attemptTimeoutMs),
      });
      return await readResponse(response);
    } catch (error) {
      return { kind: 'no_answer', error: failureText(error, webhook, options) };
    }
  }

  return {
    async send(webhook, attemptNumber) {
      const startedAt = new Date();
      const startedMs = performance.now();
      inFlight += 1;
      try {
        const result = await attempt(webhook, attemptNumber, startedAt);
        return { startedAt, durationMs: Math.round(performance.now() - startedMs), result };
      } finally {
        inFlight -= 1;
      }
    },
    // Does not wait for connections that receivers keep open.
    async close() {
      guard.close();
      await agent.destroy();
    },
  };
}

function createAgent(guard: AddressGuard, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: createConnector({
      lookup: guard.lookup,
      timeout: connectTimeoutMs,
      autoSelectFamily: true,
      // The default of 250 ms is shorter than the round trip to a distant network and would give up on each host too early.
      autoSelectFamilyAttemptTimeout: Math.max(10, Math.ceil(connectTimeoutMs / 4)),
    }),
    // Each request has a separate connection: none waits for another's response.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    // The attempt's own time limit covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function openSecrets(
  { id, endpointId, secretsSealed }: WebhookRequest,
  { keyRing, log }: WebhookSenderOptions,
): string[] | null {
  try {
    return secretsSealed.map((sealed) => open(sealed, endpointId, keyRing));
  } catch (error) {
    // The receiver did not cause this: a key is missing from our configuration, or somebody altered the row.
    log.error({ error, deliveryId: id, endpointId }, 'a signing secret cannot be opened');
    return null;
  }
}

function failureText(error: unknown, { id, endpointId }: WebhookRequest, options: WebhookSenderOptions): string {
  const described = describeFailure(error, options);
  if (described !== null) return described;
  options.log.warn({ error, deliveryId: id, endpointId }, 'an attempt failed with an unknown error');
  return 'the attempt failed';
}
