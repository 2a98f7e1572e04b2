// How the database runs the statements of a list: the plan of each, as planned for its values or for any.
import type { Database, Queryable, Statement } from '../../../src/db/platform/database.ts';

export type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
};

export const PLAN_MODES = ['force_custom_plan', 'force_generic_plan'] as const;
export type PlanMode = (typeof PLAN_MODES)[number];

/** Runs the work with every statement explained; resolves to the plans, each after it has run. */
export async function plansOf(
  db: Database,
  mode: PlanMode,
  work: (explained: Queryable) => Promise<unknown>,
): Promise<Plan[]> {
  const plans: Plan[] = [];
  await work({
    attestor: db.attestor,
    announce: () => undefined,
    async run<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
      plans.push(await planOf(db, mode, statement, values));
      return db.run<Row>(statement, values);
    },
  });
  return plans;
}

async function planOf(db: Database, mode: PlanMode, { text }: Statement, values: readonly unknown[]): Promise<Plan> {
  const client = await db.pool.connect();
  try {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE list AS ${text}`);
    const literal = (value: unknown) =>
      client.escapeLiteral(Array.isArray(value) ? `{${value.join()}}` : String(value));
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE list(${values.map(literal).join(', ')})`,
    );
    return rows[0]!['QUERY PLAN'][0].Plan;
  } finally {
    client.release(true);
  }
}

export function buffersOf(plan: Plan): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
