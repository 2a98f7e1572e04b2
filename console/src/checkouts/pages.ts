// The pages of checkouts, loaded together.
export { Checkout } from './checkout.tsx';
export { Checkouts } from './checkouts.tsx';
export { NewCheckout } from './new-checkout.tsx';
