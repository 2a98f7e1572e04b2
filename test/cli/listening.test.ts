// Tests `malipo listen` and `malipo resend` with a real service, whose events they forward to the example receiver.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { hashPassword } from '../../src/security/password.ts';
import { findProjectRoot } from '../../src/project-root.ts';
import type { RunningServer } from '../../src/server/assemble-server.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { pay, untilState } from '../support/payments.ts';
import { addPerson } from '../support/people.ts';
import { startSession, settingsOf, untilPrinted, type CliSession } from './malipo-child.ts';
import { columnsOf, valuesOf } from '../support/values-of.ts';
import { rewrite } from '../support/attestation.ts';

type Shown = {
  readonly verified: boolean;
  readonly duplicate: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw_body: string;
};
type PrintedAttempt = {
  readonly event_id: string;
  readonly type: string;
  readonly attempt: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly outcome: string;
};

const RECEIVER = join(findProjectRoot(), 'docs/examples/webhook-receiver.mjs');

/** Starts the example receiver as a process on a port of its own. */
async function startExample(secret: string): Promise<{ url: string; child: ChildProcess; shown(): Promise<Shown[]> }> {
  const env = { MALIPO_WEBHOOK_SECRET: secret, PORT: '0' };
  const child = spawn(process.execPath, [RECEIVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text) => (said += String(text)));
  const url = await eventually('the example receiver', () => /http:\/\/127\.0\.0\.1:[0-9]+/.exec(said)?.[0]);
  return { url, child, shown: async () => (await (await fetch(url)).json()) as Shown[] };
}

const linesOf = (out: string): PrintedAttempt[] =>
  out
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as PrintedAttempt);

describe('malipo listen', function () {
  this.timeout(240_000);
  const testEnv = useTestEnvironment({ startsServer: false });
  let server: RunningServer;
  let cli: CliSession;
  const ends: (() => unknown)[] = [];
  before(async () => {
    server = await testEnv.startServer();
    cli = startSession(settingsOf(testEnv, await addPerson(testEnv, testEnv.merchant.id, ['viewer'])));
  });
  afterEach(async () => {
    await cli.clear();
    for (const end of ends.splice(0)) end();
  });

  /** A receiver that answers its requests with these statuses in turn, and repeats the last one. */
  async function answering(...statuses: number[]): Promise<{ url: string; attempts: string[]; server: Server }> {
    const attempts: string[] = [];
    const receiver = createServer((request, response) => {
      request.resume();
      attempts.push(String(request.headers['malipo-attempt']));
      const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      receiver.close().closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`, attempts, server: receiver };
  }

  it('forwards each event once, signed as the service signs it, and ends with Ctrl-C', async () => {
    const before = await pay(testEnv, '100');
    await untilState(testEnv, before, 'succeeded');
    const printed = cli.start(['listen', '--print']);
    await untilPrinted(printed, /ready/);
    const probe = await answering(200);
    const secretProbe = cli.start(['listen', '--forward-to', probe.url]);
    const [, secret = ''] = await untilPrinted(secretProbe, /signed with (whsec_[\w-]{43})\n/);
    assert.equal((await secretProbe.interrupt()).code, 0);
    const example = await startExample(secret);
    ends.push(() => example.child.kill());

    const listening = cli.start(['listen', '--forward-to', example.url, '--json']);
    await untilPrinted(listening, /ready/);
    const payment = await pay(testEnv, '100');
    await untilState(testEnv, payment, 'succeeded');
    await eventually('both events', () => linesOf(listening.out()).length >= 2, 60_000);
    const ended = await listening.interrupt();
    assert.equal(ended.code, 0, ended.err);
    assert.match(ended.err, /ended: 2 accepted, 0 given up/);
    const attempts = linesOf(ended.out);
    assert.deepEqual(columnsOf(attempts, 'type', 'attempt', 'status_code', 'outcome').sort(), [
      ['collection.prompted', 1, 200, 'accepted'],
      ['collection.succeeded', 1, 200, 'accepted'],
    ]);

    const shown = await example.shown();
    assert.equal(shown.length, 2);
    for (const { verified, duplicate, headers, raw_body: body } of shown) {
      assert.deepEqual([verified, duplicate], [true, false]);
      const event = JSON.parse(body) as { id: string; data: { object: { id: string } } };
      assert.equal(event.data.object.id, payment.id);
      // The same request as the service's own, except for what differs between two deliveries.
      const own = testEnv.receiver.all(testEnv.merchant.id).find((each) => each.event.id === event.id)!;
      assert.equal(body, own.rawBody.toString());
      assert.match(headers['malipo-delivery-id']!, /^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      assert.deepEqual(Object.keys(headers).sort(), Object.keys(own.headers).sort());
      for (const name of ['content-type', 'user-agent', 'malipo-event-id', 'malipo-attempt', 'content-length']) {
        assert.equal(headers[name], own.headers[name], name);
      }
    }
    for (const { raw_body: body } of shown) {
      await eventually('the printed body', () => printed.out().includes(`\n${body}\n`), 60_000);
    }
    const printing = await printed.interrupt();
    assert.equal(printing.code, 0);
    assert.ok(!printing.out.includes(before.id));
  });

  it('forwards only the requested types, including events created since a given time', async () => {
    const payment = await pay(testEnv, '001');
    await untilState(testEnv, payment, 'failed');
    const receiver = await answering(200);
    const args = ['listen', '--forward-to', receiver.url, '--types', 'collection.failed', '--since', '10m', '--json'];
    const listening = cli.start([...args, '--print']);
    await eventually('the failure', () => listening.out().includes(payment.id), 60_000);
    const { out } = await listening.interrupt();
    assert.deepEqual([...new Set(linesOf(out).map(({ type }) => type))], ['collection.failed']);
  });

  it('retries an event that is not accepted, gives up after three attempts, and resends it on request', async () => {
    const refusing = await answering(500, 302, 404);
    const args = ['listen', '--forward-to', refusing.url, '--types', 'collection.succeeded', '--json'];
    const listening = cli.start(args);
    await untilPrinted(listening, /ready/);
    await pay(testEnv, '100');
    await eventually('the last attempt', () => listening.out().includes('given_up'), 60_000);
    const { out, err } = await listening.interrupt();
    const attempts = linesOf(out);
    assert.deepEqual(columnsOf(attempts, 'attempt', 'status_code', 'outcome'), [
      [1, 500, 'retrying'],
      [2, 302, 'retrying'],
      [3, 404, 'given_up'],
    ]);
    assert.deepEqual(refusing.attempts, ['1', '2', '3']);
    assert.match(err, /ended: 0 accepted, 1 given up/);

    const accepting = await answering(503, 204);
    const [{ event_id: eventId }] = attempts as [PrintedAttempt];
    const resent = await cli.run(['resend', eventId, '--forward-to', accepting.url]);
    assert.equal(resent.code, 0, resent.err);
    assert.match(resent.out, new RegExp(`${eventId} → 503 .*trying again\n.*${eventId} → 204`));
    accepting.server.close().closeAllConnections();
    const nobody = await cli.run(['resend', eventId, '--forward-to', accepting.url, '--json']);
    assert.equal(nobody.code, 1, nobody.err);
    assert.deepEqual(valuesOf(linesOf(nobody.out), 'error'), Array(3).fill('nothing listens there'));
    const switching = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'));
    });
    await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve));
    ends.push(() => switching.close());
    const { port } = switching.address() as AddressInfo;
    const switched = await cli.run(['resend', eventId, '--forward-to', `http://127.0.0.1:${port}`, '--json']);
    assert.equal(switched.code, 1, switched.err);
    assert.match(linesOf(switched.out)[0]?.error ?? '', /another protocol/);
    const unknown = await cli.run(['resend', `evt_${'0'.repeat(26)}`, '--forward-to', refusing.url]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /There is no event with this id/);
  });

  it('survives a restart of the service and misses no event created meanwhile', async () => {
    const receiver = await answering(200);
    const listening = cli.start(['listen', '--forward-to', receiver.url, '--json', '--print']);
    await untilPrinted(listening, /ready/);
    await server.stop();
    await untilPrinted(listening, /does not answer .* Retrying until it does/);
    server = await testEnv.startServer();
    const payment = await pay(testEnv, '100');
    await untilPrinted(listening, /answers again/);
    await eventually(
      'its success',
      () => {
        const attempts = linesOf(listening.out()) as (PrintedAttempt & { body: string })[];
        return attempts.some(({ type, body }) => type === 'collection.succeeded' && body.includes(payment.id));
      },
      60_000,
    );
    assert.equal((await listening.interrupt()).code, 0);
  });

  it('opens a new session when the current one ends, and exits with 3 when it may not', async () => {
    const listening = cli.start(['listen', '--print']);
    await untilPrinted(listening, /ready/);
    await testEnv.db.pool.query('DELETE FROM sessions');
    const payment = await pay(testEnv, '100');
    await untilPrinted(listening, new RegExp(payment.id));
    await rewrite(testEnv.db, 'UPDATE users SET password_hash = $1', [await hashPassword('a changed password')]);
    await testEnv.db.pool.query('DELETE FROM sessions');
    const { code, err } = await listening.ended;
    assert.equal(code, 3, err);
  });
});
