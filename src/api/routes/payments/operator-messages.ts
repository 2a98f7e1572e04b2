// Messages of operators: what comes to an address that we gave for one payment or query. It is stored; a worker decides what follows.
import { z } from 'zod';
import { DomainError } from '../../../domain/errors.ts';
import {
  OPERATOR_IDS,
  OPERATORS,
  type MessagePurpose,
  type OperatorId,
} from '../../../domain/payments/operator-catalogue.ts';
import type { PaymentWork } from '../../../domain/work.ts';
import type { Database } from '../../../db/platform/database.ts';
import type { Log } from '../../../log.ts';
import { recordOperatorMessage } from '../../../operations/payments/record-operator-message.ts';
import { segmentOf } from '../../../security/callback-token.ts';
import type { ApiMiddleware } from '../../context.ts';
import { errorResponses, responseWith } from '../../operation.ts';
import type { Route } from '../../route.ts';
import { followUp, readOperatorRequest, tokenIn } from './operator-request.ts';

export type MessageDeps = {
  readonly db: Database;
  /** Called after a message came: lets the workflow read it now. */
  readonly offerCallback: (payment: PaymentWork) => void;
  /** For which reference or query the token was made, for this purpose; null: it is no token of ours. */
  readonly provenMessage: (operator: OperatorId, purpose: MessagePurpose, token: string) => string | null;
  readonly log: Log;
};

const token = z.string().meta({
  description: 'Proves that the service gave the address to the operator for one payment or query.',
  example: '0190f5fe7c004a0080000000000000005d2c1e7b9a4f60380b1d9c3e7f5a2468',
});

export function operatorMessageRoutes(deps: MessageDeps): Route[] {
  return OPERATOR_IDS.flatMap((operator) =>
    (OPERATORS[operator].messages?.purposes ?? []).map((purpose) => messageRoute(operator, purpose, deps)),
  );
}

function messageRoute(operator: OperatorId, purpose: MessagePurpose, deps: MessageDeps): Route {
  const { name, messages } = OPERATORS[operator];
  const words = [operator, purpose, 'message'].flatMap((part) => part.split('-'));
  return {
    method: 'post',
    path: `/operators/${operator}/${segmentOf(purpose)}/{token}`,
    operation: {
      operationId: `post${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}`,
      tags: ['Operators'],
      summary: `Receive a message of ${name}: ${purpose}`,
      description:
        'Not for merchants. The operator has the address for one payment or query. The message is stored, and a worker decides what follows from it. The body is read whatever its media type.',
      security: [],
      requestParams: { path: z.object({ token }) },
      requestBody: { required: false, content: { 'application/json': { schema: z.looseObject({}) } } },
      responses: {
        '200': responseWith(
          'Received. The response carries no payment information.',
          z.looseObject({}).meta({ example: messages?.acknowledgement }),
        ),
        ...errorResponses(['body_malformed', 'body_too_large', 'media_type_unsupported', 'permission_denied']),
      },
    },
    pipeline: [receive(operator, purpose, deps)],
  };
}

function receive(operator: OperatorId, purpose: MessagePurpose, deps: MessageDeps): ApiMiddleware {
  return async (ctx) => {
    const addressId = deps.provenMessage(operator, purpose, tokenIn(ctx));
    if (addressId === null)
      throw new DomainError('permission_denied', 'The service did not give this address to the operator.');
    const { stored } = await readOperatorRequest(ctx);
    const message = { operator, purpose, addressId, ...stored };
    followUp(ctx, await recordOperatorMessage(deps.db, message), deps, () => {
      deps.log.fatal(
        { operator, purpose, addressId },
        'the operator sends a message about a payment that is not on record',
      );
    });
    ctx.body = OPERATORS[operator].messages?.acknowledgement ?? {};
  };
}
