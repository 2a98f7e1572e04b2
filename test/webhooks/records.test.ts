// Tests what is recorded of attempts at receivers of every kind, and when the next attempt follows.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../src/engines/process/ports.ts';
import { createAuthority, selfSigned } from '../support/certificates.ts';
import { startCountedListener, type CountedListener, type Serve } from '../support/counted-listener.ts';
import {
  addEndpoint,
  attemptsOf,
  decidedWaits,
  deliveriesOf,
  watchWaits,
  type DecidedWait,
  type StoredAttempt,
  type StoredDelivery,
} from '../support/deliveries.ts';
import { runFolder } from '../support/engines.ts';
import { assertSigned } from '../support/foreign-hmac.ts';
import {
  eventually,
  PATIENT_ATTEMPTS,
  startTestEnvironment,
  type TestEnvironment,
  type TestMerchant,
} from '../support/test-environment.ts';
import { pay } from '../support/payments.ts';
import { valuesOf } from '../support/values-of.ts';
import { startServerChild, type ServerChild } from '../support/server-child.ts';

const STEPS_MS = [500, 900] as const;
/** The time limit of attempts at a receiver that never answers. */
const SHORT_LIMIT_MS = 3000;
const STORED_BYTES = 16 * 1024;
const SLOW_MS = 300;
/** How much two clocks may differ that count the same milliseconds. */
const EARLY_MS = 20;

const TRUSTED = createAuthority('Test authority');

type Expected = {
  readonly state: 'delivered' | 'dead_lettered';
  /** The status of each attempt. */
  readonly status: number | null;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly leastDurationMs?: number;
  /** The least and the greatest wait after each attempt; when absent, the step ±10 %. */
  readonly waitsMs?: readonly (readonly [number, number])[];
};

type Case = Expected & {
  readonly what: string;
  /** Starts the receiver; the listener `elsewhere` must never get a connection. */
  readonly open: (elsewhere: CountedListener) => Promise<{ url: string; listener?: CountedListener }>;
  /** Its attempts end by their time limit. */
  readonly isAwaitedInVain?: boolean;
};

function respond(head: string, body = ''): Serve {
  return (socket) => void socket.end(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
}

const over =
  (serve: Serve): Case['open'] =>
  async () => {
    const listener = await startCountedListener({ serve, host: '127.0.0.1' });
    return { url: `http://127.0.0.1:${listener.port}/hook`, listener };
  };

const overTls =
  ({ key, cert }: { key: string; cert: string }): Case['open'] =>
  async () => {
    const listener = await startCountedListener({ serve: respond('200 OK'), host: '127.0.0.1', tls: { key, cert } });
    return { url: `https://127.0.0.1:${listener.port}/hook`, listener };
  };

const later = (ms: number, act: (socket: Socket) => void) => (socket: Socket) => {
  setTimeout(() => {
    act(socket);
  }, ms);
};

function trickle(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  let left = 5;
  const drip = setInterval(() => {
    left -= 1;
    if (left < 0) clearInterval(drip);
    else socket.write('x');
  }, SLOW_MS / 5);
  socket.on('close', () => {
    clearInterval(drip);
  });
}

const inTwoSeconds = () => new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString();
const TWICE_THE_STEP: Expected['waitsMs'] = STEPS_MS.map((step) => [2 * step, 2 * step]);
const accepted = { state: 'delivered', status: 200 } as const;
const refusedWith = (status: number) => ({ state: 'dead_lettered', status }) as const;
const failedWith = (error: string) => ({ state: 'dead_lettered', status: null, error }) as const;

const CASES: readonly Case[] = [
  {
    what: 'answers 200',
    open: over(respond('200 OK\r\nX-From: it', 'fine')),
    ...accepted,
    body: 'fine',
    headers: { 'x-from': 'it', 'content-length': '4' },
  },
  {
    what: 'answers 200 slowly',
    open: over(
      later(SLOW_MS, (socket) => {
        respond('200 OK')(socket, '');
      }),
    ),
    ...accepted,
    leastDurationMs: SLOW_MS,
  },
  {
    what: 'answers 200 byte by byte',
    open: over(trickle),
    ...accepted,
    body: 'xxxxx',
    leastDurationMs: SLOW_MS,
  },
  {
    what: 'answers with 10 MB',
    open: over((socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${'y'.repeat(10 * 1024 * 1024)}`)),
    ...accepted,
    body: 'y'.repeat(STORED_BYTES),
  },
  { what: 'answers 500', open: over(respond('500 No', 'broken')), ...refusedWith(500), body: 'broken' },
  { what: 'answers 410', open: over(respond('410 Gone')), ...refusedWith(410) },
  {
    what: 'answers 429 with a Retry-After of an hour',
    open: over(respond('429 Slow\r\nRetry-After: 3600')),
    ...refusedWith(429),
    headers: { 'retry-after': '3600', 'content-length': '0' },
    waitsMs: TWICE_THE_STEP,
  },
  {
    what: 'answers 429 with a Retry-After of 0',
    open: over(respond('429 Slow\r\nRetry-After: 0')),
    ...refusedWith(429),
    waitsMs: STEPS_MS.map((step) => [step, step]),
  },
  {
    what: 'answers 503 with a Retry-After of a second',
    open: over(respond('503 No\r\nRetry-After: 1')),
    ...refusedWith(503),
    waitsMs: [
      [1000, 1000],
      [1000, 1000],
    ],
  },
  {
    what: 'answers 503 with a Retry-After date',
    open: over((socket) => {
      respond(`503 No\r\nRetry-After: ${inTwoSeconds()}`)(socket, '');
    }),
    ...refusedWith(503),
    waitsMs: STEPS_MS.map((step) => [step, 2 * step]),
  },
  {
    what: 'answers 500 with a Retry-After of an hour',
    open: over(respond('500 No\r\nRetry-After: 3600')),
    ...refusedWith(500),
  },
  {
    what: 'never answers',
    open: over(() => undefined),
    ...failedWith('no complete answer within 3 s'),
    leastDurationMs: SHORT_LIMIT_MS - 5,
    isAwaitedInVain: true,
  },
  {
    what: 'breaks off half-way through its response',
    open: over((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello')),
    ...failedWith('the answer ended before it was complete: status 200 and 5 bytes of its body arrived'),
  },
  {
    what: 'does not listen',
    open: async () => ({ url: `http://127.0.0.1:${await freePort()}/hook` }),
    ...failedWith('the connection was refused'),
  },
  { what: 'has a trusted certificate', open: overTls(TRUSTED.issue({ hosts: ['127.0.0.1'] })), ...accepted },
  {
    what: 'has a self-signed certificate',
    open: overTls(selfSigned('127.0.0.1')),
    ...failedWith('the certificate is self-signed'),
  },
  {
    what: 'has an expired certificate',
    open: overTls(TRUSTED.issue({ hosts: ['127.0.0.1'], validTo: new Date(Date.now() - 3_600_000) })),
    ...failedWith('the certificate has expired'),
  },
  {
    what: 'has a certificate that is not valid yet',
    open: overTls(TRUSTED.issue({ hosts: ['127.0.0.1'], validFrom: new Date(Date.now() + 3_600_000) })),
    ...failedWith('the certificate is not valid yet'),
  },
  {
    what: 'has the certificate of another host',
    open: overTls(TRUSTED.issue({ hosts: ['example.com', '127.0.0.2'] })),
    ...failedWith('the certificate is for another host name'),
  },
  {
    what: 'redirects elsewhere',
    open: (elsewhere) => over(respond(`301 Moved\r\nLocation: http://127.0.0.1:${elsewhere.port}/`))(elsewhere),
    ...refusedWith(301),
  },
];

type Outcome = { readonly delivery: StoredDelivery; readonly attempts: StoredAttempt[]; readonly waits: DecidedWait[] };

const SETTINGS = {
  MALIPO_DELIVERY_SCHEDULE_MS: ['0', ...STEPS_MS].join(','),
  MALIPO_PROMPT_WINDOW_MS: '120000',
  MALIPO_POLL_SCHEDULE_MS: '120000',
};

describe('attempts at a receiver', () => {
  let testEnv: TestEnvironment;
  /** The one of receivers that never answer, whose attempts have the short time limit. */
  let hasty: TestEnvironment;
  let server: ServerChild;
  let elsewhere: CountedListener;
  const listeners = new Map<Case, CountedListener | undefined>();
  const outcomes = new Map<Case, Promise<Outcome>>();

  // All at once, because they mostly wait.
  before(async () => {
    testEnv = await startTestEnvironment({ startsServer: false, environment: { ...SETTINGS, ...PATIENT_ATTEMPTS } });
    hasty = await startTestEnvironment({
      environment: { ...SETTINGS, MALIPO_DELIVERY_TIMEOUT_MS: String(SHORT_LIMIT_MS) },
    });
    await Promise.all([watchWaits(testEnv.db), watchWaits(hasty.db)]);
    const authorityFile = join(runFolder(), 'test-authority.pem');
    writeFileSync(authorityFile, TRUSTED.cert);
    server = await startServerChild(testEnv, { overrides: { NODE_EXTRA_CA_CERTS: authorityFile } });
    elsewhere = await startCountedListener();
    for (const one of CASES) outcomes.set(one, deliver(one));
  });
  after(async () => {
    await Promise.allSettled(outcomes.values());
    await server.stop();
    for (const listener of [elsewhere, ...listeners.values()]) await listener?.stop();
    await Promise.all([testEnv.stop(), hasty.stop()]);
  });

  async function deliver(one: Case): Promise<Outcome> {
    const env = one.isAwaitedInVain ? hasty : testEnv;
    const merchant: TestMerchant = await env.addMerchant();
    const { url, listener } = await one.open(elsewhere);
    listeners.set(one, listener);
    const endpointId = await addEndpoint(env, merchant, url);
    await pay(env, '010', { merchant });
    const delivery = await eventually(`the final state of the delivery to a receiver that ${one.what}`, async () => {
      const all = await deliveriesOf(env.db, merchant);
      return all.find(({ endpointId: to, state }) => to === endpointId && /^(deliv|dead)/.test(state));
    });
    // The merchant's other endpoint has the event too.
    const received = await eventually('the event at the other endpoint', () => env.receiver.all(merchant.id)[0]);
    assertSigned(received.headers['malipo-signature'], received.rawBody, [merchant.webhookSecret]);
    const attempts = await attemptsOf(env.db, delivery.id);
    return { delivery, attempts, waits: await decidedWaits(env.db, delivery.id) };
  }

  for (const one of CASES) {
    it(`are recorded correctly when it ${one.what}`, async () => {
      const { delivery, attempts, waits } = await outcomes.get(one)!;
      assert.equal(delivery.state, one.state);
      const isTriedOnce = one.state === 'delivered' || one.status === 410;
      assert.equal(attempts.length, isTriedOnce ? 1 : 3, valuesOf(attempts, 'error').join());
      assert.equal(delivery.attemptCount, attempts.length);
      for (const [index, attempt] of attempts.entries()) assertRecorded(one, index, attempt);
      assert.equal(waits.length, attempts.length - 1);
      for (const [index, wait] of waits.entries()) assertWaited(one, index, wait, attempts[index + 1]!);
    });
  }

  function assertRecorded(one: Case, index: number, attempt: StoredAttempt): void {
    assert.deepEqual([attempt.number, attempt.status, attempt.error], [index + 1, one.status, one.error ?? null]);
    assert.ok(attempt.durationMs >= (one.leastDurationMs ?? 0), `${attempt.durationMs} ms`);
    assert.equal(attempt.headers === null, one.status === null);
    if (one.headers) assert.deepEqual(attempt.headers, one.headers);
    assert.equal(attempt.body?.toString() ?? null, one.status === null ? null : (one.body ?? ''));
  }

  function assertWaited(one: Case, index: number, wait: DecidedWait, next: StoredAttempt): void {
    const step = STEPS_MS[index]!;
    const [least, most] = one.waitsMs?.[index] ?? [step * 0.9, step * 1.1];
    assert.equal(wait.attemptNumber, index + 1);
    assert.ok(wait.waitMs >= least - 1 && wait.waitMs <= most + 1, `wait ${index + 1} is ${wait.waitMs} ms`);
    const earlyMs = wait.until.getTime() - next.startedAt.getTime();
    assert.ok(earlyMs <= EARLY_MS, `attempt ${next.number} is ${earlyMs} ms early`);
  }

  it('follow no redirect', async () => {
    await Promise.allSettled(outcomes.values());
    assert.equal(elsewhere.connections(), 0);
  });
});
