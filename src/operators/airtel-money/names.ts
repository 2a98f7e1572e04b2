// Reads the holder of a phone's wallet from Airtel's user enquiry.
import { z } from 'zod';
import type { HttpResult } from '../http-client.ts';
import { nameOutcome } from '../payee-name.ts';
import type { NameOutcome } from '../port.ts';

const enquired = z.object({
  status: z.object({ success: z.literal(true) }),
  data: z.object({ first_name: z.string().optional(), last_name: z.string().optional() }),
});

/** Airtel lists no code for a number without a wallet: every response but a success is unknown. */
export function readNameResponse(response: HttpResult): NameOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const { status, body } = response;
  const parsed = enquired.safeParse(body.kind === 'json' ? body.value : null);
  if (status !== 200 || !parsed.success) return { kind: 'unknown', reason: `http ${status}, no user` };
  const { first_name: first = '', last_name: last = '' } = parsed.data.data;
  return nameOutcome(`${first} ${last}`);
}
