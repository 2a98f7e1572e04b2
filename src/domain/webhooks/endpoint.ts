// Webhook endpoints: states, limits, secrets, and what a merchant sees of one.
import { DomainError } from '../errors.ts';
import type { PaymentEventType } from '../event.ts';
import { newId, type DeliveryId, type EndpointId, type MerchantId } from '../ids.ts';

export const ENDPOINT_STATES = ['enabled', 'disabled'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** Each event is written once per endpoint, in the transaction of the payment: so their number is bounded. */
export const MAX_ENDPOINTS_PER_MERCHANT = 16;

/** Why nothing is sent to an endpoint: somebody said so, it answered 410, all failed for days, or it is no more. */
export type DisabledReason = ShownDisabledReason | 'deleted';
export const SHOWN_DISABLED_REASONS = ['by_person', 'answered_gone', 'failing'] as const;
type ShownDisabledReason = (typeof SHOWN_DISABLED_REASONS)[number];

/** The longest that a rotated secret signs beside the new one. */
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
  /** When the attempt failed after which none was accepted. */
  readonly failingSince: Date | null;
  /** The secret of before the last rotation signs too until then. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** With its signing secret, which is shown this once: only its sealed form is kept. */
export type EndpointWithSecret = Endpoint & { readonly secret: string };

/** What a person may set. */
export type EndpointSettings = Pick<Endpoint, 'url' | 'description' | 'eventTypes' | 'state'>;

/**
 * The endpoint with other settings. Enabling it, and sending to another address, begin with a clean slate: what failed
 * before says nothing of what comes. The very same object when nothing differs.
 */
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

/** What a merchant sees of an endpoint at a moment; `failingLimitMs` is how long it may fail before it is disabled. */
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

/** Ids for the deliveries of one event; those that no endpoint takes up are dropped. */
export function newDeliveryIds(at: Date): DeliveryId[] {
  return Array.from({ length: MAX_ENDPOINTS_PER_MERCHANT }, () => newId('dlv', at.getTime()));
}

/** The same for an unknown id, for one that was deleted, and for another merchant's. */
export function endpointNotFound(): DomainError {
  return new DomainError(
    'endpoint_not_found',
    'There is no endpoint with this id. Look it up in the list of endpoints.',
  );
}
