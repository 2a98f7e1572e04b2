// How long each call of the API and the console takes with a million payments of one merchant, beside a merchant with few.
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { SCOPES } from '../src/domain/accounts/api-key.ts';
import type { MerchantId } from '../src/domain/ids.ts';
import { enrolMember } from '../src/operations/accounts/enrol-member.ts';
import { rebuildTotals } from '../src/db/payments/totals.ts';
import { hashPassword } from '../src/security/password.ts';
import { generateTotpSecret } from '../src/security/totp.ts';
import { startBenchEnvironment, type BenchEnvironment } from './bench-environment.ts';
import { writeManyRows } from './many-rows.ts';
import { addApiKey, addEndpoint, newMerchant } from './merchants.ts';
import { logIn, ownPage, PASSWORD } from './people.ts';
import { median, percentile, printTable } from './table.ts';

const PAYMENTS = Number(process.env['BENCH_PAYMENTS'] ?? 1_000_000);
/** Fewer than a page: a plan that looks for them among everybody’s finds its limit at the end of the table. */
const FEW_PAYMENTS = 20;
const CALLS = Number(process.env['BENCH_CALLS'] ?? 60);
const LIMIT_MS = 100;

type Caller = {
  readonly name: string;
  readonly merchantId: MerchantId;
  readonly apiKey: string;
  /** By role. */
  readonly cookies: Readonly<Record<'owner' | 'maker' | 'approver', string>>;
};
type Call = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly as: keyof Caller['cookies'] | 'key';
};
type Answer = { readonly status: number; readonly text: string; readonly ms: number };

export async function benchReads(): Promise<void> {
  // Nothing takes work up: what is measured is the API.
  const bench = await startBenchEnvironment({ sandboxDecisionMs: 100, environment: { MALIPO_ROLES: 'api' } });
  const many = await addCaller(bench, 'many', PAYMENTS);
  const few = await addCaller(bench, 'few', FEW_PAYMENTS);
  await bench.db.pool.query('VACUUM ANALYZE');
  const lines = [['call', 'p50 few', 'p95 few', 'p50 many', 'p95 many', 'p95 many / few']];
  let slow = 0;
  for (const [name, callOf] of callsOf(bench)) {
    const fewMs = await timesOf(bench, few, callOf);
    const manyMs = await timesOf(bench, many, callOf);
    const [p95Few, p95Many] = [percentile(fewMs, 0.95), percentile(manyMs, 0.95)];
    if (p95Many > LIMIT_MS) slow += 1;
    const figures = [median(fewMs), p95Few, median(manyMs), p95Many].map((ms) => ms.toFixed(1));
    lines.push([name, ...figures, (p95Many / p95Few).toFixed(1)]);
    process.stderr.write(`${name}: ${figures.join(', ')}\n`);
  }
  printTable(lines);
  process.stdout.write(`\n${PAYMENTS} payments of one merchant: ${slow} calls over ${LIMIT_MS} ms at p95\n`);
  await bench.stop();
}

async function addCaller(bench: BenchEnvironment, name: string, payments: number): Promise<Caller> {
  const { db, keyRing } = bench;
  const at = new Date();
  const merchantId = await newMerchant(db, name);
  const passwordHash = await hashPassword(PASSWORD);
  const enrol = async (role: 'owner' | 'maker' | 'approver') => {
    const [email, totpSecret] = [`${role}@${name}.example`, generateTotpSecret()];
    const roles = [role];
    const id = await enrolMember(db, { merchantId, email, name: role, passwordHash, roles, totpSecret, keyRing, at });
    return { id, email, totpSecret, merchantId };
  };
  const [owner, maker, approver] = [await enrol('owner'), await enrol('maker'), await enrol('approver')];
  const endpointId = await addEndpoint(db, { merchantId, url: 'http://127.0.0.1:9/', keyRing });
  const apiKey = await addApiKey(db, { merchantId, scopes: SCOPES, createdBy: maker.id });
  await writeManyRows(db, { merchantId, makerId: maker.id, endpointId, payments });
  await db.withTransaction((tx) => rebuildTotals(tx, merchantId));
  // After the rows, which take longer to write than a step-up lasts.
  const cookies = {
    owner: await logIn(bench.baseUrl, owner),
    maker: await logIn(bench.baseUrl, maker),
    approver: await logIn(bench.baseUrl, approver),
  };
  return { name, merchantId, apiKey, cookies };
}

async function send({ baseUrl }: BenchEnvironment, caller: Caller, { method, path, body, as }: Call): Promise<Answer> {
  const startedMs = performance.now();
  const response = await request(`${baseUrl}${path}`, {
    method,
    headers: {
      ...(as === 'key'
        ? { authorization: `Bearer ${caller.apiKey}` }
        : { cookie: caller.cookies[as], ...ownPage(baseUrl) }),
      ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  return { status: response.statusCode, text, ms: performance.now() - startedMs };
}

type CallFor = (caller: Caller, turn: number) => Promise<Call>;

/** Every tenth of the calls warms up and does not count. */
async function timesOf(bench: BenchEnvironment, caller: Caller, callFor: CallFor): Promise<number[]> {
  const times: number[] = [];
  const warmUp = Math.ceil(CALLS / 10);
  for (let turn = 0; turn < CALLS + warmUp; turn++) {
    const call = await callFor(caller, turn);
    const { status, text, ms } = await send(bench, caller, call);
    if (status >= 300)
      throw new Error(`${call.method} ${call.path} as ${caller.name}: ${status} ${text.slice(0, 300)}`);
    if (turn >= warmUp) times.push(ms);
  }
  return times;
}

/** What the screens and merchants’ servers call, with the filters that they offer. */
function callsOf(bench: BenchEnvironment): [string, CallFor][] {
  const get = (path: string, as: Call['as'] = 'owner'): [string, CallFor] => [
    `GET ${path}`,
    () => Promise.resolve({ method: 'GET', path, as }),
  ];
  /** Of the objects of a list, a different one each turn. */
  const each = (list: string, path: string, as: Call['as'] = 'owner'): [string, CallFor] => {
    const found = new Map<string, string[]>();
    return [
      `GET ${path}`,
      async (caller, turn) => {
        const ids = found.get(caller.name) ?? (await idsOf(bench, caller, { method: 'GET', path: list, as }));
        found.set(caller.name, ids);
        return { method: 'GET', path: path.replace('{id}', ids[turn % ids.length] ?? 'none'), as };
      },
    ];
  };
  const longAgo = new Date(Date.now() - 200 * 86_400_000).toISOString();
  const lists = ['/v1/console/collections', '/v1/console/payouts'].flatMap((list) => [
    get(`${list}?limit=50`),
    get(`${list}?limit=50&states=failed`),
    get(`${list}?limit=50&states=failed&states=succeeded&amount_from=199000`),
    get(`${list}?limit=50&phone=256772007919`),
    get(`${list}?limit=50&created_to=${longAgo}`),
    get(`${list}?limit=50&sort=largest`),
    get(`${list}/count`),
    get(`${list}/count?states=failed`),
    each(list, `${list}/{id}`),
  ]);
  return [
    get('/v1/console/session'),
    get('/v1/console/overview'),
    get('/v1/console/totals'),
    ...lists,
    get('/v1/console/payouts?states=queued&limit=50', 'approver'),
    get('/v1/console/reversals'),
    get('/v1/console/checkouts?limit=50'),
    get('/v1/console/ledger/entries?limit=50'),
    get('/v1/console/search?q=ORDER-5'),
    get('/v1/console/search?q=256772007919'),
    get('/v1/console/events?limit=50'),
    each('/v1/console/events', '/v1/console/events/{id}'),
    get('/v1/console/deliveries?limit=50'),
    get('/v1/console/deliveries?limit=50&state=dead_lettered'),
    each('/v1/console/deliveries', '/v1/console/deliveries/{id}'),
    get('/v1/console/requests?limit=50'),
    get('/v1/console/audit?limit=50'),
    get('/v1/console/audit?limit=50&action=payout.released'),
    get('/v1/console/members'),
    get('/v1/console/keys'),
    get('/v1/console/endpoints'),
    get('/v1/console/policy'),
    get('/v1/api/collections?limit=50', 'key'),
    get('/v1/api/payouts?limit=50', 'key'),
    each('/v1/api/collections', '/v1/api/collections/{id}', 'key'),
    get('/v1/api/balance', 'key'),
    ...writes(bench),
  ];
}

async function idsOf(bench: BenchEnvironment, caller: Caller, call: Call): Promise<string[]> {
  const { text } = await send(bench, caller, call);
  const { data } = JSON.parse(text) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function writes(bench: BenchEnvironment): [string, CallFor][] {
  const payment = { phone: '256772000100', amount: 5000, reference: 'bench' };
  const post = (path: string, as: Call['as']): [string, CallFor] => [
    `POST ${path}`,
    () => Promise.resolve({ method: 'POST', path, body: payment, as }),
  ];
  return [
    post('/v1/api/collections', 'key'),
    post('/v1/api/payouts', 'key'),
    [
      'POST /v1/console/payouts/{id}/release',
      async (caller) => {
        const payout = { method: 'POST', path: '/v1/api/payouts', body: payment, as: 'key' } as const;
        const { text } = await send(bench, caller, payout);
        const { id } = JSON.parse(text) as { id: string };
        return { method: 'POST', path: `/v1/console/payouts/${id}/release`, body: {}, as: 'approver' };
      },
    ],
  ];
}
