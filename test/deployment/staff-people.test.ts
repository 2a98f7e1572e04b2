// `npm run staff`: the staff themselves, from the first two on, as they run the commands with and without a terminal.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { findProjectRoot } from '../../src/project-root.ts';
import type { StaffMember } from '../../src/domain/accounts/staff.ts';
import { API_ONLY } from '../api/responses.ts';
import { hasTerminals, runAtTerminal } from '../support/at-terminal.ts';
import { builtFile } from '../support/build.ts';
import { codeOf } from '../support/people.ts';
import { forgetUsedSteps } from '../support/staff.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { runStaff } from './staff-child.ts';

const PASSWORD = 'seven lorries of green bananas';
const ENTRY = 'dist/src/server/entries/staff.js';

type Enrolled = StaffMember & { readonly totpSecret: string };

describe('the people of npm run staff', () => {
  const testEnv = useTestEnvironment({ ...API_ONLY, hasAccounts: false });
  const people: Record<string, Enrolled> = {};

  const run = (args: string, input = '') => runStaff(args.split(' '), testEnv.environment, input);

  /** Runs a command that shows secrets: answers each with its present code. Resolves with what it printed, and the secrets. */
  function enrolBy(args: string, ...lines: readonly string[]) {
    const env = { PATH: process.env['PATH'], ...testEnv.environment };
    const child = spawn(process.execPath, [builtFile(ENTRY), ...args.split(' ')], { cwd: findProjectRoot(), env });
    let [out, err] = ['', ''];
    const secrets: string[] = [];
    const left = [...lines];
    const sendNext = () => {
      const line = left.shift();
      if (line !== undefined) child.stdin.write(`${line}\n`);
    };
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (text) => (err += String(text)));
    child.stdout.on('data', (text) => {
      out += String(text);
      const shown = [...out.matchAll(/^secret +([A-Z2-7]{32})$/gm)].map(([, secret = '']) => secret);
      for (const secret of shown.slice(secrets.length)) {
        secrets.push(secret);
        child.stdin.write(`${codeOf(secret)}\n`);
        sendNext();
      }
    });
    // The password of a second person follows the code of the first one.
    while (left.length > (args.startsWith('begin') ? 1 : 0)) sendNext();
    return new Promise<{ out: string; err: string; code: number | null; secrets: string[] }>((resolve) => {
      child.on('close', (code) => {
        resolve({ out, err, code, secrets });
      });
    });
  }

  async function logIn(name: string, password = PASSWORD): Promise<string> {
    const { id, totpSecret } = people[name]!;
    await forgetUsedSteps(testEnv.db, id);
    return `${password}\n${codeOf(totpSecret)}\n`;
  }

  const note = (out: string, name: string, secret: string | undefined) => {
    const id = new RegExp(`(stf_\\w{26}), ${name}$`, 'm').exec(out)?.[1];
    assert.ok(id !== undefined && secret !== undefined, out);
    people[name] = { id, name, totpSecret: secret } as Enrolled;
  };

  it('begin as two, once, each with a password that is hard to guess', async () => {
    assert.equal((await run('list')).out, 'there is no staff yet: npm run staff -- begin\n');
    const weak = await run('begin --name amina --name brian', 'amina amina amina\n');
    assert.match(weak.err, /^nothing was done: this password is too easily guessed/);
    const made = await enrolBy('begin --name Amina --name brian', PASSWORD, PASSWORD);
    assert.equal(made.code, 0, made.err);
    note(made.out, 'amina', made.secrets[0]);
    note(made.out, 'brian', made.secrets[1]);
    const again = await run('begin --name carol --name dora', `${PASSWORD}\n`);
    assert.deepEqual([again.code, again.out], [1, '']);
    assert.match(again.err, /nothing was done: The service has its staff already/);
    const listed = (await run('list')).out;
    assert.match(listed, /^stf_\w{26} {2}amina: can log in; since [\d-]+, one of the first two\nstf_\w+ {2}brian: /);
  });

  it('add a third one, who enrols with a token from each of the two', async () => {
    const made = await run('add --name carol --as amina', await logIn('amina'));
    assert.equal(made.code, 0, made.err);
    const proposal = /^proposal +(spr_\w{26})$/m.exec(made.out)?.[1] ?? '';
    const first = /^token +([\w-]{43})$/m.exec(made.out)?.[1] ?? '';
    const alone = await run(`confirm --proposal ${proposal} --as amina`, await logIn('amina'));
    assert.deepEqual([alone.code, alone.out], [1, '']);
    const confirmed = await run(`confirm --proposal ${proposal} --as brian`, await logIn('brian'));
    const second = /^token +([\w-]{43})$/m.exec(confirmed.out)?.[1] ?? '';
    assert.match(confirmed.out, new RegExp(`^confirmed +${proposal}, proposed by amina: carol joins the staff$`, 'm'));
    assert.match((await run('list')).out, /carol: has not enrolled; since [\d-]+, added by amina and brian/);
    const withOne = await enrolBy('enrol --name carol', first, first, PASSWORD);
    assert.match(withOne.err, /nothing was done: These are not the two tokens/);
    const enrolled = await enrolBy('enrol --name carol', first, second, PASSWORD);
    assert.equal(enrolled.code, 0, enrolled.err);
    note(enrolled.out, 'carol', enrolled.secrets[0]);
    assert.equal((await run('attestations renew --as carol', await logIn('carol'))).code, 0);
  });

  it('log in for each act: a code counts once, and without one nothing is done', async () => {
    const input = await logIn('carol');
    assert.equal((await run('attestations renew --as carol', input)).code, 0);
    for (const wrong of [input, `${PASSWORD}\n000000\n`, 'wrong\n000000\n']) {
      const refused = await run('attestations renew --as carol', wrong);
      assert.deepEqual([refused.code, refused.out], [1, '']);
      assert.match(refused.err, /^nothing was done: Name, password or code is not right/);
    }
    const without = await run('attestations renew --as carol', `${PASSWORD}\n`);
    assert.match(without.err, /^nothing was done: standard input has no line for the one-time code of carol$/m);
    const { rows } = await testEnv.db.pool.query(
      `SELECT outcome, after ->> 'command' AS command FROM audit_entries
       WHERE action = 'staff.logged_in' AND staff = 'carol' ORDER BY id DESC LIMIT 4`,
    );
    assert.deepEqual(
      rows.map(({ outcome, command }: { outcome: string; command: string }) => [outcome, command]),
      [...Array<string>(3).fill('refused'), 'done'].map((outcome) => [outcome, 'attestations renew']),
    );
  });

  it('end one of them by a decision of two, who is no staff member from then on', async () => {
    const made = await run('end --name carol --as amina', await logIn('amina'));
    const proposal = /^proposal +(spr_\w{26})$/m.exec(made.out)?.[1] ?? '';
    assert.doesNotMatch(made.out, /^token/m);
    const confirmed = await run(`confirm --proposal ${proposal} --as brian`, await logIn('brian'));
    assert.deepEqual([confirmed.code, /^token/m.test(confirmed.out)], [0, false], confirmed.err);
    const refused = await run('attestations renew --as carol', `${PASSWORD}\n${codeOf(people['carol']!.totpSecret)}\n`);
    assert.match(refused.err, /Name, password or code is not right/);
    const last = await run('end --name brian --as amina', await logIn('amina'));
    assert.match(last.err, /nothing was done: Without brian, fewer than two of the staff could log in/);
  });

  it('are asked at a terminal, which shows neither password nor code', async function () {
    if (!hasTerminals()) this.skip();
    const [password, code = ''] = (await logIn('amina')).split('\n');
    const { shown, code: exitCode } = await runAtTerminal({
      command: [process.execPath, builtFile(ENTRY), 'attestations', 'renew', '--as', 'amina'],
      env: { PATH: process.env['PATH'], ...testEnv.environment },
      answers: [
        ['password of amina', password ?? ''],
        ['one-time code of amina', code],
      ],
    });
    assert.equal(exitCode, 0, shown);
    assert.match(shown, /password of amina: [\s\S]*one-time code of amina: [\s\S]*renewed/);
    assert.ok(!shown.includes(PASSWORD) && !shown.includes(code), shown);
  });
});
