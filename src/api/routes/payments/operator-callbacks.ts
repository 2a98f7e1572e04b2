// Operators' callbacks: kept as they came, and a reason to look. They never move money by themselves.
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { OPERATORS, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import { recordOperatorCallback } from '../../../operations/payments/record-operator-callback.ts';
import { clientAddress } from '../../client-address.ts';
import type { ApiDeps, ApiMiddleware } from '../../context.ts';
import { bodyTooLarge } from '../../errors.ts';
import { MAX_BODY_BYTES, readJsonBody } from '../../middleware/body.ts';
import { errorResponses, REQUEST_ID_HEADER, type Route } from '../../route.ts';

/** Operators differ in the method they call with, and some change it: both mean the same. */
export function operatorCallbackRoutes(deps: ApiDeps): Route[] {
  return (Object.keys(OPERATORS) as OperatorId[]).flatMap((operator) =>
    (['post', 'put'] as const).map((method) => route(method, operator, deps)),
  );
}

function route(method: 'post' | 'put', operator: OperatorId, deps: ApiDeps): Route {
  return {
    method,
    path: `/operators/${operator}/callbacks`,
    operation: {
      operationId: `${method}${operator.replace(/(^|-)(.)/g, (_match, _dash, letter: string) => letter.toUpperCase())}Callback`,
      tags: ['Operators'],
      summary: `What ${OPERATORS[operator].name} calls`,
      description: 'Not for merchants. A callback is a hint: the operator is asked for the truth.',
      security: [],
      requestBody: { content: { 'application/json': { schema: z.looseObject({}) } } },
      responses: {
        '200': {
          description: 'Heard. The answer says nothing about the payment.',
          headers: REQUEST_ID_HEADER,
          content: { 'application/json': { schema: z.strictObject({}) } },
        },
        ...errorResponses(['body_malformed', 'body_too_large', 'media_type_unsupported']),
      },
    },
    pipeline: [readJsonBody(), receive(operator, deps)],
  };
}

function receive(operator: OperatorId, deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    const body = (ctx.request.rawBody as string | undefined) ?? '';
    // Bytes that are no text were replaced, and what replaces them takes more room than they did.
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw bodyTooLarge();
    const parsed = deps.parseCallback[operator](ctx.request.body);
    if (parsed === null) throw new DomainError('body_malformed', 'The callback names no payment reference.');
    const recorded = await recordOperatorCallback(deps.db, {
      operator,
      operatorReference: parsed.operatorReference,
      body,
      contentType: ctx.get('Content-Type').slice(0, 200),
      sourceAddress: clientAddress(ctx),
      receivedAt: new Date(),
    });
    // Only what is kept is acted on: a flood of callbacks makes no flood of questions to the operator.
    if (recorded?.isKept === true) deps.offerCallback(recorded.payment);
    ctx.body = {};
  };
}
