// The signing secret of `listen` and `resend`: of this machine, made at first use and the same from then on.
import { generateEndpointSecret } from '../security/webhook-signature.ts';
import type { Context, Line } from './command.ts';
import { usage } from './failure.ts';
import { given, type SignedIn } from './sign-in.ts';

type ListenSecret = {
  readonly value: string;
  /** Made here and of no use elsewhere, so that it may be shown. */
  readonly isOwn: boolean;
};

/** `--secret`, `MALIPO_LISTEN_SECRET`, or the one that is kept for this merchant. */
export function listenSecret(line: Line, { environment, config }: Context, { api, session }: SignedIn): ListenSecret {
  const chosen = line.text('secret') ?? given(environment, 'MALIPO_LISTEN_SECRET');
  if (chosen !== null) {
    if (/^whsec_[\x21-\x7e]{8,200}$/.test(chosen)) return { value: chosen, isOwn: false };
    throw usage('the secret to sign with must begin with whsec_, as a signing secret does');
  }
  const kept = config.read().places[api.baseUrl]?.listenSecrets[session.merchant.id];
  if (kept !== undefined) return { value: kept, isOwn: true };
  const value = generateEndpointSecret();
  config.change(api.baseUrl, ({ listenSecrets }) => {
    listenSecrets[session.merchant.id] = value;
  });
  return { value, isOwn: true };
}
