// Webhook endpoints: their states, limits and secrets, and the object that a merchant sees.
import type { PaymentEventType } from '../event.ts';
import { newId, type DeliveryId, type EndpointId, type MerchantId } from '../ids.ts';

export const ENDPOINT_STATES = ['enabled', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** A limit, because the transaction of a payment's change writes one delivery for each endpoint. */
export const MAX_ENDPOINTS_PER_MERCHANT = 16;

/** Why nothing is sent to an endpoint: a person disabled it, it answered 410, every attempt failed for days, or it is deleted. */
export type DisabledReason = ShownDisabledReason | 'deleted';
export const SHOWN_DISABLED_REASONS = ['by_person', 'answered_gone', 'failing'] as const;
type ShownDisabledReason = (typeof SHOWN_DISABLED_REASONS)[number];

/** The longest time that a rotated secret also signs beside the new one. */
export const MAX_SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** An endpoint that is not deleted, without its secrets. */
export type Endpoint = {
  readonly id: EndpointId;
  readonly merchantId: MerchantId;
  readonly url: string;
  readonly description: string | null;
  /** Null: every type. */
  readonly eventTypes: readonly PaymentEventType[] | null;
  readonly state: EndpointState;
  readonly disabledReason: ShownDisabledReason | null;
  readonly disabledAt: Date | null;
  /** When the first attempt after the last accepted one failed; null while the endpoint is not failing. */
  readonly failingSince: Date | null;
  /** Until when the previous secret also signs. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** With its signing secret, which is shown only once: the database keeps only its sealed form. */
export type EndpointWithSecret = Endpoint & { readonly secret: string };

export type EndpointSettings = Pick<Endpoint, 'url' | 'description' | 'eventTypes' | 'state'>;

/** The endpoint after the changes, or the same object if none. A new URL, or enabling, clears `failingSince`. */
export function changedEndpoint(endpoint: Endpoint, changes: Partial<EndpointSettings>, at: Date): Endpoint {
  const next = { ...endpoint, ...changes };
  if (isSameSettings(endpoint, next)) return endpoint;
  const isEnabled = endpoint.state === 'disabled' && next.state === 'enabled';
  const isDisabled = endpoint.state === 'enabled' && next.state === 'disabled';
  return {
    ...next,
    ...(isEnabled && { disabledReason: null, disabledAt: null }),
    ...(isDisabled && { disabledReason: 'by_person', disabledAt: at }),
    failingSince: isEnabled || next.url !== endpoint.url ? null : endpoint.failingSince,
    updatedAt: at,
  };
}

function isSameSettings(one: EndpointSettings, other: EndpointSettings): boolean {
  return (
    one.url === other.url &&
    one.description === other.description &&
    one.state === other.state &&
    JSON.stringify(one.eventTypes) === JSON.stringify(other.eventTypes)
  );
}

/** The endpoint at `at` as a merchant sees it; `failingLimitMs` is how long it may fail before it is disabled. */
export function endpointObject(
  endpoint: Endpoint,
  { at, failingLimitMs }: { readonly at: Date; readonly failingLimitMs: number },
) {
  const { state, failingSince, previousSecretUntil } = endpoint;
  const isOverlapping = previousSecretUntil !== null && previousSecretUntil > at;
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    event_types: endpoint.eventTypes === null ? null : [...endpoint.eventTypes],
    state,
    disabled_reason: endpoint.disabledReason,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    failing_since: failingSince?.toISOString() ?? null,
    will_be_disabled_at:
      state === 'enabled' && failingSince !== null
        ? new Date(failingSince.getTime() + failingLimitMs).toISOString()
        : null,
    previous_secret_until: isOverlapping ? previousSecretUntil.toISOString() : null,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

/** Ids for the deliveries of one event, one for each possible endpoint. Unneeded ids are dropped. */
export function newDeliveryIds(at: Date): DeliveryId[] {
  return Array.from({ length: MAX_ENDPOINTS_PER_MERCHANT }, () => newId('dlv', at.getTime()));
}
