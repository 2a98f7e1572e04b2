// What the routes and pages use that record payments, or what people decide about them.
import type { MerchantId } from '../domain/ids.ts';
import type { PaymentWork } from '../domain/work.ts';
import type { PaymentContext } from '../operations/payments/payment-context.ts';
import type { RouteDeps } from './route.ts';

export type PaymentDeps = RouteDeps & {
  readonly payments: PaymentContext;
  /** False while too much accepted work waits for us: of all merchants, or of this one if it is named. */
  readonly isAcceptingWork: (merchantId?: MerchantId) => boolean;
  /**
   * Called after a payment is recorded, or people decided on it: starts or signals its workflow, if that is possible
   * without waiting.
   */
  readonly offer: (payment: PaymentWork) => void;
};
