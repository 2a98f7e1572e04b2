// Tests that `malipo` can do with endpoints, deliveries, events and replays all that the API can, with a real service.
import assert from 'node:assert/strict';
import { pay, untilState } from '../support/payments.ts';
import { addPerson, type TestPerson } from '../support/people.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { jsonOf, settingsOf, startSession, type CliSession } from './malipo-child.ts';

/** How each operation of the API is reached. */
const COMMANDS: Readonly<Record<string, string>> = {
  listEndpoints: 'endpoints',
  createEndpoint: 'endpoints add',
  getEndpoint: 'endpoints show',
  changeEndpoint: 'endpoints change',
  deleteEndpoint: 'endpoints delete',
  rotateEndpointSecret: 'endpoints rotate',
  testEndpoint: 'endpoints test',
  listDeliveries: 'deliveries',
  getDelivery: 'deliveries',
  replayDelivery: 'replay',
  createReplay: 'replay',
  listReplays: 'replays',
  getReplay: 'replays',
  listEvents: 'events',
  getEvent: 'events',
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
};
type Endpoint = {
  readonly id: string;
  readonly url: string;
  readonly state: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly secret: string;
};

describe('malipo endpoints', function () {
  this.timeout(120_000);
  const testEnv = useTestEnvironment();
  let developer: TestPerson;
  let cli: CliSession;
  before(async () => {
    developer = await addPerson(testEnv, testEnv.merchant.id, ['developer']);
    cli = startSession(settingsOf(testEnv, developer));
  });
  afterEach(() => cli.clear());

  const endpoints = async (...args: string[]) => jsonOf(await cli.run(['endpoints', ...args, '--json'])) as Endpoint;
  const add = (place: string) => endpoints('add', `${testEnv.receiver.url}/${place}`);

  it('has a command for every operation of the API about endpoints, deliveries, events and replays', async () => {
    const response = await fetch(`${testEnv.baseUrl}/v1/openapi.json`);
    const { paths } = (await response.json()) as Document;
    const operations = Object.entries(paths)
      .filter(([path]) => /^\/v1\/console\/(endpoints|deliveries|events|replays)(\/|$)/.test(path))
      .flatMap(([, methods]) => Object.values(methods).flatMap(({ operationId }) => operationId ?? []));
    assert.deepEqual(operations.toSorted(), Object.keys(COMMANDS).toSorted());
    for (const command of new Set(Object.values(COMMANDS))) {
      const [name = '', verb] = command.split(' ');
      const help = await cli.run([name, '--help']);
      assert.match(help.out, new RegExp(`malipo ${name}${verb === undefined ? '' : `.* ${verb}\\b`}`), command);
    }
  });

  it('changes the named settings of an endpoint, and leaves the rest', async () => {
    const { id, url } = await add('changed');
    const types = ['--types', 'collection.failed,payout.failed'];
    const described = await endpoints('change', id, '--description', 'The shop', ...types);
    assert.deepEqual([described.url, described.description], [url, 'The shop']);
    assert.deepEqual(described.event_types, ['collection.failed', 'payout.failed']);
    const moved = await endpoints('change', id, '--url', `${url}/moved`, '--description', '', '--types', 'all');
    assert.deepEqual([moved.url, moved.description, moved.event_types], [`${url}/moved`, null, null]);
    assert.deepEqual((await endpoints('show', id)).url, `${url}/moved`);
    const shown = await cli.run(['endpoints', 'show', id]);
    assert.match(shown.out, new RegExp(`^${id}  .*/moved\nstate enabled\ntypes all\n$`));
  });

  it('disables and enables an endpoint, and withholds deliveries in between until a replay', async () => {
    const { id, secret } = await add('paused');
    testEnv.receiver.trust('paused', secret);
    assert.equal((await endpoints('disable', id)).state, 'disabled');
    assert.match((await cli.run(['endpoints', 'show', id])).out, /^state disabled \(by_person\)$/m);
    const payment = await pay(testEnv, '100');
    await untilState(testEnv, payment, 'succeeded');
    assert.deepEqual(testEnv.receiver.all('paused'), []);
    assert.equal((await endpoints('enable', id)).state, 'enabled');
    const replayed = await cli.run(['replay', '--endpoint', id, '--state', 'withheld', '--wait']);
    assert.equal(replayed.code, 0, replayed.err);
    await eventually('what was withheld', () => testEnv.receiver.all('paused').length >= 2);
    const listed = jsonOf(await cli.run(['replays', '--json'])) as { data: { id: string; state: string }[] };
    const [last] = listed.data;
    assert.equal(last?.state, 'completed');
    assert.match(
      (await cli.run(['replays', last.id])).out,
      new RegExp(`^${last.id} is completed: \\d+ of \\d+ sent again`),
    );
  });

  it('rotates a secret: the new one signs at once, and the previous one for as long as it is kept', async () => {
    const { id, secret } = await add('rotated');
    testEnv.receiver.trust('rotated', secret);
    const kept = await cli.run(['endpoints', 'rotate', id, '--keep-previous', '3600']);
    const second = /^secret (whsec_[\w-]{43}) /m.exec(kept.out)?.[1];
    assert.ok(second !== undefined && second !== secret, kept.out + kept.err);
    await endpoints('test', id);
    const first = await eventually('the first test', () => testEnv.receiver.all('rotated')[0]);
    assert.ok(first.isVerified, 'the previous secret signs too');
    const third = (await endpoints('rotate', id)).secret;
    assert.notEqual(third, second);
    await endpoints('test', id);
    const next = await eventually('the second test', () => testEnv.receiver.all('rotated')[1]);
    assert.equal(next.isVerified, false, 'it does not any more');
    testEnv.receiver.trust('rotated', third);
    await endpoints('test', id);
    assert.ok((await eventually('the third test', () => testEnv.receiver.all('rotated')[2])).isVerified);
  });

  it('deletes an endpoint, and refuses options that the act does not take', async () => {
    const { id } = await add('deleted');
    const deleted = await cli.run(['endpoints', 'delete', id]);
    assert.deepEqual([deleted.code, deleted.out], [0, `${id} is deleted\n`], deleted.err);
    const gone = await cli.run(['endpoints', 'show', id]);
    assert.equal(gone.code, 1);
    assert.match(gone.err, /endpoint_not_found/);
    for (const [args, says] of [
      [['change', id], /name the fields to change/],
      [['disable', id, '--types', 'all'], /malipo endpoints disable does not take --types/],
      [['rotate', id, '--keep-previous', '86401'], /whole number from 1 to 86400/],
      [['delete'], /malipo endpoints delete ENDPOINT_ID/],
      [['toString', id], /usage: malipo endpoints/],
      [['delete', '..'], /is not an id/],
    ] as const) {
      const refused = await cli.run(['endpoints', ...args]);
      assert.equal(refused.code, 2, args.join(' '));
      assert.match(refused.err, says);
    }
  });
});
