// Reads the holder of a phone's account from MTN's basic user info.
import { z } from 'zod';
import type { HttpResult } from '../http-client.ts';
import { nameOutcome } from '../payee-name.ts';
import type { NameOutcome } from '../port.ts';
import { readErrorCode } from './codes.ts';

/** The fields that MTN documents; older markets send only `name`. */
const userInfo = z.object({
  given_name: z.string().optional(),
  family_name: z.string().optional(),
  name: z.string().optional(),
});

/** `unnamed` only if MTN says that it has no such account holder, or has no name for them. Anything else is unknown. */
export function readNameResponse(response: HttpResult): NameOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const { status, body } = response;
  if (body.kind !== 'json') return { kind: 'unknown', reason: `http ${status} without JSON` };
  if (status === 404 && readErrorCode(body.value) === 'RESOURCE_NOT_FOUND') return { kind: 'unnamed' };
  const parsed = userInfo.safeParse(body.value);
  if (status !== 200 || !parsed.success) return { kind: 'unknown', reason: `http ${status}, no user info` };
  const { given_name: given = '', family_name: family = '', name = '' } = parsed.data;
  const names = `${given} ${family}`.trim();
  return nameOutcome(names === '' ? name : names);
}
