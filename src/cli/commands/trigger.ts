// `malipo trigger`: triggers an event of a type in a test environment, and prints it.
import type { EventType } from '../../domain/event.ts';
import type { EventObject } from '../responses.ts';
import { readCount, TEXT, type Command } from '../command.ts';
import { CliFailure, usage } from '../failure.ts';
import { requireTest, signIn } from '../sign-in.ts';
import { printable } from '../terminal.ts';
import {
  awaitEvent,
  cancelPayout,
  getEvent,
  endQueuedPayout,
  createCollection,
  createPayout,
  subjectOf,
  testEndpoint,
  type Trigger,
} from '../trigger-steps.ts';
import { RECIPES, type Recipe } from '../trigger-recipes.ts';

const TYPES = Object.keys(RECIPES) as EventType[];

const HELP = `usage: malipo trigger TYPE [--amount N] [--endpoint ID] [--timeout SECONDS] [--json]

Makes an event of the type happen, through the API and the sandbox operator as a payment of yours would, waits for it
and prints it: your endpoints and malipo listen get it too, and those that come before it. A live service is refused.

types
${TYPES.map((type) => `  ${type}`).join('\n')}

Collections and payouts need the role maker, endpoint.test developer or admin. What a second person decides
(payout.released and what follows it, payout.rejected) is decided by the approver whose MALIPO_APPROVER_EMAIL,
MALIPO_APPROVER_PASSWORD and MALIPO_APPROVER_TOTP_SECRET are in the environment; without them it says who must do what, and
waits. A payout needs a balance: where it lacks, a collection comes first. payout.expired comes when nobody decides for as
long as the policy lets a payout wait; when that is longer than the time-out, the payout is cancelled again.

  --amount N         in the currency's smallest unit; 1000 without it
  --endpoint ID      for endpoint.test; the only one that is enabled without it
  --timeout SECONDS  wait at most so long, then exit code 5; 300 without it. collection.reconciling comes when the prompt's
                     window is over: 3 minutes in the demonstration, more than five with real durations (MALIPO_CLOCKS=real),
                     as does payout.reconciling then

With --json: the event, its body as text in it.

examples
  malipo trigger collection.succeeded
  (set -a; . var/demo.env; malipo trigger payout.succeeded --json | jq -r .body)
`;

const MAX_SECONDS = 86_400;

export const trigger: Command = {
  name: 'trigger',
  summary: 'make an event happen in the test environment',
  help: HELP,
  options: { amount: TEXT, endpoint: TEXT, timeout: TEXT },
  positionals: [1, 1],
  async run(line, context) {
    const type = TYPES.find((each) => each === line.positionals[0]);
    if (type === undefined)
      throw usage(`there is no type “${line.positionals[0] ?? ''}”; there are: ${TYPES.join(', ')}`);
    const endpoint = line.text('endpoint');
    if (endpoint !== null && type !== 'endpoint.test') throw usage('--endpoint is for endpoint.test alone');
    const amount = readCount(line, 'amount', 999_999_999) ?? 1000;
    const timeoutMs = 1000 * (readCount(line, 'timeout', MAX_SECONDS) ?? 300);
    const signedIn = await signIn(line, context);
    requireTest(signedIn, 'trigger');
    const started: Trigger = { signedIn, context, amount, giveUpAtMs: Date.now() + timeoutMs };
    const event = await triggerEvent(started, type, endpoint);
    const { terminal } = context;
    if (line.isJson) terminal.print(JSON.stringify(event));
    else terminal.print(`${event.type}  ${event.id}  of ${event.object_id}\n${indented(event.body)}`);
  },
};

// For reading only: the body that is sent has no white space, and `malipo events` prints it exactly.
function indented(body: string): string {
  return printable(JSON.stringify(JSON.parse(body), null, 2));
}

async function triggerEvent(trigger: Trigger, type: EventType, endpoint: string | null): Promise<EventObject> {
  const recipe = RECIPES[type];
  switch (recipe.kind) {
    case 'collection': {
      const subject = await createCollection(trigger, recipe.row);
      trigger.context.terminal.say(`${subject.id} is accepted; waiting for ${type}`);
      return awaitEvent(trigger, type, subject);
    }
    case 'payout':
      return triggerPayoutEvent(trigger, type, recipe);
    case 'endpoint':
      return getEvent(trigger, await testEndpoint(trigger, endpoint));
  }
}

type PayoutRecipe = Extract<Recipe, { kind: 'payout' }>;

async function triggerPayoutEvent(trigger: Trigger, type: EventType, recipe: PayoutRecipe): Promise<EventObject> {
  const payout = await createPayout(trigger, recipe.row);
  const { id, expires_at: expiresAt } = payout;
  trigger.context.terminal.say(`${id} is queued; waiting for ${type}`);
  if (type === 'payout.expired' && Date.parse(expiresAt) > trigger.giveUpAtMs) {
    await cancelPayout(trigger, payout);
    throw new CliFailure(
      'failed',
      `${id} would wait until ${expiresAt}, so it is cancelled: shorten the policy, or --timeout`,
    );
  }
  if (recipe.decision === 'cancel') await cancelPayout(trigger, payout);
  else if (recipe.decision !== 'none') await endQueuedPayout(trigger, payout, recipe.decision);
  return awaitEvent(trigger, type, subjectOf(payout));
}
