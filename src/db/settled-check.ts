// Brings paid payments back to the sweep's attention when somebody says that something happened to them.
import type { CollectionId, PayoutId } from '../domain/ids.ts';
import { statement, type Queryable, type Statement } from './database.ts';

function ask(table: 'collections' | 'payouts'): Statement {
  return statement(
    `${table}_check_settled`,
    `UPDATE ${table} SET check_due_at = least(coalesce(check_due_at, $2), $2) WHERE id = $1 AND state = 'succeeded'`,
  );
}

const CHECKS = { collection: ask('collections'), payout: ask('payouts') } as const;

export type SettledPayment =
  { readonly noun: 'collection'; readonly id: CollectionId } | { readonly noun: 'payout'; readonly id: PayoutId };

/** The sweep looks at a paid payment at `dueAt`, or sooner if it was to; one in another state is left as it is. */
export async function checkSettledPayment(db: Queryable, { noun, id }: SettledPayment, dueAt: Date): Promise<void> {
  await db.run(CHECKS[noun], [id, dueAt]);
}
