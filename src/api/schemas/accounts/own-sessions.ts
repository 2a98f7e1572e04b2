// The list of a person's own sessions on the wire.
import { z } from 'zod';
import { MAX_SESSIONS_PER_MEMBER, type ListedSession } from '../../../domain/accounts/session.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const listedSessionSchema = objectSchema('ListedSession', {
  id: idOf('ses'),
  created_at: time,
  last_used_at: time.meta({ description: 'To the minute.' }),
  ends_at: time.meta({ description: 'The end of the session if it is not used before then.' }),
  address: z.string().nullable().meta({ description: 'The address from which the session was opened.' }),
  user_agent: z.string().max(200).nullable().meta({ description: 'The name that the browser sends, shortened.' }),
  is_current: z.boolean().meta({ description: 'True for the session of this request.' }),
});

export const sessionListSchema = objectSchema('SessionList', {
  data: z.array(listedSessionSchema).max(MAX_SESSIONS_PER_MEMBER),
});

export function listedSessionObject(session: ListedSession) {
  return wireObject(listedSessionSchema, session);
}
