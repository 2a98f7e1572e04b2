// `npm run staff`: the staff commands for merchants, and their errors.
import assert from 'node:assert/strict';
import { newId, type MerchantId } from '../../src/domain/ids.ts';
import { linkAuditEntries } from '../../src/operations/accounts/link-audit-entries.ts';
import { recordDiscrepancy } from '../../src/operations/payments/record-discrepancy.ts';
import { makeCollection } from '../db/rows.ts';
import { call } from '../support/api.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { addPerson, enrolSecondFactor, logIn, PASSWORD as KNOWN_PASSWORD } from '../support/people.ts';
import { openBrowser } from '../support/browser.ts';
import { API_ONLY } from '../api/responses.ts';
import { runStaff } from './staff-child.ts';
import { addFirstStaff, AMINA, BRIAN, logInLines } from '../support/staff.ts';
import { setWork } from '../db/work-rows.ts';
import { valuesOf } from '../support/values-of.ts';

const PASSWORD = 'a password of their own';
const BY = ['--as', 'amina'];
const COMMANDS =
  'doctor, list, begin, add, reset, end, enrol, proposals, confirm, reject, merchants, create, waiting, approve, recovery, recovery open, recover, ' +
  'discrepancies, settle, quarantined, account list, account add, account rotate, account close, breakers, breaker open, breaker close, rebuild-totals, personal-data, audit verify, ' +
  'audit export, attestations verify, attestations renew';

describe('npm run staff', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  before(() => addFirstStaff(testEnv.db, testEnv.config.settings.MALIPO_SECRET_KEYS));

  const run = (args: readonly string[], environment = testEnv.environment) => runStaff(args, environment);
  /** As a staff member, who logs in. */
  const act = async (args: readonly string[], by = AMINA) =>
    runStaff([...args, '--as', by.name], testEnv.environment, await logInLines(testEnv.db, by));
  const merchantCount = async () => (await testEnv.db.pool.query('SELECT 1 FROM merchants')).rowCount;

  it('creates a merchant whose first owner accepts the invitation', async () => {
    const made = await act([...'create --currency UGX --email Amina@duka.example --name'.split(' '), 'Duka la Amina']);
    assert.equal(made.code, 0, made.err);
    const merchantId = /^merchant +(mer_[0-9a-z]{26})$/m.exec(made.out)?.[1];
    const token = /^invitation +([\w-]{43})$/m.exec(made.out)?.[1];
    assert.ok(merchantId !== undefined && token !== undefined, made.out);
    const json = { token, name: 'Amina', password: PASSWORD };
    const accepted = await call(testEnv.baseUrl, 'POST', '/v1/console/invitations/accept', {
      json,
      idempotencyKey: null,
    });
    assert.deepEqual([accepted.status, accepted.json['roles']], [201, ['owner']], accepted.text);
    const browser = openBrowser(testEnv.baseUrl);
    const credentials = { email: 'amina@duka.example', password: PASSWORD };
    const session = await browser.call('POST', '/v1/console/session', { json: credentials });
    assert.deepEqual(session.json['merchant'], { id: merchantId, name: 'Duka la Amina', currency: 'UGX' });
    await enrolSecondFactor(browser, PASSWORD);
    assert.deepEqual((await browser.call('GET', '/v1/api/balance')).json, { available: 0, held: 0, currency: 'UGX' });
  });

  it('counts the payments of a merchant again', async () => {
    const { id } = testEnv.merchant;
    await makeCollection(testEnv.db, id, 'succeeded');
    await testEnv.db.pool.query('DELETE FROM state_changes WHERE merchant_id = $1', [id]);
    const rebuilt = await act(['rebuild-totals', '--merchant', id]);
    assert.deepEqual([rebuilt.code, rebuilt.out], [0, 'the totals were counted again\n'], rebuilt.err);
    const count = 'SELECT sum(count)::int AS count FROM payment_totals WHERE merchant_id = $1';
    assert.deepEqual((await testEnv.db.pool.query(count, [id])).rows, [{ count: 1 }]);
  });

  it('prints its usage, and that of each command, without any setting', async () => {
    const help = await run(['--help'], {});
    assert.equal(help.code, 0);
    assert.match(help.out, /^usage: npm run staff -- COMMAND/);
    const pages = await Promise.all(
      COMMANDS.split(', ').map(async (command) => {
        assert.match(help.out, new RegExp(`^  ${command} +\\w`, 'm'));
        const page = await run([...command.split(' '), '--help'], {});
        assert.deepEqual([page.code, page.err], [0, ''], command);
        assert.match(page.out, new RegExp(`^usage: npm run staff -- ${command}\\b`));
        assert.match(
          page.out,
          /^(Settings that it needs: MALIPO_DATABASE_URL(, MALIPO_ATTESTATION_KEYS(, MALIPO_SECRET_KEYS(, MALIPO_OPERATOR_KEYS)?)?)?;|It uses whichever settings are set)/m,
        );
        return [command, page.out] as const;
      }),
    );
    const pageOf = Object.fromEntries(pages);
    assert.match(pageOf['create'] ?? '', /--currency CODE +UGX.*KES/);
    assert.doesNotMatch(pageOf['settle'] ?? '', /--currency/);
    assert.doesNotMatch(pageOf['discrepancies'] ?? '', /ATTESTATION|SECRET|--as/);
  });

  it('needs no more settings than the command uses, and names those that are missing', async () => {
    const { MALIPO_DATABASE_URL: url = '', MALIPO_ATTESTATION_KEYS: keys = '' } = testEnv.environment;
    const database = { MALIPO_DATABASE_URL: url, MALIPO_DATA_DIR: '/nowhere' };
    const attested = { ...database, MALIPO_ATTESTATION_KEYS: keys };
    const unattested = ['discrepancies', 'quarantined', 'audit export --merchant service'];
    const read = await Promise.all(unattested.map((command) => run(command.split(' '), database)));
    assert.deepEqual(valuesOf(read, 'code'), [0, 0, 0]);
    const [name] = (await testEnv.db.pool.query<{ name: string }>('SELECT name FROM merchants LIMIT 1')).rows;
    const create = ['create', ...BY, '--name', 'Duka', '--currency', 'UGX', '--email', 'a@duka.example'];
    const withoutKeys = await run(create, attested);
    assert.match(withoutKeys.err, /^ {2}MALIPO_SECRET_KEYS: is not set$/m);
    const listed = await run(['merchants'], attested);
    assert.deepEqual([listed.code, listed.err], [0, '']);
    assert.ok(listed.out.includes(`${name!.name}: `), listed.out);
    assert.doesNotMatch(listed.out, /no operator/);
    for (const command of ['list', 'proposals', 'waiting', 'audit verify', 'attestations verify']) {
      const args = command.split(' ');
      const [done, refused] = await Promise.all([run(args, attested), run(args, database)]);
      assert.deepEqual([done.code, done.err], [0, ''], command);
      assert.deepEqual([refused.code, refused.out], [1, ''], command);
      const [first, second, third] = refused.err.split('\n');
      assert.equal(first, 'nothing was done: the configuration is invalid:');
      assert.equal(second, '  MALIPO_ATTESTATION_KEYS: is not set');
      assert.match(third ?? '', /settings of the server.* --help .* come from the environment/);
    }
    const none = await run(['discrepancies'], { MALIPO_DATA_DIR: '/nowhere' });
    assert.match(none.err, /^ {2}MALIPO_DATABASE_URL: is not set\n.*\/nowhere has none of a running npm start/m);
    assert.doesNotMatch(none.err, /received undefined/);
  });

  it('does nothing on the database of the other environment', async () => {
    const live = { ...testEnv.environment, MALIPO_ENVIRONMENT: 'live' };
    const address = new URL(testEnv.environment['MALIPO_DATABASE_URL'] ?? '');
    address.searchParams.set('sslmode', 'verify-full');
    const refused = await run(['merchants'], { ...live, MALIPO_DATABASE_URL: address.href });
    assert.deepEqual([refused.code, refused.out], [1, '']);
    const open = await run(['merchants'], live);
    assert.match(open.err, /MALIPO_DATABASE_URL: must have sslmode=verify-full in the live environment/);
  });

  it('lists the merchants by name, with their owners', async () => {
    const created = ['create', '--name', 'Kiosk of Kato', '--currency', 'UGX', '--email', 'kato@kiosk.example'];
    const id = /mer_\w{26}/.exec((await act(created)).out)?.[0] ?? '';
    await addPerson(testEnv, id as MerchantId, ['owner']);
    const listed = await run(['merchants', '--name', 'kiosk']);
    assert.match(
      listed.out,
      new RegExp(
        `^${id}  UGX  [0-9-]{10}  Kiosk of Kato: 1 people, 1 owners, 1 of them with a second factor(; 1 waiting)?\n$`,
      ),
    );
    const all = (await run(['merchants'])).out.split('\n').filter(Boolean);
    assert.equal(all.length, await merchantCount());
    const rest = await run(['merchants', '--after', all[0]?.slice(0, 30) ?? '']);
    assert.deepEqual(rest.out.split('\n').filter(Boolean), all.slice(1));
    assert.equal((await run(['merchants', '--name', 'no such'])).out, 'there is no such merchant\n');
  });

  it('prints what is stored about a person, to one of the staff alone', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const person = await addPerson(testEnv, merchantId, ['viewer']);
    const printed = await act(['personal-data', '--email', person.email], BRIAN);
    assert.deepEqual([printed.code, printed.err], [0, '']);
    const rows = printed.out.trimEnd().split('\n');
    const tables = rows.map((line) => (JSON.parse(line) as { readonly table: string }).table);
    assert.deepEqual(tables, ['users', 'members']);
    for (const wrong of [
      ['--email', person.email],
      ['--as', 'grace'],
      ['--phone', '+256', '--as', 'grace'],
    ]) {
      assert.equal((await run(['personal-data', ...wrong])).code, 2, wrong.join(' '));
    }
  });

  it('verifies and exports the audit log, and exits with 1 when it was changed', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    await logIn(testEnv, await addPerson(testEnv, merchantId, ['viewer']));
    await linkAuditEntries(testEnv.db, 1000);
    const verified = await run(['audit', 'verify', '--merchant', merchantId]);
    assert.deepEqual([verified.code, verified.err], [0, '']);
    assert.match(verified.out, /^verified +1 logs, 1 entries, 0 signed heads\n$/);
    const exported = await run(['audit', 'export', '--merchant', merchantId]);
    const [line, ...more] = exported.out.trimEnd().split('\n');
    const entry = JSON.parse(line!) as Record<string, unknown>;
    assert.deepEqual([entry['action'], entry['position'], more], ['session.opened', 1, []]);
    const kept = `1:${'0'.repeat(64)}`;
    const changed = await run(['audit', 'verify', '--merchant', merchantId, '--head', kept]);
    assert.equal(changed.code, 1);
    assert.match(changed.err, /^the audit log is not as it was recorded:\n.*entry 1 does not match the kept head/);
    for (const wrong of [['audit'], ['audit', 'verify', '--head', kept], ['audit', 'export']]) {
      assert.equal((await run(wrong)).code, 2, wrong.join(' '));
    }
  });

  it('creates a merchant with two owners, and warns about a single one', async () => {
    const create = (...emails: string[]) =>
      act(['create', '--name', 'Duka', '--currency', 'UGX', ...emails.flatMap((email) => ['--email', email])]);
    const made = await create('amina@two.example', 'brian@two.example');
    const tokens = [...made.out.matchAll(/^invitation +([\w-]{43})$/gm)].map(([, token]) => token);
    assert.equal(tokens.length, 2, made.out + made.err);
    for (const token of tokens) {
      const json = { token, name: 'An owner', password: PASSWORD };
      const path = '/v1/console/invitations/accept';
      const accepted = await call(testEnv.baseUrl, 'POST', path, { json, idempotencyKey: null });
      assert.deepEqual([accepted.status, accepted.json['roles']], [201, ['owner']], accepted.text);
    }
    const alone = /A single owner can invite another account of their own, and then move money alone/;
    assert.doesNotMatch(made.out, alone);
    assert.match((await create('amina@one.example')).out, alone);
    assert.equal((await create('amina@one.example', 'Amina@one.example')).code, 2);
  });

  it('shows the changes that wait for a second person, and approves them instead of a former one', async () => {
    const { id: merchantId } = await testEnv.addMerchant();
    const owner = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    const admin = await addPerson(testEnv, merchantId, ['admin']);
    const removal = await owner.call('DELETE', `/v1/console/members/${admin.id}`);
    const json = { email: 'carol@shop.example', roles: ['approver'] };
    const invited = await owner.call('POST', '/v1/console/invitations', { json });
    const [change, invitation] = [String(removal.json['id']), String(invited.json['id'])];
    const shown = await run(['waiting', '--merchant', merchantId]);
    assert.equal(shown.code, 0, shown.err);
    assert.match(
      shown.out,
      new RegExp(`^${change}  The admin \\(\\S+\\): admin → to be removed; proposed by The owner \\(`, 'm'),
    );
    const ofAll = await run(['waiting']);
    assert.match(ofAll.out, new RegExp(`^${merchantId} \\(.*\\)  ${invitation}  carol`, 'm'));
    assert.match(
      shown.out,
      new RegExp(`^${invitation}  carol@shop.example invited as approver; .*The admin \\(\\S+\\)$`, 'm'),
    );
    const approved = await act(['approve', '--merchant', merchantId, '--change', invitation]);
    const second = /^token +([\w-]{43})$/m.exec(approved.out)?.[1];
    assert.ok(second !== undefined, approved.out + approved.err);
    const accepted = await call(testEnv.baseUrl, 'POST', '/v1/console/invitations/accept', {
      json: { token: invited.json['token'], approval_token: second, name: 'Carol', password: PASSWORD },
      idempotencyKey: null,
    });
    assert.equal(accepted.status, 201, accepted.text);
    const removed = await act(['approve', '--merchant', merchantId, '--change', change]);
    assert.match(removed.out, /^approved +The admin \(usr_\w+\) was admin and is no longer a member$/m);
    const again = await act(['approve', '--merchant', merchantId, '--change', change]);
    assert.equal(again.code, 1);
    assert.match(again.err, /nothing was done: This proposal was decided/);
    assert.equal((await run(['waiting', '--merchant', merchantId])).out, 'nothing is waiting\n');
    const elsewhere = await act(['approve', '--merchant', testEnv.merchant.id, '--change', change]);
    assert.match(elsewhere.err, /nothing was done: There is no proposal with this id/);
  });

  it('shows discrepancies with the operator, and records how they were settled', async () => {
    assert.deepEqual((await run(['discrepancies'])).out, 'there are no open discrepancies\n');
    const { db } = testEnv;
    const { id: merchantId } = await testEnv.addMerchant();
    const { id } = await makeCollection(db, merchantId, 'failed');
    const status = { kind: 'paid', operatorReceipt: '4711' } as const;
    const at = new Date();
    await recordDiscrepancy(db, {
      ref: { kind: 'collection', id, merchantId },
      status,
      queriedAtMs: at.getTime(),
      at,
    });
    const shown = await run(['discrepancies']);
    const text = 'failed in Malipo, paid according to the operator (operator receipt: 4711)';
    const [number, ...rest] = shown.out.split('  ');
    assert.match(rest.join('  '), new RegExp(`^${id} of ${merchantId}, [^ ]+Z: ${text.replace(/[()]/g, '\\$&')}\n$`));
    const settle = () => act(['settle', '--id', String(number), '--how', 'given back to the payer by hand']);
    const settled = await settle();
    assert.deepEqual([settled.code, settled.out], [0, `settled     ${id} of ${merchantId}: ${text}\n`], settled.err);
    assert.deepEqual((await run(['discrepancies'])).out, 'there are no open discrepancies\n');
    const owner = await logIn(testEnv, await addPerson(testEnv, merchantId, ['owner']));
    const { json } = await owner.call('GET', '/v1/console/audit?limit=100');
    const entry = (json['data'] as Record<string, unknown>[]).find(({ action }) => String(action).endsWith('_settled'));
    assert.deepEqual(
      [entry?.['action'], entry?.['person'], entry?.['staff'], entry?.['subject_id'], entry?.['after']],
      [
        'collection.discrepancy_settled',
        null,
        { id: AMINA.id, name: 'amina' },
        id,
        { kind: 'paid_after_failed', settlement: 'given back to the payer by hand' },
      ],
    );
    const again = await settle();
    assert.deepEqual(
      [again.code, again.err],
      [1, `nothing was done: there is no open discrepancy ${String(number)}\n`],
    );
  });

  it('lets a person in again only when two of the staff agree, and says who they were', async () => {
    const person = await addPerson(testEnv, testEnv.merchant.id, ['viewer']);
    const reason = 'lost the phone; known by voice';
    const alone = await act(['recover', '--email', person.email, '--reason', reason]);
    assert.equal(alone.code, 0, alone.err);
    assert.doesNotMatch(alone.out, /[\w-]{43}/, 'one of the staff has no token');
    const id = /^proposal +(spr_\w{26})$/m.exec(alone.out)?.[1];
    assert.ok(id !== undefined, alone.out);
    const line = `^${id}  proposed by amina, until .*: The viewer \\(${person.email}\\) sets .*: ${reason}$`;
    assert.match((await run(['proposals'])).out, new RegExp(line, 'm'));
    const same = await act(['confirm', '--proposal', id]);
    assert.deepEqual([same.code, same.out], [1, '']);
    assert.match(same.err, new RegExp(line, 'm'), 'what is decided is shown before the log-in');
    assert.match(same.err, /nothing was done: The proposer cannot confirm it/);
    const made = await act(['confirm', '--proposal', id], BRIAN);
    assert.equal(made.code, 0, made.err);
    const token = /^token +([\w-]{43})$/m.exec(made.out)?.[1];
    assert.equal((await act(['confirm', '--proposal', id], BRIAN)).code, 1, 'there is one token');
    const { rows } = await testEnv.db.pool.query(
      `SELECT action, staff, staff_id FROM audit_entries
       WHERE subject_id = $1 AND action LIKE 'recovery.%' AND merchant_id IS NOT NULL ORDER BY id`,
      [person.id],
    );
    assert.deepEqual(rows, [
      { action: 'recovery.requested', staff: 'amina', staff_id: AMINA.id },
      { action: 'recovery.approved', staff: 'brian', staff_id: BRIAN.id },
    ]);
    assert.equal((await run(['proposals'])).out, 'no proposal is waiting\n');
    const json = { token, new_password: PASSWORD };
    const used = await call(testEnv.baseUrl, 'POST', '/v1/console/recovery', { json, idempotencyKey: null });
    assert.equal(used.status, 204, used.text);
    const tryPassword = (password: string) =>
      openBrowser(testEnv.baseUrl).call('POST', '/v1/console/session', { json: { email: person.email, password } });
    assert.equal((await tryPassword(PASSWORD)).status, 201);
    assert.equal((await tryPassword(KNOWN_PASSWORD)).status, 401);
    const nobody = await act(['recover', '--email', 'nobody@shop.example', '--reason', reason]);
    assert.deepEqual(
      [nobody.code, nobody.err],
      [1, 'nothing was done: no account has the address nobody@shop.example\n'],
    );
  });

  it('shows quarantined work of all merchants', async () => {
    assert.equal((await run(['quarantined'])).out, 'no work is quarantined\n');
    const { db } = testEnv;
    const { id: merchantId } = await testEnv.addMerchant();
    const { id } = await makeCollection(db, merchantId, 'initiated');
    await setWork(db, "failures = 10, due_at = now() + interval '1 hour'", 'id = $1', [id]);
    const { code, out } = await run(['quarantined']);
    assert.equal(code, 0);
    const line = `^${id}  collection of ${merchantId}, initiated: its workflow failed 10 times and is tried at [^ ]+Z\n$`;
    assert.match(out, new RegExp(line));
  });

  it('refuses an unknown command, reports all errors at once, and creates nothing', async () => {
    const before = await merchantCount();
    const cases: readonly (readonly [string[], RegExp])[] = [
      [[], new RegExp(`the commands are: ${COMMANDS}`)],
      [['remove'], new RegExp(`the commands are: ${COMMANDS}`)],
      [['toString'], /the commands are/],
      [['create', 'another'], /the commands are/],
      [['rebuild-totals'], /--as is missing\n--merchant is missing/],
      [
        ['waiting', '--merchant', 'mer_1', '--name', 'x'],
        /--merchant must be an id.*\nthis command does not take --name/,
      ],
      [
        ['approve', '--merchant', newId('mer'), '--change', newId('pch')],
        /--change must be an id, as shown by the commands/,
      ],
      [['recover'], /--email is missing\n--reason is missing\n--as is missing/],
      [['confirm', '--proposal', newId('usr')], /--proposal must be an id, as shown by the commands\n--as is missing/],
      [['proposals', ...BY], /this command does not take --as/],
      [['begin', '--name', 'amina', '--name', 'Amina'], /--name must name two people, each once/],
      [['begin', '--name', 'amina'], /--name must name two people, each once/],
      [['merchants', '--name', 'a', '--name', 'b'], /--name can be given once/],
      [['discrepancies', '--merchant', newId('mer')], /this command does not take --merchant/],
      [['settle'], /--id is missing\n--how is missing\n--as is missing/],
      [['approve', '--as', 'Amina Kato'], /--as must be a name of 2 to 100 letters/],
      [['settle', '--staff', 'amina'], /--staff/],
      [['settle', '--id', '0x1', '--how', ' '], /--id must be a number.*\n--how must be 1 to 500 printable/],
      [['create'], /--as is missing\n--name is missing\n--currency is missing\n--email is missing/],
      [
        ['create', ...BY, '--name', ' ', '--currency', 'EUR', '--email', 'amina'],
        /--name must be 1 to 200 .*\n--currency must be one of UGX, .*\n--email must be an e-mail address/,
      ],
      // What turns the direction of a text or is not seen in it: a merchant's name stands in sentences beside amounts.
      ...['Duka \u202e la Amina', 'Duka\u200b', 'Du\u2066ka'].map((shop): [string[], RegExp] => [
        ['create', ...BY, '--name', shop, '--currency', 'UGX', '--email', 'a@duka.example'],
        /--name must be 1 to 200/,
      ]),
      [['settle', ...BY, '--id', '1', '--how', 'paid\u061c back'], /--how must be 1 to 500 printable/],
      [['create', '--colour', 'red'], /--colour/],
    ];
    const refusals = await Promise.all(cases.map(async ([args, says]) => ({ args, says, ...(await run(args, {})) })));
    for (const { args, says, code, err } of refusals) {
      assert.equal(code, 2, args.join(' '));
      assert.match(err, says);
      assert.match(err, /usage: npm run staff/);
    }
    assert.equal(await merchantCount(), before);
  });

  it('reports errors of its settings or the database, and shows no secret', async () => {
    const args = ['create', ...BY, '--name', 'Duka', '--currency', 'UGX', '--email', 'amina@duka.example'];
    const without = await run(args, {});
    assert.equal(without.code, 1);
    assert.match(without.err, /nothing was done: the configuration is invalid:\n[^]*MALIPO_DATABASE_URL/);
    const url = 'postgres://malipo:pa55-word@127.0.0.1:1/malipo';
    const away = await run(args, { ...testEnv.environment, MALIPO_DATABASE_URL: url });
    assert.equal(away.code, 1);
    assert.match(away.err, /nothing was done: .+/);
    assert.doesNotMatch(away.err + away.out, /pa55-word/);
  });
});
