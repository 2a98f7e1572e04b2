// The client of our own API: its types are generated from the OpenAPI document, and every failure is an `ApiError`.
import createClient from 'openapi-fetch';
import type { components, paths } from '../../generated/api.ts';
import { takeTouch } from '../ui/presence.ts';
import { ApiError, readApiError } from './api-error.ts';

export type Schemas = components['schemas'];

/** What the list at this path can be filtered by. Values of an address are passed on as they are: the API says what is wrong with them. */
export type ListQuery<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? Omit<NonNullable<Query>, 'cursor' | 'limit'>
  : never;

/** The header proves that a page of ours sends the request: no other origin may set it. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  headers: { 'Malipo-Console': '1' },
  // Several states are one parameter, as a form repeats it.
  querySerializer: { array: { style: 'form', explode: true } },
});

const SESSION = '/v1/console/session';
let shownMerchant: string | null = null;

/**
 * From now on every request says that this page shows the merchant, and is refused once the session is for another one: pages share the
 * session, and another one may have switched. What the session is for can be asked at any time, and it can be ended.
 */
export function showMerchant(id: string): void {
  shownMerchant = id;
}

/** Null: nobody is logged in yet. */
export function merchantShown(): string | null {
  return shownMerchant;
}

api.use({
  onRequest({ request }) {
    if (shownMerchant !== null && new URL(request.url).pathname !== SESSION)
      request.headers.set('Malipo-Merchant', shownMerchant);
  },
});

// Lists that renew themselves must not keep a session alive whose person has left.
api.use({
  onRequest({ request }) {
    if (request.method === 'GET' && !takeTouch()) request.headers.set('Malipo-Background', '1');
  },
});

type Answer<Data> = Promise<{ data?: Data; error?: unknown; response: Response }>;

/** The body of a response that succeeded. Throws `ApiError`: what the API said, or that no answer came. */
export async function answerOf<Data>(answer: Answer<Data>): Promise<Data> {
  let received: Awaited<Answer<Data>>;
  try {
    received = await answer;
  } catch {
    throw new ApiError({ kind: 'no_answer' });
  }
  const { data, error, response } = received;
  if (!response.ok) throw readApiError(response, error);
  return data as Data;
}
