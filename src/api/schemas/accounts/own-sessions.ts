// The list of a person's own sessions on the wire.
import { z } from 'zod';
import { MAX_SESSIONS_PER_MEMBER, type ListedSession } from '../../../domain/accounts/session.ts';
import { time } from '../primitives.ts';

const listedSessionSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      .meta({ example: 'ses_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
    created_at: time,
    last_used_at: time.meta({ description: 'To the minute.' }),
    ends_at: time.meta({ description: 'Unless it is used again before then.' }),
    address: z.string().nullable().meta({ description: 'The address from which the session was opened.' }),
    user_agent: z.string().max(200).nullable().meta({ description: 'The name that the browser sends, shortened.' }),
    is_current: z.boolean().meta({ description: 'True for the session of this request.' }),
  })
  .meta({ id: 'ListedSession' });

export const sessionListSchema = z
  .strictObject({ data: z.array(listedSessionSchema).max(MAX_SESSIONS_PER_MEMBER) })
  .meta({ id: 'SessionList' });

export function listedSessionObject(session: ListedSession): z.input<typeof listedSessionSchema> {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    ends_at: session.endsAt.toISOString(),
    address: session.address,
    user_agent: session.userAgent,
    is_current: session.isCurrent,
  };
}
