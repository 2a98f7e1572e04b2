// The description of a route. The checks of its requests and its part of the OpenAPI document follow from it.
import type { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import type { Requirements } from './access.ts';
import type { Tag } from './openapi-tags.ts';
import type { CodesByParameter } from './validation.ts';

export type StreamType = 'text/event-stream' | 'text/csv';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The method and the path of a route, as in `GET /v1/api/payouts/{id}`; below a root also the method alone. */
export type MethodAndPath = Method | `${Method} ${string}`;

/** By the prefix of the id in a path: the error if the merchant has no object with this id. */
export const NOT_FOUND = {
  chk: 'checkout_not_found',
  col: 'collection_not_found',
  dlv: 'delivery_not_found',
  evt: 'event_not_found',
  inv: 'invitation_not_found',
  key: 'api_key_not_found',
  mch: 'member_change_not_found',
  pay: 'payout_not_found',
  pch: 'policy_change_not_found',
  psk: 'passkey_not_found',
  req: 'request_not_found',
  rev: 'reversal_not_found',
  rpl: 'replay_not_found',
  ses: 'session_not_found',
  usr: 'member_not_found',
  whe: 'endpoint_not_found',
} as const satisfies Readonly<Record<string, ErrorCode>>;

/** The part of a route about one object: what its id begins with, and the response that shows the object. */
export function oneObject<const Prefix extends keyof typeof NOT_FOUND>(
  idPrefix: Prefix,
  description: string,
  schema: z.ZodType,
) {
  return { idPrefix, response: { status: 200, description, schema } } as const;
}

/** The parts of a route that router and document need. */
export type RouteDescription = Requirements & {
  readonly method: Lowercase<Method>;
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  /** The document puts it after the scope or the roles and the step-up, which it names by itself. */
  readonly description?: string;
  readonly idPrefix?: keyof typeof NOT_FOUND;
  /** Only lists take a query: see `pageQuery`. Every other route refuses any parameter. */
  readonly query?: z.ZodObject;
  /** Comes as JSON or as a form. A route without `body` refuses any field of a body, as it does in the query. */
  readonly body?: z.ZodObject;
  /** Error codes for fields of the body that differ from the general codes. */
  readonly bodyCodes?: CodesByParameter;
  /** The route moves money: it requires an Idempotency-Key, and its response is stored. */
  readonly isIdempotent?: true;
  readonly response: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly type?: StreamType;
  };
  /** The 202 in place of `response` while the approval of a second person is missing. */
  readonly waitingResponse?: { readonly description: string; readonly schema: z.ZodType };
  /** The errors of the handler, besides those of every route with this access, id, query and body. */
  readonly errors?: readonly ErrorCode[];
  /** The response opens, renews or ends a session in the browser. */
  readonly setsCookie?: true;
};
