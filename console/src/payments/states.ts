// The states of payments in the filters.
import type { Schemas } from '../api/client.ts';

export const COLLECTION_STATES: readonly Schemas['CollectionState'][] = [
  'initiated',
  'prompted',
  'reconciling',
  'succeeded',
  'failed',
  'expired',
  'reversed',
];

export const PAYOUT_STATES: readonly Schemas['PayoutState'][] = [
  'queued',
  'released',
  'reconciling',
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'expired',
  'reversed',
];
