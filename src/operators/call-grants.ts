import type { Database } from '../db/platform/database.ts';
import type { Log } from '../log.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
export type CallGrants = {
  take(operator: OperatorId, use: 'send' | 'callback_query', waitMs: number): Promise<boolean>;
  takeForQueries(operator: OperatorId, wanted: number): Promise<number>;
};
export function createCallGrants(_: { readonly db: Database; readonly perSecond: number; readonly log: Log }): CallGrants {
  return { take: () => Promise.resolve(true), takeForQueries: (_o, wanted) => Promise.resolve(wanted) };
}
