// Tests help, exit codes and sign-in of `malipo`, and what it stores and refuses.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/engines/process/ports.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import { totpCode, totpStepAt } from '../../src/security/totp.ts';
import { API_ONLY } from '../api/responses.ts';
import { startLiveServer } from '../support/live-server.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { addPerson, PASSWORD, type TestPerson } from '../support/people.ts';
import { jsonOf, startSession, settingsOf, type CliSession, type Outcome } from './malipo-child.ts';
import { attestAll, attestorOf } from '../support/attestation.ts';
import { countRows } from '../db/rows.ts';

const COMMANDS = [
  'login',
  'logout',
  'whoami',
  'listen',
  'trigger',
  'events',
  'resend',
  'deliveries',
  'replay',
  'replays',
  'endpoints',
];

describe('malipo', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let developer: TestPerson;
  let careful: TestPerson;
  const sessions: CliSession[] = [];
  before(async () => {
    developer = await addPerson(testEnv, testEnv.merchant.id, ['developer']);
    careful = await addPerson(testEnv, testEnv.merchant.id, ['developer', 'maker'], { hasSecondFactor: true });
  });
  afterEach(() => Promise.all(sessions.splice(0).map((cli) => cli.clear())));

  const newSession = (settings?: Readonly<Record<string, string>>): CliSession => {
    const cli = startSession(settings);
    sessions.push(cli);
    return cli;
  };

  it('has a help page for itself and for each command, with examples and exit codes', async function () {
    this.timeout(240_000);
    const cli = newSession();
    const own = await cli.run(['--help']);
    assert.deepEqual([own.code, own.err], [0, '']);
    assert.match(own.out, /exit codes: 0 done, 1 .*2 .*3 .*4 .*5 /s);
    for (const name of COMMANDS) {
      assert.match(own.out, new RegExp(`^  ${name} `, 'm'));
      const page = await cli.run([name, '--help']);
      assert.deepEqual([page.code, page.err], [0, ''], name);
      assert.ok(page.out.startsWith(`usage: malipo ${name}`), name);
      if (!['logout', 'whoami'].includes(name)) assert.match(page.out, /^examples?$/m, name);
      const width = Math.max(...page.out.split('\n').map((text) => text.length));
      assert.ok(width <= 130, `${name}: ${width}`);
    }
  });

  it('prints its version, which is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(findProjectRoot(), 'package.json'), 'utf8')) as {
      version: string;
    };
    assert.deepEqual(await newSession().run(['--version']), { code: 0, out: `${version}\n`, err: '' });
  });

  it('exits with 2 for an invalid command line, and says what is wrong', async function () {
    this.timeout(240_000);
    const cli = newSession(settingsOf(testEnv, developer));
    const cases: readonly (readonly [string[], RegExp])[] = [
      [[], /usage: malipo COMMAND/],
      [['dance'], /no command “dance”/],
      [['help', 'dance'], /no command “dance”/],
      [['help', 'listen', 'now'], /“now”/],
      [['--version', 'listen'], /“listen”/],
      [['whoami', '--colour', 'red'], /--colour/],
      [['whoami', 'now'], /“now”/],
      [['events', '--limit', '0'], /--limit must be a whole number from 1/],
      [['events', '--since', 'yesterday'], /--since must be a time/],
      [['events', '--type', 'collection.paid'], /“collection.paid”; it takes one of: collection.prompted/],
      [['listen'], /--forward-to URL, or --print/],
      [['listen', '--forward-to', 'ftp://shop'], /--forward-to must be a URL/],
      [['resend', 'evt_1'], /--forward-to/],
      [['trigger'], /needs more arguments/],
      [['trigger', 'collection.paid'], /no type “collection.paid”/],
      [['replay'], /name a delivery, or select deliveries/],
      [['replay', 'dlv_1', '--all'], /not both/],
      [['endpoints', 'add'], /malipo endpoints add URL/],
      [['whoami', '--base-url', 'http://pay.example'], /must begin with https/],
      [['whoami', '--base-url', 'https://pay.example/v1'], /must have no path/],
      [['whoami', '--base-url', 'https://amina:secret@pay.example'], /contains credentials/],
    ];
    for (const [args, says] of cases) {
      const refused = await cli.run(args);
      assert.equal(refused.code, 2, `${args.join(' ')}: ${refused.err}`);
      assert.match(refused.out + refused.err, says);
      assert.equal(refused.out, '');
    }
    assert.equal((await newSession().run(['whoami'])).code, 2);
  });

  it('logs in, and stores the session readable by its owner only, without the password', async () => {
    const cli = newSession();
    const entered = await cli.run(['login'], settingsOf(testEnv, developer));
    assert.equal(entered.code, 0, entered.err);
    assert.match(entered.out, new RegExp(`<${developer.email}> at ${testEnv.baseUrl} \\(test\\)\nfor Test merchant`));
    assert.equal(statSync(cli.configFile).mode & 0o777, 0o600);
    assert.ok(!readFileSync(cli.configFile, 'utf8').includes(PASSWORD));
    // From here on the environment names neither the person nor the service.
    const who = jsonOf(await cli.run(['whoami', '--json'])) as {
      person: { email: string };
      base_url: string;
      roles: string[];
    };
    assert.deepEqual([who.person.email, who.base_url, who.roles], [developer.email, testEnv.baseUrl, ['developer']]);
    chmodSync(cli.configFile, 0o644);
    assert.equal((await cli.run(['whoami'])).code, 0);
    assert.equal(statSync(cli.configFile).mode & 0o777, 0o600);
    assert.deepEqual(jsonOf(await cli.run(['logout', '--json'])), { logged_out: [developer.email] });
    const without = await cli.run(['whoami']);
    assert.equal(without.code, 3);
    assert.match(without.err, /not logged in at .* Run: malipo login/);
  });

  it('logs in with credentials from the environment, and with the next code when the current one is used up', async () => {
    const settings = settingsOf(testEnv, careful);
    const who = await newSession(settings).run(['whoami', '--json']);
    assert.equal((jsonOf(who) as { has_second_factor: boolean }).has_second_factor, true);
    const again = await newSession(settings).run(['whoami']);
    assert.equal(again.code, 0, again.err);
  });

  it('signs in as the demo’s maker when nobody else is named', async () => {
    const { MALIPO_BASE_URL, MALIPO_EMAIL, MALIPO_PASSWORD } = settingsOf(testEnv, developer);
    const cli = newSession({
      MALIPO_BASE_URL: MALIPO_BASE_URL!,
      MALIPO_MAKER_EMAIL: MALIPO_EMAIL!,
      MALIPO_MAKER_PASSWORD: MALIPO_PASSWORD!,
    });
    const who = jsonOf(await cli.run(['whoami', '--json'])) as { person: { email: string } };
    assert.equal(who.person.email, developer.email);
  });

  it('exits with 3 for a wrong password or code, and stores nothing', async () => {
    const cli = newSession();
    const wrong = await cli.run(['whoami'], { ...settingsOf(testEnv, developer), MALIPO_PASSWORD: 'wrong' });
    assert.equal(wrong.code, 3);
    assert.match(wrong.err, /e-mail, password or code is not right/);
    const code = totpCode(careful.totpSecret!, totpStepAt(new Date()) + 9);
    // A typed code takes precedence over the secret.
    const late = await cli.run(['login'], { ...settingsOf(testEnv, careful), MALIPO_TOTP: code });
    assert.equal(late.code, 3);
    assert.match(late.err, /A one-time code works once/);
    assert.ok(!existsSync(cli.configFile));
  });

  it('exits with 2 without a terminal to ask at, and names the variables to set', async () => {
    const asked = await newSession().run(['login', '--base-url', testEnv.baseUrl]);
    assert.equal(asked.code, 2);
    assert.match(asked.err, /no terminal to ask for: e-mail address/);
    const half = await newSession().run(['whoami'], {
      MALIPO_BASE_URL: testEnv.baseUrl,
      MALIPO_EMAIL: developer.email,
    });
    assert.equal(half.code, 2);
    assert.match(half.err, /MALIPO_PASSWORD is not/);
  });

  it('exits with 4 when nothing answers, and with 1 when the server is not Malipo', async () => {
    const away = { ...settingsOf(testEnv, developer), MALIPO_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const silent = await newSession(away).run(['whoami']);
    assert.equal(silent.code, 4);
    assert.match(silent.err, /does not answer \(ECONNREFUSED\)/);
    const other = await newSession({ ...away, MALIPO_BASE_URL: testEnv.sandbox.url }).run(['whoami']);
    assert.equal(other.code, 1, other.err);
    assert.match(other.err, /there is no Malipo at/);
  });

  it('opens a new session when the stored one has ended, and exits with 3 when it cannot', async () => {
    const cli = newSession();
    const settings = settingsOf(testEnv, developer);
    assert.equal((await cli.run(['login'], settings)).code, 0);
    await testEnv.db.pool.query('DELETE FROM sessions WHERE user_id = $1', [developer.id]);
    assert.equal((await cli.run(['whoami'], settings)).code, 0);
    await testEnv.db.pool.query('DELETE FROM sessions WHERE user_id = $1', [developer.id]);
    const ended = await cli.run(['whoami']);
    assert.equal(ended.code, 3);
    assert.match(ended.err, /not logged in/);
  });

  it('acts for the merchant that is named, and never for another one in its place', async () => {
    const other = await testEnv.addMerchant();
    const both = await addPerson(testEnv, testEnv.merchant.id, ['developer']);
    await addPerson(testEnv, other.id, ['viewer'], { email: both.email });
    const cli = newSession();
    const settings = settingsOf(testEnv, both);
    const merchantIn = (outcome: Outcome) => (jsonOf(outcome) as { merchant: { id: string } }).merchant.id;
    assert.equal(merchantIn(await cli.run(['login', '--json', '--merchant', other.id], settings)), other.id);
    assert.equal(merchantIn(await cli.run(['whoami', '--json'])), other.id);
    const named = { MALIPO_MERCHANT_ID: testEnv.merchant.id };
    const refused = await cli.run(['whoami'], named);
    assert.equal(refused.code, 3, refused.err);
    assert.match(
      refused.err,
      new RegExp(`not logged in .* for ${testEnv.merchant.id}.* --merchant ${testEnv.merchant.id}`),
    );
    assert.equal(merchantIn(await cli.run(['whoami', '--json'], { ...settings, ...named })), testEnv.merchant.id);
    const stranger = await testEnv.addMerchant();
    const away = await cli.run(['login', '--merchant', stranger.id], settings);
    assert.equal(away.code, 3);
    assert.match(away.err, new RegExp(`code is not right, or they are not a member of ${stranger.id}`));
  });

  it('exits with 3 when a role is missing, with the service’s message and the request id', async () => {
    const viewer = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const cli = newSession(settingsOf(testEnv, viewer));
    const refused = await cli.run(['trigger', 'collection.succeeded', '--json']);
    assert.equal(refused.code, 3);
    assert.equal(refused.out, '');
    assert.match(refused.err, /You may not do this.*permission_denied, req_/);
    assert.match(refused.err, /malipo whoami shows your roles/);
  });

  it('refuses to listen to a live service and to trigger anything there', async () => {
    const { baseUrl } = await startLiveServer(testEnv);
    const owner = await addPerson(testEnv, testEnv.merchant.id, ['owner']);
    await attestAll(testEnv.db, attestorOf('live'));
    const cli = newSession({ ...settingsOf(testEnv, owner), MALIPO_BASE_URL: baseUrl });
    for (const args of [
      ['listen', '--print'],
      ['trigger', 'collection.succeeded'],
      ['trigger', 'endpoint.test'],
      ['resend', 'evt_1', '--forward-to', testEnv.receiver.url],
    ]) {
      const refused = await cli.run(args);
      assert.equal(refused.code, 3, `${args.join(' ')}: ${refused.err}`);
      assert.match(refused.err, /is live, but malipo \w+ is only for test environments/);
    }
    assert.equal(await countRows(testEnv.db, "payments WHERE kind = 'collection'"), 0);
    await attestAll(testEnv.db);
  });

  it('names the remedy for an unreadable configuration file', async () => {
    const cli = newSession(settingsOf(testEnv, developer));
    assert.equal((await cli.run(['whoami'])).code, 0);
    writeFileSync(cli.configFile, '{"places": 7}');
    const confused = await cli.run(['whoami']);
    assert.equal(confused.code, 1);
    assert.match(confused.err, /config.json is not valid. Remove the file and log in again/);
  });
});
