// What the API takes from the settings as they are.
import type { Config } from '../settings/config.ts';
import { LEAST_WAITING_TIME_MS } from '../domain/accounts/waiting-time.ts';

export function apiSettingsOf({ clocks, settings }: Config) {
  const leastWaitingTimeMs = LEAST_WAITING_TIME_MS[settings.MALIPO_ENVIRONMENT];
  return {
    environment: settings.MALIPO_ENVIRONMENT,
    publicUrl: settings.MALIPO_PUBLIC_URL,
    keyRing: settings.MALIPO_SECRET_KEYS,
    trustedProxies: settings.MALIPO_TRUSTED_PROXIES,
    rateLimitPerSecond: settings.MALIPO_RATE_LIMIT_PER_SECOND,
    operatorRateLimitPerSecond: settings.MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND,
    endpointFailingLimitMs: clocks.endpointFailingLimitMs,
    serviceLimits: { payoutExpiryMs: clocks.payoutExpiryMs, leastWaitingTimeMs },
    checkoutAttemptsPerAddress: settings.MALIPO_CHECKOUT_ATTEMPTS_PER_ADDRESS,
  };
}
