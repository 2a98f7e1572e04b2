// `npm run merchant`: makes a merchant whose first owner can come in, and says plainly what it cannot do.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { findProjectRoot } from '../../src/embedded/project-root.ts';
import { call } from '../support/api.ts';
import { openHouse, type House } from '../support/house.ts';
import { openBrowser } from '../support/people.ts';
import { API_ONLY } from '../api/answers.ts';

type Outcome = { readonly code: number; readonly out: string; readonly err: string };

const root = findProjectRoot();
const PASSWORD = 'a password of their own';

describe('npm run merchant', () => {
  let house: House;
  before(async () => {
    house = await openHouse(API_ONLY);
  });
  after(() => house.stop());

  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = house.environment) =>
    new Promise<Outcome>((resolve) => {
      const command = ['--import', 'tsx/esm', join(root, 'src/processes/merchant.ts'), ...args];
      const env = { PATH: process.env['PATH'], ...environment };
      execFile(process.execPath, command, { cwd: root, env, timeout: 50_000 }, (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      });
    });
  const merchantCount = async () => (await house.db.pool.query('SELECT 1 FROM merchants')).rowCount;

  it('makes a merchant whose first owner comes in by the invitation', async () => {
    const made = await run(['create', '--name', 'Duka la Amina', '--currency', 'KES', '--email', 'Amina@duka.example']);
    assert.equal(made.code, 0, made.err);
    const merchantId = /^merchant +(mer_[0-9a-z]{26})$/m.exec(made.out)?.[1];
    const token = /^invitation +([\w-]{43})$/m.exec(made.out)?.[1];
    assert.ok(merchantId !== undefined && token !== undefined, made.out);
    const json = { token, name: 'Amina', password: PASSWORD };
    const accepted = await call(house.baseUrl, 'POST', '/v1/console/invitations/accept', {
      json,
      idempotencyKey: null,
    });
    assert.deepEqual([accepted.status, accepted.json['roles']], [201, ['owner']], accepted.text);
    const browser = openBrowser(house.baseUrl);
    const credentials = { email: 'amina@duka.example', password: PASSWORD };
    const session = await browser.call('POST', '/v1/console/session', { json: credentials });
    assert.deepEqual(session.json['merchant'], { id: merchantId, name: 'Duka la Amina', currency: 'KES' });
    assert.deepEqual((await browser.call('GET', '/v1/api/balance')).json, { available: 0, held: 0, currency: 'KES' });
  });

  it('shows how it is used', async () => {
    const help = await run(['--help'], {});
    assert.equal(help.code, 0);
    assert.match(help.out, /^usage: npm run merchant -- create --name NAME --currency CODE --email ADDRESS/);
    assert.match(help.out, /UGX.*KES/);
  });

  it('refuses a command that it does not know, all that is wrong at once, and makes nothing', async () => {
    const before = await merchantCount();
    const cases: readonly (readonly [string[], RegExp])[] = [
      [[], /the one command there is: create/],
      [['remove'], /the one command there is: create/],
      [['create'], /--name is missing\n--currency is missing\n--email is missing/],
      [
        ['create', '--name', ' ', '--currency', 'EUR', '--email', 'amina'],
        /--name must be 1 to 200 .*\n--currency must be one of UGX, .*\n--email must be an e-mail address/,
      ],
      [['create', '--colour', 'red'], /--colour/],
    ];
    for (const [args, says] of cases) {
      const refused = await run(args, {});
      assert.equal(refused.code, 2, args.join(' '));
      assert.match(refused.err, says);
      assert.match(refused.err, /usage: npm run merchant/);
    }
    assert.equal(await merchantCount(), before);
  });

  it('says what is wrong with its settings, or with the database, and shows no secret', async () => {
    const args = ['create', '--name', 'Duka', '--currency', 'KES', '--email', 'amina@duka.example'];
    const without = await run(args, {});
    assert.equal(without.code, 1);
    assert.match(without.err, /no merchant was made: the configuration is not usable:\n[^]*MALIPO_DATABASE_URL/);
    const url = 'postgres://malipo:pa55-word@127.0.0.1:1/malipo';
    const away = await run(args, { ...house.environment, MALIPO_DATABASE_URL: url });
    assert.equal(away.code, 1);
    assert.match(away.err, /no merchant was made: .+/);
    assert.doesNotMatch(away.err + away.out, /pa55-word/);
  });
});
