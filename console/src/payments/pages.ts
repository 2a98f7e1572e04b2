// The pages of money, loaded together.
export { Approvals } from './approvals.tsx';
export { Collection } from './collection.tsx';
export { Collections } from './collections.tsx';
export { NewPayout } from './new-payout.tsx';
export { Payout } from './payout.tsx';
export { Payouts } from './payouts.tsx';
export { Refund } from './refund.tsx';
export { Statement } from './statement.tsx';
export { Refunds } from './refunds.tsx';
