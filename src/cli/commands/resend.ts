// `malipo resend`: sends one event again to a receiver on a developer's own machine.
import { eventSchema, parseResponse } from '../responses.ts';
import { TEXT, type Command } from '../command.ts';
import { CliFailure, usage } from '../failure.ts';
import { createForwarder, readForwardUrl } from '../forwarder.ts';
import { listenSecret } from '../listen-secret.ts';
import { requireTest, signIn } from '../sign-in.ts';
import { printAttempt } from './listen.ts';

const HELP = `usage: malipo resend EVENT_ID --forward-to URL [--secret whsec_…] [--json]

Forwards one event to a receiver on your own machine, as malipo listen does, whether or not it was forwarded before. Fails
(1) if the receiver does not accept the event. To send it to a registered endpoint again: malipo replay.

example
  malipo resend evt_01kdvcg… --forward-to http://127.0.0.1:3000/malipo
`;

export const resend: Command = {
  name: 'resend',
  summary: 'send one event to your own machine again',
  help: HELP,
  options: { 'forward-to': TEXT, secret: TEXT },
  positionals: [1, 1],
  async run(line, context) {
    const target = line.text('forward-to');
    if (target === null) throw usage('name the receiver: --forward-to URL');
    const url = readForwardUrl(target);
    const signedIn = await signIn(line, context);
    requireTest(signedIn, 'resend');
    const response = await signedIn.api.call(
      'GET',
      `/v1/console/events/${encodeURIComponent(line.positionals[0] ?? '')}`,
    );
    const event = parseResponse(eventSchema, response);
    const { value: secret } = listenSecret(line, context, signedIn);
    const forwarder = createForwarder({ url, secret, stop: context.stop });
    const isAccepted = await forwarder.forward(event, (attempt) => {
      printAttempt(event, attempt, line, context);
    });
    if (!isAccepted) throw new CliFailure('failed', `${event.id} was not accepted at ${url.href}`);
  },
};
