// Operators' callbacks are stored as they came and cause a status query. They never move money by themselves.
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { OPERATOR_IDS, OPERATORS, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import type { PaymentWork } from '../../../domain/work.ts';
import type { Database } from '../../../db/platform/database.ts';
import type { Log } from '../../../log.ts';
import { recordOperatorCallback } from '../../../operations/payments/record-operator-callback.ts';
import type { ApiMiddleware } from '../../context.ts';
import { errorResponses, responseWith } from '../../operation.ts';
import type { Route } from '../../route.ts';
import { followUp, readOperatorRequest, tokenIn } from './operator-request.ts';

const reference = z.string().meta({
  description: 'The reference that we gave the payment when we sent it.',
  example: '0190f5fe-7c00-7a00-8000-000000000000',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
});

const transactionId = z.string().meta({
  description: 'The id that we gave the payment when we sent it: its reference in other digits.',
  example: '03C682RJ8FOQ6SB4QLDZAPLOG',
  // Covers nearly all that are small enough: a pattern cannot name the largest.
  pattern: '^([0-9A-Ea-e][0-9A-Za-z]{24}|[Ff][0-4][0-9A-Za-z]{23})$',
});

// The fields that a callback must have to be useful. All other fields are stored and ignored.
const BODIES: Readonly<Partial<Record<OperatorId, z.ZodType>>> = {
  'mtn-momo': z.union([z.looseObject({ externalId: reference }), z.looseObject({ referenceId: reference })]),
  'airtel-money': z.looseObject({ transaction: z.looseObject({ id: transactionId }) }),
};

export type CallbackDeps = {
  readonly db: Database;
  /** Called after the operator called back: lets the workflow query the status now, not only at its next poll. */
  readonly offerCallback: (payment: PaymentWork) => void;
  readonly parseCallback: Readonly<
    Record<OperatorId, (body: unknown) => { readonly operatorReference: string } | null>
  >;
  /** The reference for which the token in the address was made; null if the token is not ours. */
  readonly provenReference: (operator: OperatorId, token: string) => string | null;
  readonly log: Log;
};

const token = z.string().meta({
  description: 'Proves that the service gave the address to the operator for one payment.',
  example: '0190f5fe7c004a0080000000000000005d2c1e7b9a4f60380b1d9c3e7f5a2468',
});

/** Operators differ in the method of their calls, and some change it, so both methods do the same. */
export function operatorCallbackRoutes(deps: CallbackDeps): Route[] {
  return OPERATOR_IDS.filter((operator) => BODIES[operator] !== undefined).flatMap((operator) =>
    (['post', 'put'] as const).flatMap((method) => [
      callbackRoute(method, operator, deps),
      callbackRoute(method, operator, deps, { ofPayment: true }),
    ]),
  );
}

function callbackRoute(
  method: 'post' | 'put',
  operator: OperatorId,
  deps: CallbackDeps,
  { ofPayment = false } = {},
): Route {
  const name = operator.replace(/(^|-)(.)/g, (_match, _dash, letter: string) => letter.toUpperCase());
  return {
    method,
    path: `/operators/${operator}/callbacks${ofPayment ? '/{token}' : ''}`,
    operation: {
      operationId: `${method}${name}Callback${ofPayment ? 'OfPayment' : ''}`,
      tags: ['Operators'],
      summary: `Receive a callback of ${OPERATORS[operator].name}`,
      description:
        'Not for merchants. A callback is only a hint: the service then queries the status at the operator. The body is read as JSON whatever its media type.',
      security: [],
      ...(ofPayment && { requestParams: { path: z.object({ token }) } }),
      requestBody: { required: true, content: { 'application/json': { schema: BODIES[operator] ?? z.unknown() } } },
      responses: {
        '200': responseWith('Received. The response carries no payment information.', z.strictObject({})),
        ...errorResponses(['body_malformed', 'body_too_large', 'media_type_unsupported']),
      },
    },
    pipeline: [receive(operator, deps)],
  };
}

function receive(operator: OperatorId, deps: CallbackDeps): ApiMiddleware {
  return async (ctx) => {
    const { fields, stored } = await readOperatorRequest(ctx);
    const proven = deps.provenReference(operator, tokenIn(ctx));
    const operatorReference = proven ?? deps.parseCallback[operator](fields())?.operatorReference;
    if (operatorReference === undefined) {
      throw new DomainError('body_malformed', 'The callback names no payment reference.');
    }
    const callback = { operator, operatorReference, isProven: proven !== null, ...stored };
    followUp(ctx, await recordOperatorCallback(deps.db, callback), deps, () => {
      deps.log.fatal({ operator, operatorReference }, 'the operator calls back about a payment that is not on record');
    });
    ctx.body = {};
  };
}
