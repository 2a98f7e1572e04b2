// Brings payments that have ended back to the sweep's attention when somebody says that something happened to them.
import { statement, type Queryable, type Statement } from '../database.ts';

// States whose end the operator may contradict, or follow up by giving the money back.
const ENDED = `('succeeded', 'failed')`;

type Table = 'collections' | 'payouts' | 'reversals';

function ask(table: Table): Statement {
  return statement(
    `${table}_schedule_recheck`,
    `UPDATE ${table} SET check_due_at = least(coalesce(check_due_at, $2), $2)
     WHERE id = $1 AND state IN ${ENDED}`,
  );
}

const CHECKS = { collections: ask('collections'), payouts: ask('payouts'), reversals: ask('reversals') } as const;

export type Settled = { readonly table: Table; readonly id: string };

/** The sweep looks at it at `dueAt`, or sooner if it was to; what is in another state is left as it is. */
export async function scheduleRecheckAt(db: Queryable, { table, id }: Settled, dueAt: Date): Promise<void> {
  await db.run(CHECKS[table], [id, dueAt]);
}
