// Couriers outside of any server, and what one attempt of theirs brings back.
import { createSecretKey, randomBytes } from 'node:crypto';
import { createWebhookCourier, type CourierOptions, type WebhookCourier } from '../../src/webhooks/sender.ts';
import type { Attempt } from '../../src/domain/webhooks/delivery.ts';
import { newId } from '../../src/domain/ids.ts';
import { seal, type KeyRing } from '../../src/security/sealing.ts';
import { testLog } from './engines.ts';

const KEY_RING: KeyRing = [{ name: 'test', key: createSecretKey(randomBytes(32)) }];

export type SendOptions = {
  readonly attemptNumber?: number;
  readonly body?: string;
  /** In force, the newest first. */
  readonly secrets?: readonly [string, ...string[]];
};

export type TestCourier = WebhookCourier & {
  /** One attempt at this URL. */
  try(url: string, options?: SendOptions): Promise<Attempt>;
};

/** With limits that no test comes to by itself. */
export function openCourier(options: Partial<CourierOptions> = {}): TestCourier {
  const courier = createWebhookCourier({
    keyRing: KEY_RING,
    allowsLoopback: true,
    connectTimeoutMs: 20_000,
    attemptTimeoutMs: 40_000,
    keptConnections: 10,
    log: testLog,
    ...options,
  });
  return {
    ...courier,
    try(url, { attemptNumber = 1, body = '{}', secrets = ['whsec_test'] } = {}) {
      const endpointId = newId('whe');
      const [newest, ...older] = secrets.map((secret) => seal(secret, endpointId, KEY_RING));
      const parcel = { id: newId('dlv'), endpointId, eventId: newId('evt'), url, body };
      return courier.send({ ...parcel, secretsSealed: [newest ?? '', ...older] }, attemptNumber);
    },
  };
}
