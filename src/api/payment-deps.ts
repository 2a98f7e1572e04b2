// What the routes and pages use that record payments, or what people decide about them.
import type { MerchantId } from '../domain/ids.ts';
import type { PaymentContext } from '../operations/payments/payment-context.ts';
import type { RouteDeps } from './route.ts';

export type PaymentDeps = RouteDeps & {
  readonly payments: PaymentContext;
  /** False while too much accepted work waits for us: of all merchants, or of this one if it is named. */
  readonly isAcceptingWork: (merchantId?: MerchantId) => boolean;
};
