// Whether the process is up, and whether it can accept work.
import { z } from 'zod';
import { errorResponses, responseWith } from '../operation.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Log } from '../../log.ts';
import type { TemporalClient } from '../../temporal/client.ts';
import type { PaymentDeps, Route } from '../route.ts';

const healthSchema = z.strictObject({ status: z.literal('up') }).meta({ id: 'Health' });
const readinessSchema = z
  .strictObject({
    status: z.enum(['ready', 'degraded', 'down']),
    parts: z.strictObject({
      database: z.enum(['up', 'down']),
      temporal: z.enum(['up', 'away']),
      backlog: z.enum(['within_bounds', 'full']),
    }),
  })
  .meta({ id: 'Readiness' });

export type HealthDeps = Pick<PaymentDeps, 'isAcceptingWork'> & {
  readonly db: Database;
  readonly log: Log;
  readonly temporal: Pick<TemporalClient, 'ping'>;
};

export function healthRoutes(deps: HealthDeps): Route[] {
  return [
    {
      method: 'get',
      path: '/healthz',
      operation: {
        operationId: 'getHealth',
        tags: ['Service'],
        summary: 'The process is up',
        description: 'Says nothing about the dependencies of the process.',
        security: [],
        responses: {
          '200': responseWith('The process is up.', healthSchema),
          ...errorResponses([]),
        },
      },
      pipeline: [
        (ctx) => {
          ctx.body = { status: 'up' };
        },
      ],
    },
    {
      method: 'get',
      path: '/readyz',
      operation: {
        operationId: 'getReadiness',
        tags: ['Service'],
        summary: 'The process can accept work',
        description:
          'While Temporal is unavailable, the status is `degraded`: work is accepted and recorded, and starts once Temporal is back.',
        security: [],
        responses: {
          '200': responseWith('The database answers.', readinessSchema),
          ...errorResponses([]),
          '503': responseWith('The database does not answer: nothing can be recorded.', readinessSchema),
        },
      },
      pipeline: [
        async (ctx) => {
          const [isDatabaseUp, isTemporalUp] = await Promise.all([pingDatabase(deps), deps.temporal.ping()]);
          const isAccepting = deps.isAcceptingWork();
          const isWhole = isTemporalUp && isAccepting;
          ctx.status = isDatabaseUp ? 200 : 503;
          ctx.body = {
            status: isDatabaseUp ? (isWhole ? 'ready' : 'degraded') : 'down',
            parts: {
              database: isDatabaseUp ? 'up' : 'down',
              temporal: isTemporalUp ? 'up' : 'away',
              backlog: isAccepting ? 'within_bounds' : 'full',
            },
          };
        },
      ],
    },
  ];
}

async function pingDatabase({ db, log }: HealthDeps): Promise<boolean> {
  try {
    await db.pool.query('SELECT 1');
    return true;
  } catch (error) {
    log.warn({ error }, 'the database does not answer');
    return false;
  }
}
