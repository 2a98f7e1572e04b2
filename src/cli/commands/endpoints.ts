// `malipo endpoints`: everything that the API can do with endpoints.
import { z } from 'zod';
import { PAYMENT_EVENT_TYPES } from '../../domain/event.ts';
import { endpointSchema, parseResponse, type EndpointObject } from '../responses.ts';
import type { ApiResponse } from '../api.ts';
import { printResult, readChoices, readCount, TEXT, type Command, type Context, type CommandLine } from '../command.ts';
import { usage } from '../failure.ts';
import { printList, readList, showOne } from '../pages.ts';
import { credentialsOf, signIn, verifyAgain, type SignedIn } from '../sign-in.ts';

const HELP = `usage: malipo endpoints [list] [--json]
       malipo endpoints show ENDPOINT_ID [--json]
       malipo endpoints add URL [--description TEXT] [--types A,B] [--json]
       malipo endpoints change ENDPOINT_ID [--url URL] [--description TEXT] [--types A,B|all] [--json]
       malipo endpoints disable|enable ENDPOINT_ID [--json]
       malipo endpoints rotate ENDPOINT_ID [--keep-previous SECONDS] [--json]
       malipo endpoints test ENDPOINT_ID [--json]
       malipo endpoints delete ENDPOINT_ID [--json]

list     the endpoints, newest first
show     one of them, with why it is disabled or since when it fails
add      a new one, whose signing secret is shown only this once
change   its address, description or types; omitted settings stay unchanged
disable  nothing is sent to it until it is enabled; its deliveries are kept, and malipo replay sends them then
rotate   a new signing secret, shown only this once; the previous one stops now, or also signs for as long as it is kept
test     sends one endpoint.test event to it
delete   nothing more is sent to it, and its secrets are erased; its deliveries stay visible

Every role can list and show; the rest needs the role developer or admin.

  --url URL               where events go from now on
  --description TEXT      for people; empty: none
  --types A,B             only these types; all: every type. Default: unchanged, and all for a new endpoint
  --keep-previous SECONDS how long the previous secret also signs, at most 86400; default 0

examples
  malipo endpoints add https://shop.example/malipo --types collection.succeeded,collection.failed
  malipo endpoints rotate whe_01kdvc… --keep-previous 3600
`;

const PATH = '/v1/console/endpoints';
const MAX_KEPT_SECONDS = 86_400;
const withSecretSchema = endpointSchema.extend({ secret: z.string() });
const testedSchema = z.looseObject({ event_id: z.string(), delivery_id: z.string() });

type Act = (id: string, line: CommandLine, context: Context) => Promise<void>;

/** By the typed word: its arguments and options. */
const ACTS: Readonly<Record<string, { readonly takes: string; readonly options: readonly string[]; run: Act }>> = {
  show: { takes: 'ENDPOINT_ID', options: [], run: show },
  add: { takes: 'URL', options: ['description', 'types'], run: add },
  change: { takes: 'ENDPOINT_ID', options: ['url', 'description', 'types'], run: change },
  disable: { takes: 'ENDPOINT_ID', options: [], run: setState('disabled') },
  enable: { takes: 'ENDPOINT_ID', options: [], run: setState('enabled') },
  rotate: { takes: 'ENDPOINT_ID', options: ['keep-previous'], run: rotate },
  test: { takes: 'ENDPOINT_ID', options: [], run: test },
  delete: { takes: 'ENDPOINT_ID', options: [], run: remove },
};
const OPTIONS = { url: TEXT, description: TEXT, types: TEXT, 'keep-previous': TEXT };

export const endpoints: Command = {
  name: 'endpoints',
  summary: 'manage endpoints: list, add, change, disable, rotate, test, delete',
  help: HELP,
  options: OPTIONS,
  positionals: [0, 2],
  async run(line, context) {
    const [verb = 'list', subject] = line.positionals;
    const act = Object.hasOwn(ACTS, verb) ? ACTS[verb] : undefined;
    const given = Object.keys(OPTIONS).filter((name) => line.text(name) !== null);
    const stray = given.find((name) => act?.options.includes(name) !== true);
    if (stray !== undefined) throw usage(`malipo endpoints ${verb} does not take --${stray}`);
    if (act !== undefined && subject !== undefined) await act.run(subject, line, context);
    else if (verb === 'list' && subject === undefined) await list(line, context);
    else {
      const forms = Object.entries(ACTS).map(([name, { takes }]) => `malipo endpoints ${name} ${takes}`);
      throw usage(`usage: malipo endpoints, ${forms.join(', ')}`);
    }
  },
};

async function list(line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const listed = await readList(api, { path: PATH, query: {}, item: endpointSchema, limit: null });
  printList(listed, line, context, {
    endpoint: (row) => row.id,
    state: health,
    types: typesOf,
    url: (row) => row.url,
  });
}

function typesOf({ event_types: types }: EndpointObject): string {
  return types?.join(',') ?? 'all';
}

function health({ state, disabled_reason: reason, failing_since: failingSince }: EndpointObject): string {
  if (state === 'disabled') return `disabled (${reason ?? 'unknown'})`;
  return failingSince === null ? state : `${state}, failing since ${failingSince}`;
}

function textOf(endpoint: EndpointObject): string {
  const description = endpoint.description === null ? '' : `\ndescription ${endpoint.description}`;
  return `${endpoint.id}  ${endpoint.url}\nstate ${health(endpoint)}\ntypes ${typesOf(endpoint)}${description}`;
}

function printWithSecret(answer: ApiResponse, line: CommandLine, context: Context): void {
  const endpoint = parseResponse(withSecretSchema, answer);
  const { id, url, secret } = endpoint;
  printResult(line, context, endpoint, `${id}  ${url}\nsecret ${secret}   (not shown again)`);
}

async function show(id: string, line: CommandLine, context: Context): Promise<void> {
  await showOne(pathOf(id), line, context, { schema: endpointSchema, textOf });
}

async function add(url: string, line: CommandLine, context: Context): Promise<void> {
  const settings = readSettings(line);
  const { api } = await signInAgain(line, context);
  printWithSecret(await api.call('POST', PATH, { json: { url, ...settings } }), line, context);
}

async function change(id: string, line: CommandLine, context: Context): Promise<void> {
  const url = line.text('url');
  const changes = { ...(url !== null && { url }), ...readSettings(line) };
  if (Object.keys(changes).length === 0) throw usage('name the fields to change: --url, --description or --types');
  await patch(id, changes, { line, context });
}

function setState(state: 'disabled' | 'enabled'): Act {
  return (id, line, context) => patch(id, { state }, { line, context });
}

/** The given options: an empty description means none, and `all` means every type. */
function readSettings(line: CommandLine): Record<string, unknown> {
  const description = line.text('description');
  const types = line.text('types') === 'all' ? 'all' : readChoices(line, 'types', PAYMENT_EVENT_TYPES);
  return {
    ...(description !== null && { description: description === '' ? null : description }),
    ...(types !== null && { event_types: types === 'all' ? null : types }),
  };
}

async function patch(
  id: string,
  changes: object,
  { line, context }: { readonly line: CommandLine; readonly context: Context },
): Promise<void> {
  const { api } = await signInAgain(line, context);
  const changed = parseResponse(endpointSchema, await api.call('PATCH', pathOf(id), { json: changes }));
  printResult(line, context, changed, textOf(changed));
}

async function rotate(id: string, line: CommandLine, context: Context): Promise<void> {
  const kept = line.text('keep-previous') === '0' ? 0 : (readCount(line, 'keep-previous', MAX_KEPT_SECONDS) ?? 0);
  const { api } = await signInAgain(line, context);
  const answer = await api.call('POST', `${pathOf(id)}/rotate`, { json: { keep_previous_for: kept } });
  printWithSecret(answer, line, context);
  if (!line.isJson && kept > 0) context.terminal.say(`the previous secret also signs for ${kept} s`);
}

async function test(id: string, line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  const tested = parseResponse(testedSchema, await api.call('POST', `${pathOf(id)}/test`));
  const { event_id: eventId, delivery_id: deliveryId } = tested;
  const text = `endpoint.test ${eventId} is on its way; malipo deliveries ${deliveryId} shows what was answered`;
  printResult(line, context, tested, text);
}

async function remove(id: string, line: CommandLine, context: Context): Promise<void> {
  const { api } = await signIn(line, context);
  await api.call('DELETE', pathOf(id));
  printResult(line, context, { id, deleted: true }, `${id} is deleted`);
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** The service requires a recent verification for changes of addresses and secrets. */
async function signInAgain(line: CommandLine, context: Context): Promise<SignedIn> {
  const signedIn = await signIn(line, context);
  const credentials = credentialsOf(context.environment) ?? credentialsOf(context.environment, 'MAKER_');
  await verifyAgain(signedIn, credentials, new Date());
  return signedIn;
}
