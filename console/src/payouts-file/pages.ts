// The page of payouts from a file, with the parser that it alone needs.
export { PayoutsFile } from './payouts-file.tsx';
