// The client of our own API: its types are generated from the OpenAPI document, and every failure is an `ApiError`.
import createClient from 'openapi-fetch';
import type { components, paths } from '../../generated/api.ts';
import { takeTouch } from '../ui/presence.ts';
import { ApiError, readApiError } from './api-error.ts';

export type Schemas = components['schemas'];

/** The filters of the list at this path. Values from an address are passed on as they are: the API reports faults. */
export type ListQuery<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? Omit<NonNullable<Query>, 'cursor' | 'limit'>
  : never;

/** The header proves that a page of ours sends the request: no other origin may set it. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  headers: { 'Malipo-Console': '1' },
  // Several states are one parameter, whose name is repeated as in a form.
  querySerializer: { array: { style: 'form', explode: true } },
});

const SESSION = '/v1/console/session';
let shownMerchant: string | null = null;

/**
 * From now on every request names the merchant that this page shows, and is refused once the session is for another
 * one: pages share the session, and another page may have switched. Reading and ending the session stay possible.
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

// Lists that refresh themselves must not keep a session alive after its person has left.
api.use({
  onRequest({ request }) {
    if (request.method === 'GET' && !takeTouch()) request.headers.set('Malipo-Background', '1');
  },
});

type Answer<Data> = Promise<{ data?: Data; error?: unknown; response: Response }>;

/** The body of a successful response. Throws `ApiError`: the error of the API, or no answer. */
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
