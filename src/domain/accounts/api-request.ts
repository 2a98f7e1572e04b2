// Requests of API keys, as the request log stores them.
import type { Role } from './member.ts';
import type { ApiKeyId, MerchantId, RequestId } from '../ids.ts';

export const REQUEST_LOG_ROLES = ['admin', 'developer'] as const satisfies readonly Role[];

export const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

export type ApiRequest = {
  readonly id: RequestId;
  readonly merchantId: MerchantId;
  readonly apiKeyId: ApiKeyId;
  readonly method: string;
  /** The path with parameter names instead of ids. */
  readonly route: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly address: string | null;
  readonly idempotencyKey: string | null;
  /** The response was the stored response of an earlier request. */
  readonly isRepeat: boolean;
  readonly objectId: string | null;
  readonly createdAt: Date;
};

export type ListedApiRequest = Omit<ApiRequest, 'merchantId' | 'apiKeyId'> & {
  readonly apiKey: { readonly id: ApiKeyId; readonly name: string };
};
