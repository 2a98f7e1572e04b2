// Sends one webhook attempt: signed, guarded, bounded in time and in what it reads back.
import { Agent, request } from 'undici';
import type { Attempt, AttemptResult } from '../domain/webhooks/delivery.ts';
import type { DeliveryId, EndpointId, EventId } from '../domain/ids.ts';
import { open, type KeyRing } from '../security/sealing.ts';
import { signatureHeader } from '../security/webhook-signature.ts';
import type { Log } from '../log.ts';
import { createAddressGuard, type AddressGuard } from './address-guard.ts';
import { readAnswer } from './response.ts';
import { describeFailure, InterimAnswersError, type AttemptLimits } from './attempt-failure.ts';

export type WebhookSenderOptions = AttemptLimits & {
  readonly keyRing: KeyRing;
  readonly allowsLoopback: boolean;
  /** How many connections may be kept open for later attempts, of all receivers together. */
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
  /** Those in force, the newest first: more than one while a rotation overlaps. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
};

export type WebhookSender = {
  /**
   * Never throws for what the receiver, the network or a lost key does: that is a result, to be recorded like any. Begins
   * at once, however many are under way: bounds are the caller's, so that no attempt's time holds another's.
   */
  send(webhook: WebhookRequest, attemptNumber: number): Promise<Attempt>;
  close(): Promise<void>;
};

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_INTERIM_ANSWERS = 10;
/** Below the five seconds after which common servers close, so that few requests meet one just closed; never longer. */
const KEPT_FOR_MS = 4000;

export function createWebhookSender(given: WebhookSenderOptions): WebhookSender {
  const { attemptTimeoutMs, keptConnections } = given;
  // An attempt cannot be broken off while it connects: so that must not be allowed to take longer than the whole.
  const connectTimeoutMs = Math.min(given.connectTimeoutMs, attemptTimeoutMs);
  const options = { ...given, connectTimeoutMs };
  // What is left of the time to connect tells a slow name server from a slow host.
  const guard = createAddressGuard({ ...options, timeoutMs: Math.ceil(connectTimeoutMs * 0.8) });
  const agent = createAgent(guard, connectTimeoutMs);
  let connections = 0;
  let underWay = 0;
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
    let interimAnswers = 0;
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
        // Not kept for later when there are many: with thousands of receivers they would pile up.
        reset: connections + underWay > keptConnections,
        signal: AbortSignal.timeout(attemptTimeoutMs),
        onInfo() {
          interimAnswers += 1;
          if (interimAnswers > MAX_INTERIM_ANSWERS) throw new InterimAnswersError();
        },
      });
      return await readAnswer(response);
    } catch (error) {
      return { kind: 'no_answer', error: nameFailure(error, webhook, options) };
    }
  }

  return {
    async send(webhook, attemptNumber) {
      const startedAt = new Date();
      const startedMs = performance.now();
      underWay += 1;
      try {
        const result = await attempt(webhook, attemptNumber, startedAt);
        return { startedAt, durationMs: Math.round(performance.now() - startedMs), result };
      } finally {
        underWay -= 1;
      }
    },
    // Idle connections of strangers are no reason to wait.
    async close() {
      guard.close();
      await agent.destroy();
    },
  };
}

function createAgent(guard: AddressGuard, connectTimeoutMs: number): Agent {
  return new Agent({
    connect: {
      lookup: guard.lookup,
      timeout: connectTimeoutMs,
      // Said here, it stands above NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      autoSelectFamily: true,
      // The usual quarter of a second is less than a far network's round trip, and would leave each host too early.
      autoSelectFamilyAttemptTimeout: Math.max(10, Math.ceil(connectTimeoutMs / 4)),
    },
    // A connection of its own for each: none waits for another's answer.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: KEPT_FOR_MS,
    keepAliveMaxTimeout: KEPT_FOR_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // One clock for all of it: the attempt's own.
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
    // No receiver can mend that: a key is gone from our configuration, or somebody altered the row.
    log.error({ error, deliveryId: id, endpointId }, 'a signing secret cannot be opened');
    return null;
  }
}

function nameFailure(error: unknown, { id, endpointId }: WebhookRequest, options: WebhookSenderOptions): string {
  const described = describeFailure(error, options);
  if (described !== null) return described;
  options.log.warn({ error, deliveryId: id, endpointId }, 'an attempt failed in a way that has no wording');
  return 'the attempt failed';
}
