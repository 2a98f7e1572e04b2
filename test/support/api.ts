// Calls the API as a merchant's server does, and checks every response against the OpenAPI document.
import { randomUUID } from 'node:crypto';
import { checkResponse } from './openapi-check.ts';

export type ApiResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown> & { readonly error?: { readonly code: string } & Record<string, unknown> };
};

export type CallOptions = {
  readonly key?: string | null;
  readonly idempotencyKey?: string | null;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>> | URLSearchParams;
  readonly raw?: { readonly type: string; readonly body: string | Buffer };
  readonly headers?: Readonly<Record<string, string>>;
};

/** Makes one call. A POST without `idempotencyKey` sends a new one; null sends none. */
export async function call(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<ApiResponse> {
  const headers = new Headers(options.headers);
  if (options.key) headers.set('authorization', `Bearer ${options.key}`);
  const idempotencyKey =
    options.idempotencyKey === undefined && method === 'POST' ? randomUUID() : options.idempotencyKey;
  if (idempotencyKey) headers.set('idempotency-key', idempotencyKey);
  const received = await fetch(new URL(path, baseUrl), { method, headers, ...bodyOf(options, headers) });
  const text = await (isStream(received) ? beginningOf(received) : received.text());
  const isJson = received.headers.get('content-type')?.startsWith('application/json') === true;
  const response = {
    status: received.status,
    headers: received.headers,
    text,
    json: (isJson ? JSON.parse(text) : {}) as ApiResponse['json'],
  };
  const { status } = response;
  await checkResponse(baseUrl, {
    method,
    path,
    status,
    body: isJson ? response.json : text,
    headers: received.headers,
  });
  return response;
}

function isStream(received: Response): boolean {
  return received.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** What a stream that does not end by itself says first. */
async function beginningOf(received: Response): Promise<string> {
  const reader = received.body?.getReader();
  const { value } = ((await reader?.read()) ?? {}) as { value?: Uint8Array };
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

export type CollectionFields = {
  readonly phone?: unknown;
  readonly amount?: unknown;
  readonly reference?: unknown;
} & Readonly<Record<string, unknown>>;

/** The fields of a valid collection that succeeds at the sandbox; `fields` replace or add some. */
export function collectionFields(fields: CollectionFields = {}): Record<string, unknown> {
  return { phone: '256772000100', amount: 5000, reference: 'INV-1', ...fields };
}

function bodyOf(options: CallOptions, headers: Headers): { body?: string | URLSearchParams | Buffer } {
  if (options.raw) {
    headers.set('content-type', options.raw.type);
    return { body: options.raw.body };
  }
  if (options.form) return { body: new URLSearchParams(options.form) };
  if (options.json === undefined) return {};
  headers.set('content-type', 'application/json');
  return { body: JSON.stringify(options.json) };
}
