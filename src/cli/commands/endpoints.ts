// `malipo endpoints`: lists, adds and tests the endpoints that receive webhooks.
import { z } from 'zod';
import { PAYMENT_EVENT_TYPES } from '../../domain/event.ts';
import { endpointSchema, parseResponse, type EndpointObject } from '../responses.ts';
import { readChoices, TEXT, type Command, type Context, type CommandLine } from '../command.ts';
import { usage } from '../failure.ts';
import { printList, readList } from '../pages.ts';
import { credentialsOf, signIn, verifyAgain } from '../sign-in.ts';

const HELP = `usage: malipo endpoints [list] [--json]
       malipo endpoints add URL [--description TEXT] [--types A,B] [--json]
       malipo endpoints test ENDPOINT_ID [--json]

Lists the endpoints; adds one, whose signing secret is shown this once; or sends one an endpoint.test event. Everybody
may list; adding and testing need the role developer or admin. The rest is in the console.

  --description TEXT  for people
  --types A,B         only these types; without it all of them

examples
  malipo endpoints add https://shop.example/malipo --types collection.succeeded,collection.failed
  malipo endpoints test whe_01kdvc…
`;

const PATH = '/v1/console/endpoints';
const addedSchema = endpointSchema.extend({ secret: z.string() });
const testedSchema = z.looseObject({ event_id: z.string(), delivery_id: z.string() });

export const endpoints: Command = {
  name: 'endpoints',
  summary: 'where webhooks go: list, add, test',
  help: HELP,
  options: { description: TEXT, types: TEXT },
  positionals: [0, 2],
  async run(line, context) {
    const [verb = 'list', subject] = line.positionals;
    if (verb === 'list' && subject === undefined) await list(line, context);
    else if (verb === 'add' && subject !== undefined) await add(subject, line, context);
    else if (verb === 'test' && subject !== undefined) await test(subject, line, context);
    else throw usage('it is: malipo endpoints, malipo endpoints add URL, or malipo endpoints test ENDPOINT_ID');
  },
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const listed = await readList(api, { path: PATH, query: {}, item: endpointSchema, limit: null });
  printList(listed, line, context.terminal, {
    endpoint: (row) => row.id,
    state: health,
    types: (row) => row.event_types?.join(',') ?? 'all',
    url: (row) => row.url,
  });
}

function health({ state, disabled_reason: reason, failing_since: failingSince }: EndpointObject): string {
  if (state === 'disabled') return `disabled (${reason ?? 'unknown'})`;
  return failingSince === null ? state : `${state}, failing since ${failingSince}`;
}

async function add(url: string, line: CommandLine, context: Context): Promise<void> {
  const types = readChoices(line, 'types', PAYMENT_EVENT_TYPES);
  const description = line.text('description');
  const signedIn = await signIn(line, context);
  const credentials = credentialsOf(context.environment) ?? credentialsOf(context.environment, 'MAKER_');
  await verifyAgain(signedIn, credentials, new Date());
  const { api } = signedIn;
  const json = { url, ...(description !== null && { description }), ...(types && { event_types: types }) };
  const added = parseResponse(addedSchema, await api.call('POST', PATH, { json }));
  const { terminal } = context;
  if (line.isJson) terminal.print(JSON.stringify(added));
  else terminal.print(`${added.id}  ${added.url}\nsecret ${added.secret}   (not shown again)`);
}

async function test(id: string, line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const tested = parseResponse(testedSchema, await api.call('POST', `${PATH}/${encodeURIComponent(id)}/test`));
  const { event_id: eventId, delivery_id: deliveryId } = tested;
  const { terminal } = context;
  if (line.isJson) terminal.print(JSON.stringify(tested));
  else
    terminal.print(`endpoint.test ${eventId} is on its way; malipo deliveries ${deliveryId} shows what was answered`);
}
