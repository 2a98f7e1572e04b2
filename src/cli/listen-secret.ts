// The signing secret of `listen` and `resend`: of this machine, made at first use and the same from then on.
import { generateEndpointSecret } from '../domain/endpoint.ts';
import type { Context, Line } from './command.ts';
import { usage } from './failure.ts';
import type { SignedIn } from './sign-in.ts';

/** `--secret`, `MALIPO_LISTEN_SECRET`, or the one that is kept for this merchant. */
export function listenSecret(line: Line, { environment, config }: Context, { api, session }: SignedIn): string {
  const fromEnvironment = environment['MALIPO_LISTEN_SECRET'] ?? '';
  const chosen = line.text('secret') ?? (fromEnvironment === '' ? null : fromEnvironment);
  if (chosen !== null) {
    if (/^whsec_[\x21-\x7e]{8,200}$/.test(chosen)) return chosen;
    throw usage('--secret must begin with whsec_, as a signing secret does');
  }
  const kept = config.read().places[api.baseUrl]?.listenSecrets[session.merchant.id];
  if (kept !== undefined) return kept;
  const secret = generateEndpointSecret();
  config.change(api.baseUrl, ({ listenSecrets }) => {
    listenSecrets[session.merchant.id] = secret;
  });
  return secret;
}
