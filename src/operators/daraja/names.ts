// Reads the holder of a phone's wallet from Hakikisha: the first name, and the other names masked.
import { z } from 'zod';
import type { HttpResult } from '../http-client.ts';
import { nameOutcome } from '../payee-name.ts';
import type { NameOutcome } from '../port.ts';
import { codeIn } from './values.ts';

const looked = z.object({
  header: z.object({ status: z.unknown().refine((status) => codeIn(status) === '200') }),
  body: z.object({
    firstName: z.string().optional(),
    middleName: z.string().optional(),
    lastName: z.string().optional(),
  }),
});

/** Daraja lists no code for a phone without a wallet: every response but a success is unknown. */
export function readNameResponse(response: HttpResult): NameOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const { status, body } = response;
  const parsed = looked.safeParse(body.kind === 'json' ? body.value : null);
  if (status !== 200 || !parsed.success) return { kind: 'unknown', reason: `http ${status}, no name` };
  const { firstName = '', middleName = '', lastName = '' } = parsed.data.body;
  return nameOutcome(`${firstName} ${middleName} ${lastName}`);
}
