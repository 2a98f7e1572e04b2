// Webhook senders outside of any server, and the result of one attempt.
import { createSecretKey, randomBytes } from 'node:crypto';
import { createWebhookSender, type WebhookSenderOptions, type WebhookSender } from '../../src/webhooks/sender.ts';
import type { Attempt } from '../../src/domain/webhooks/delivery.ts';
import { newId } from '../../src/domain/ids.ts';
import { seal, type KeyRing } from '../../src/security/sealing.ts';
import { startCountedListener, type CountedListener, type CountedListenerOptions } from './counted-listener.ts';
import { testLog } from './engines.ts';

const KEY_RING: KeyRing = [{ name: 'test', key: createSecretKey(randomBytes(32)) }];

export type SendOptions = {
  readonly attemptNumber?: number;
  readonly body?: string;
  /** The active secrets, newest first. */
  readonly secrets?: readonly [string, ...string[]];
};

export type TestSender = WebhookSender & {
  /** Makes one attempt at this URL. */
  try(url: string, options?: SendOptions): Promise<Attempt>;
};

/** Opens a sender whose limits no test reaches by accident. */
export function openTestSender(options: Partial<WebhookSenderOptions> = {}): TestSender {
  const sender = createWebhookSender({
    keyRing: KEY_RING,
    allowsLoopback: true,
    connectTimeoutMs: 20_000,
    attemptTimeoutMs: 40_000,
    keptConnections: 10,
    log: testLog,
    ...options,
  });
  return {
    ...sender,
    try(url, { attemptNumber = 1, body = '{}', secrets = ['whsec_test'] } = {}) {
      const endpointId = newId('whe');
      const [newest, ...older] = secrets.map((secret) => seal(secret, endpointId, KEY_RING));
      const webhook = { id: newId('dlv'), endpointId, eventId: newId('evt'), url, body };
      return sender.send({ ...webhook, secretsSealed: [newest ?? '', ...older] }, attemptNumber);
    },
  };
}

/** Opens senders and listeners on the loopback address, which end with the test. */
export function useSenders() {
  const listeners: CountedListener[] = [];
  const senders: TestSender[] = [];
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
  });
  return {
    open: (options: Parameters<typeof openTestSender>[0] = {}): TestSender => {
      const sender = openTestSender(options);
      senders.push(sender);
      return sender;
    },
    listen: async (options: CountedListenerOptions = {}): Promise<CountedListener> => {
      const listener = await startCountedListener({ host: '127.0.0.1', ...options });
      listeners.push(listener);
      return listener;
    },
  };
}

export const urlOf = ({ port }: CountedListener): string => `http://127.0.0.1:${port}/hook`;
