// How a connection to Temporal is secured: TLS with the authority that is trusted, our own certificate, an API key.
import type { NativeConnectionOptions } from '@temporalio/worker';

type Hidden = { reveal(): string };

/** The settings of the server of these names. */
export type TransportSettings = {
  readonly MALIPO_TEMPORAL_ADDRESS: string;
  readonly MALIPO_TEMPORAL_TLS: boolean;
  readonly MALIPO_TEMPORAL_TLS_CA_FILE?: Hidden | undefined;
  readonly MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE?: Hidden | undefined;
  readonly MALIPO_TEMPORAL_TLS_KEY_FILE?: Hidden | undefined;
  readonly MALIPO_TEMPORAL_TLS_SERVER_NAME?: string | undefined;
  readonly MALIPO_TEMPORAL_API_KEY?: Hidden | undefined;
};

export type TemporalTarget = Pick<NativeConnectionOptions, 'tls' | 'apiKey'> & { readonly address: string };

export function temporalTarget(settings: TransportSettings): TemporalTarget {
  const address = settings.MALIPO_TEMPORAL_ADDRESS;
  if (!settings.MALIPO_TEMPORAL_TLS) return { address, tls: false };
  const authority = settings.MALIPO_TEMPORAL_TLS_CA_FILE;
  const crt = settings.MALIPO_TEMPORAL_TLS_CERTIFICATE_FILE;
  const key = settings.MALIPO_TEMPORAL_TLS_KEY_FILE;
  const serverName = settings.MALIPO_TEMPORAL_TLS_SERVER_NAME;
  const apiKey = settings.MALIPO_TEMPORAL_API_KEY;
  return {
    address,
    tls: {
      ...(authority && { serverRootCACertificate: bytesOf(authority) }),
      ...(crt && key && { clientCertPair: { crt: bytesOf(crt), key: bytesOf(key) } }),
      ...(serverName !== undefined && { serverNameOverride: serverName }),
    },
    ...(apiKey && { apiKey: apiKey.reveal() }),
  };
}

function bytesOf(pem: Hidden): Buffer {
  return Buffer.from(pem.reveal());
}
