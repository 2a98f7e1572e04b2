// `npm run staff` and the accounts with operators: credentials are asked for, and never given as arguments.
import assert from 'node:assert/strict';
import { listOperatorAccounts } from '../../src/db/accounts/operator-account.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY } from '../api/responses.ts';
import { call, collectionFields } from '../support/api.ts';
import { AMINA, BRIAN, logInLines } from '../support/staff.ts';
import { eventually } from '../support/test-environment.ts';
import { runStaff } from './staff-child.ts';

const CREDENTIALS = ['client-9', 'the secret of Airtel', '2580'];

describe('npm run staff, for accounts with operators', () => {
  const testEnv = useTestEnvironment({ ...API_ONLY, hasAirtel: false });

  const run = (args: readonly string[]) => runStaff(args, testEnv.environment);
  const act = async (args: readonly string[], lines: readonly string[] = [], by = AMINA) =>
    runStaff(
      [...args, '--as', by.name],
      testEnv.environment,
      `${await logInLines(testEnv.db, by)}${lines.join('\n')}\n`,
    );
  const confirm = async (made: { readonly out: string; readonly err: string }) => {
    const id = /^proposal +(spr_\w+)$/m.exec(made.out)?.[1];
    assert.ok(id !== undefined, made.err);
    const done = await act(['confirm', '--proposal', id], [], BRIAN);
    assert.equal(done.code, 0, done.err);
    return done;
  };
  const terms = '--country UG --base-url https://operator.example --calls-per-second 20'.split(' ');
  const add = (lines: readonly string[], operator = 'airtel-money') =>
    act(['account', 'add', '--operator', operator, ...terms], lines);
  const statusOf = async (phone: string) => {
    const { key } = testEnv.merchant;
    return (await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields({ phone }) }))
      .status;
  };

  it('adds one that another one confirms, who sees what is no secret; it acts without a restart', async () => {
    assert.equal(await statusOf('256752000100'), 400);
    const made = await add(CREDENTIALS);
    assert.equal(made.code, 0, made.err);
    const waiting = await run(['proposals']);
    assert.match(
      waiting.out,
      /payments go to Airtel Money in UG at https:\/\/operator\.example, 20 calls a second; client id client-9$/m,
    );
    const done = await confirm(made);
    for (const { out, err } of [made, waiting, done]) assert.doesNotMatch(out + err, /the secret|2580/);
    assert.match(
      (await run(['account', 'list'])).out,
      /^opa_\w+ {2}active: Airtel Money in UG at .*client id client-9$/m,
    );
    await eventually('a payment to be accepted', async () => (await statusOf('256752000100')) === 202);
  });

  it('refuses credentials that cannot be, and stores none', async () => {
    const refused = await add(['client-9', 'the secret of Airtel', '12']);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.equal(
      refused.err,
      'nothing was done: the PIN of the wallet from which payouts are paid must be four digits\n',
    );
    const short = await add(['client-9']);
    assert.match(short.err, /standard input has no line for the client secret/);
    const absent = await act(
      ['account', 'add', '--operator', 'daraja', ...terms.map((word) => (word === 'UG' ? 'KE' : word))],
      ['key', 'secret', '174379', 'passkey', '600997', 'name', 'password', '/nowhere/certificate.pem'],
    );
    assert.match(absent.err, /nothing was done: .*ENOENT.*certificate\.pem/);
    const second = await add(['user', 'x', 'y', 'z', 'v', 'w'], 'mtn-momo');
    assert.equal(second.code, 1);
    assert.match(second.err, /^nothing was done: There is an account with MTN MoMo/);
  });

  it('closes one, for which no payment is accepted any more, and opens it again with other credentials', async () => {
    const accounts = await listOperatorAccounts(testEnv.db);
    const id = accounts.find(({ operator }) => operator === 'airtel-money')!.id;
    const closed = await act(['account', 'close', '--account', id]);
    assert.match((await confirm(closed)).out, /the account opa_\w+ with Airtel Money in UG takes no more payments$/m);
    await eventually('payments to be refused', async () => (await statusOf('256752000100')) === 400);
    await confirm(await act(['account', 'rotate', '--account', id], ['client-10', 'another secret', '1234']));
    await eventually('payments to be accepted again', async () => (await statusOf('256752000100')) === 202);
    assert.match((await run(['account', 'list'])).out, /client id client-10$/m);
    const again = await act(['account', 'close', '--account', id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]);
    assert.match(again.err, /^nothing was done: No account has this id/);
  });

  it('takes no credentials and no wrong terms as arguments', async () => {
    const wrong = await act(['account', 'add', '--operator', 'nobody', '--country', 'Uganda', '--base-url', 'x']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--operator must be one of.*\n--country must be two.*\n--calls-per-second is missing/);
    assert.equal((await act(['account', 'rotate', '--account', 'opa_1', '--pin', '2580'])).code, 2);
  });
});
