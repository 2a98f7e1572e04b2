// Every walk, in the order in which they are made.
import { BOOK_WALKS } from './book-walks.ts';
import { PAYMENT_WALKS } from './payment-walks.ts';
import { PROCESS_WALKS } from './process-walks.ts';
import { TEMPORAL_WALKS } from './temporal-walks.ts';

export const WALKS = [...PROCESS_WALKS, ...PAYMENT_WALKS, ...BOOK_WALKS, ...TEMPORAL_WALKS];
