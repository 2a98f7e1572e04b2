// A payment as status queries of tests name it: by our reference alone.
import type { MayCallAgain, SentPayment } from '../../src/operators/port.ts';

export function sentAs(operatorReference: string): SentPayment {
  return { operatorReference, issuedId: null, namedId: null, sentAt: null, queryId: null };
}

/** For a status that takes one call. */
export const ONE_CALL: MayCallAgain = () => Promise.resolve(false);
