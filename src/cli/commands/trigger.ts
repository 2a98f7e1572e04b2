// `malipo trigger`: triggers an event of a type in a test environment, and prints it.
import type { EventType } from '../../domain/event.ts';
import type { EventObject } from '../responses.ts';
import { printResult, readCount, TEXT, type Command } from '../command.ts';
import { CliFailure, usage } from '../failure.ts';
import { requireTest, signIn } from '../sign-in.ts';
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
import { RECIPES, withRow, type Recipe } from '../trigger-recipes.ts';

const TYPES = Object.keys(RECIPES) as EventType[];

const HELP = `usage: malipo trigger TYPE [--amount N] [--row DIGITS] [--endpoint ID] [--timeout SECONDS] [--json]

Triggers an event of the type through the API and the sandbox operator, as one of your payments would, waits for the event
and prints it. Your endpoints and malipo listen receive it too, and the events before it. A live service is refused.

types
${TYPES.map((type) => `  ${type}`).join('\n')}

Collections and payouts need the role maker, endpoint.test the role developer or admin. payout.rejected, payout.released and
the events after it need a second person: the approver whose MALIPO_APPROVER_EMAIL, MALIPO_APPROVER_PASSWORD and
MALIPO_APPROVER_TOTP_SECRET are in the environment. Without them the command says who must do what, and waits. A payout
needs a balance: if it is too low, the command creates a collection first. payout.expired needs a policy that lets a payout
wait for less than the timeout; otherwise the command cancels the payout again.

  --amount N         in the currency's smallest unit; default 1000
  --row DIGITS       the last three digits of the phone, where another row of the sandbox's table leads to the event too: 020,
                     other money paid, is reconciling at once; 022 and 023 succeed after faults of the operator
  --endpoint ID      for endpoint.test; default: the only enabled endpoint
  --timeout SECONDS  wait at most this long, then exit code 5; default 300. collection.reconciling comes at the end of the
                     prompt's window: after 3 minutes in the demonstration, after more than five with real durations
                     (MALIPO_CLOCKS=real), as does payout.reconciling then

With --json: the event with its body as text.

examples
  malipo trigger collection.succeeded
  malipo trigger collection.succeeded --row 023
  (set -a; . var/demo.env; malipo trigger payout.succeeded --json | jq -r .body)
`;

const MAX_SECONDS = 86_400;

export const trigger: Command = {
  name: 'trigger',
  summary: 'trigger an event in the test environment',
  help: HELP,
  options: { amount: TEXT, row: TEXT, endpoint: TEXT, timeout: TEXT },
  positionals: [1, 1],
  async run(line, context) {
    const type = TYPES.find((each) => each === line.positionals[0]);
    if (type === undefined)
      throw usage(`there is no type “${line.positionals[0] ?? ''}”; the types are: ${TYPES.join(', ')}`);
    const endpoint = line.text('endpoint');
    if (endpoint !== null && type !== 'endpoint.test') throw usage('--endpoint is only for endpoint.test');
    const recipe = withRow(RECIPES[type], line.text('row'));
    const amount = readCount(line, 'amount', 999_999_999) ?? 1000;
    const timeoutMs = 1000 * (readCount(line, 'timeout', MAX_SECONDS) ?? 300);
    const signedIn = await signIn(line, context);
    requireTest(signedIn, 'trigger');
    const started: Trigger = { signedIn, context, amount, giveUpAtMs: Date.now() + timeoutMs };
    const event = await triggerEvent(started, { type, recipe, endpoint });
    printResult(line, context, event, `${event.type}  ${event.id}  of ${event.object_id}\n${indented(event.body)}`);
  },
};

// For reading only: the body that is sent has no white space, and `malipo events` prints it exactly.
function indented(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}

type Wanted = { readonly type: EventType; readonly recipe: Recipe; readonly endpoint: string | null };

async function triggerEvent(trigger: Trigger, { type, recipe, endpoint }: Wanted): Promise<EventObject> {
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
