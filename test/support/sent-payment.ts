// A payment as status queries of tests name it: by our reference alone.
import type { SentPayment } from '../../src/operators/port.ts';

export function sentAs(operatorReference: string): SentPayment {
  return { operatorReference, issuedId: null, namedId: null, sentAt: null, queryId: null };
}
