// Provides the signing secret of `listen` and `resend`: generated at the first use on this machine, then reused.
import { generateEndpointSecret } from '../security/webhook-signature.ts';
import type { Context, CommandLine } from './command.ts';
import { usage } from './failure.ts';
import { environmentValue, type SignedIn } from './sign-in.ts';

type ListenSecret = {
  readonly value: string;
  /** Generated on this machine and useless elsewhere, so it may be shown. */
  readonly isOwn: boolean;
};

/** `--secret`, `MALIPO_LISTEN_SECRET`, or the stored secret of this merchant, generated at the first use. */
export function listenSecret(
  line: CommandLine,
  { environment, config }: Context,
  { api, session }: SignedIn,
): ListenSecret {
  const chosen = line.text('secret') ?? environmentValue(environment, 'MALIPO_LISTEN_SECRET');
  if (chosen !== null) {
    if (/^whsec_[\x21-\x7e]{8,200}$/.test(chosen)) return { value: chosen, isOwn: false };
    throw usage('the signing secret must begin with whsec_');
  }
  const stored = config.read().places[api.baseUrl]?.listenSecrets[session.merchant.id];
  if (stored !== undefined) return { value: stored, isOwn: true };
  const value = generateEndpointSecret();
  config.change(api.baseUrl, ({ listenSecrets }) => {
    listenSecrets[session.merchant.id] = value;
  });
  return { value, isOwn: true };
}
