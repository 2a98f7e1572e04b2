// Operators' callbacks: stored as they came, and a reason to query the status. They never move money by themselves.
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import { OPERATOR_IDS, OPERATORS, type OperatorId } from '../../../domain/payments/operator-catalogue.ts';
import type { PaymentWork } from '../../../domain/work.ts';
import type { Database } from '../../../db/platform/database.ts';
import type { Log } from '../../../log.ts';
import { recordOperatorCallback } from '../../../operations/payments/record-operator-callback.ts';
import { clientAddress } from '../../client-address.ts';
import type { ApiMiddleware } from '../../context.ts';
import { bodyTooLarge } from '../../errors.ts';
import { MAX_BODY_BYTES, readCallback } from '../../middleware/body.ts';
import { errorResponses, responseWith } from '../../operation.ts';
import type { Route } from '../../route.ts';

const reference = z.string().meta({
  description: 'The reference that we gave the payment when we sent it.',
  example: '0190f5fe-7c00-7a00-8000-000000000000',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
});

const transactionId = z.string().meta({
  description: 'The id that we gave the payment when we sent it: its reference in other digits.',
  example: '03C682RJ8FOQ6SB4QLDZAPLOG',
  // Nearly all that are small enough: a pattern cannot say the largest.
  pattern: '^([0-9A-Ea-e][0-9A-Za-z]{24}|[Ff][0-4][0-9A-Za-z]{23})$',
});

// What a callback must hold to be of use: everything else in it is kept and ignored.
const BODIES: Readonly<Partial<Record<OperatorId, z.ZodType>>> = {
  'mtn-momo': z.union([z.looseObject({ externalId: reference }), z.looseObject({ referenceId: reference })]),
  'airtel-money': z.looseObject({ transaction: z.looseObject({ id: transactionId }) }),
};

export type CallbackDeps = {
  readonly db: Database;
  /** Called after the operator called back: lets the workflow query the status now instead of at its next poll. */
  readonly offerCallback: (payment: PaymentWork) => void;
  readonly parseCallback: Readonly<
    Record<OperatorId, (body: unknown) => { readonly operatorReference: string } | null>
  >;
  /** The reference that the token in the address was made for; null: it is no token of ours. */
  readonly provenReference: (operator: OperatorId, token: string) => string | null;
  readonly log: Log;
};

const token = z.string().meta({
  description: 'Proves that the service gave the address to the operator for one payment.',
  example: '0190f5fe7c004a0080000000000000005d2c1e7b9a4f60380b1d9c3e7f5a2468',
});

/** Operators differ in the method they call with, and some change it, so both methods do the same. */
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
    const { text: body, fields } = await readCallback(ctx);
    // Bytes that are not text were replaced, by characters that take more bytes.
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw bodyTooLarge();
    const { token: given = '' } = (ctx as { readonly params?: { readonly token?: string } }).params ?? {};
    const proven = deps.provenReference(operator, given);
    const operatorReference = proven ?? deps.parseCallback[operator](fields())?.operatorReference;
    if (operatorReference === undefined) {
      throw new DomainError('body_malformed', 'The callback names no payment reference.');
    }
    const { payment, isKept } = await recordOperatorCallback(deps.db, {
      operator,
      operatorReference,
      isProven: proven !== null,
      body,
      contentType: ctx.get('Content-Type').slice(0, 200),
      sourceAddress: clientAddress(ctx),
      receivedAt: new Date(),
    });
    // Only a stored callback has an effect, so that a flood of callbacks causes no flood of status queries, and buries no trace.
    if (isKept && payment !== null) {
      ctx.state.paymentId = payment.id;
      deps.offerCallback(payment);
    } else if (isKept) {
      deps.log.fatal({ operator, operatorReference }, 'the operator calls back about a payment that is not on record');
    }
    ctx.body = {};
  };
}
