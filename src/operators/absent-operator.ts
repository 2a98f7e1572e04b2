// An operator that the deployment is not set up to reach: nothing is sent to it, and the outcome of earlier sends is unknown.
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { Operator } from './port.ts';

const NOT_SET_UP = { kind: 'unknown', reason: 'not sent: the operator is not set up', isUnprocessed: true } as const;

/** Every call has an unknown outcome, for which a person must act. Messages that the operator still sends are read. */
export function absentOperator(
  id: OperatorId,
  { parseCallback, readMessage }: Pick<Operator, 'parseCallback' | 'readMessage'>,
): Operator {
  const send = () => Promise.resolve({ ...NOT_SET_UP, cause: 'account' } as const);
  const query = () => Promise.resolve(NOT_SET_UP);
  return {
    id,
    raisePrompt: send,
    getCollectionStatus: query,
    sendPayout: send,
    getPayoutStatus: query,
    refundCollection: send,
    getRefundStatus: query,
    getPayeeName: null,
    parseCallback,
    readMessage,
    close: () => Promise.resolve(),
  };
}
