// Whether the process is up, and whether it can accept work.
import { z } from 'zod';
import { errorResponses, responseWith } from '../operation.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Log } from '../../log.ts';
import type { TemporalClient } from '../../temporal/client.ts';
import type { Route } from '../route.ts';

const healthSchema = z.strictObject({ status: z.literal('up') }).meta({ id: 'Health' });
const readinessSchema = z
  .strictObject({
    reason: z.string().optional().meta({
      description: 'Why the database cannot be used, if it answers, or why the service is in recovery.',
      example: 'the database lacks 200-payments.sql',
    }),
    status: z.enum(['ready', 'degraded', 'down', 'stopping']),
    parts: z.strictObject({
      database: z.enum(['up', 'down', 'other_schema', 'in_recovery']),
      temporal: z.enum(['up', 'away']),
      backlog: z.enum(['within_bounds', 'full']),
    }),
  })
  .meta({ id: 'Readiness' });

export type HealthDeps = {
  /** False while the backlog of all merchants is too large. */
  readonly isAcceptingWork: () => boolean;
  /** Why the service is in recovery, or that this is not known yet, and whether it serves nevertheless; null: it is not. */
  readonly recovery: () => { readonly reason: string; readonly isServing: boolean } | null;
  readonly db: Database;
  readonly log: Log;
  readonly temporal: Pick<TemporalClient, 'ping'>;
  /** Why the database is not one that this version can work on; null: it is. */
  readonly schemaFault: () => string | null;
  /** Whether this process is about to end. It still serves for a while. */
  readonly isStopping: () => boolean;
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
          'While Temporal is unavailable, the status is `degraded`: work is accepted and recorded, and starts once Temporal is back. ' +
          'The same while the database is `in_recovery`: reads, webhooks and callbacks work, and payments are refused. ' +
          'A process that is `stopping` still serves for some seconds: send it nothing more.',
        security: [],
        responses: {
          '200': responseWith('The database answers.', readinessSchema),
          ...errorResponses([]),
          '503': responseWith(
            'The database does not answer, is of another version, or the process stops.',
            readinessSchema,
          ),
        },
      },
      pipeline: [
        async (ctx) => {
          const [isDatabaseUp, isTemporalUp] = await Promise.all([pingDatabase(deps), deps.temporal.ping()]);
          const fault = isDatabaseUp ? deps.schemaFault() : null;
          const recovery = isDatabaseUp && fault === null ? deps.recovery() : null;
          const isUsable = isDatabaseUp && fault === null && recovery?.isServing !== false;
          const isAccepting = deps.isAcceptingWork();
          const isWhole = isTemporalUp && isAccepting && recovery === null;
          const serves = isUsable ? (isWhole ? 'ready' : 'degraded') : 'down';
          const status = deps.isStopping() ? 'stopping' : serves;
          ctx.status = isUsable && status !== 'stopping' ? 200 : 503;
          const reason = fault ?? recovery?.reason ?? null;
          ctx.body = {
            status,
            ...(reason !== null && { reason }),
            parts: {
              database: databaseState(isDatabaseUp, fault, recovery !== null),
              temporal: isTemporalUp ? 'up' : 'away',
              backlog: isAccepting ? 'within_bounds' : 'full',
            },
          };
        },
      ],
    },
  ];
}

function databaseState(isUp: boolean, fault: string | null, isInRecovery: boolean) {
  if (!isUp) return 'down';
  if (fault !== null) return 'other_schema';
  return isInRecovery ? 'in_recovery' : 'up';
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
