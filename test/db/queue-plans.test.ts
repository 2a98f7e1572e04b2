// The plans of claims and of what is recorded in batches: they read what they claim, whatever PostgreSQL knows of the tables.
import assert from 'node:assert/strict';
import type { Database, Queryable } from '../../src/db/platform/database.ts';
import { findDueWork } from '../../src/db/work/due-work.ts';
import { claimQueries, finishQueries, type ClaimedQuery } from '../../src/db/work/status-queries.ts';
import { claimUnstarted, markStarted, postponeStarts } from '../../src/db/work/work.ts';
import { claimLate, endWorkflows, markLost, scheduleChecks, type LateWork } from '../../src/db/work/work-checks.ts';
import {
  claimDeliveries,
  escalateDeliveries,
  recordAttempts,
  withholdDeliveries,
  type AttemptRecord,
} from '../../src/db/webhooks/delivery.ts';
import type { DeliveryId, MerchantId } from '../../src/domain/ids.ts';
import { PAYMENT_KINDS } from '../../src/domain/payments/payment.ts';
import { makeEndpoint, makeMerchant, oneRow, tamper } from './rows.ts';
import { createTestDatabase, openOneConnection } from '../support/engines.ts';
import { useFixturePerCase } from '../support/use-fixture.ts';

const QUEUES = ['payments', 'events', 'deliveries', 'work'];
/** A delivery is inserted, claimed and recorded: with so few rows autovacuum may look at a table for the first time. */
const FEWEST_ANALYSED = 3300;

const idOf = (prefix: string, n: string | number) => `${prefix}_0${String(n).padStart(25, '0')}`;

type State = 'pending' | 'delivered';

async function openQueues() {
  const database = await createTestDatabase();
  return { ...database, queues: openOneConnection(database, { claimsFromQueues: true }) };
}

describe('the plan of a claim', function () {
  this.timeout(300_000);
  const fixture = useFixturePerCase(openQueues, async ({ queues, drop }) => {
    await queues.close();
    await drop();
  });
  let db: Database;
  let merchantId: MerchantId;

  beforeEach(async () => {
    ({ db } = fixture);
    merchantId = await makeMerchant(db);
    await makeEndpoint(db, merchantId);
  });

  /** Adds deliveries and collections that all wait, or all of which are done. */
  async function addRows(count: number, state: State): Promise<void> {
    const isWaiting = state === 'pending';
    const first = 'SELECT count(*) FROM deliveries';
    await tamper(
      db,
      `WITH n AS (SELECT (${first}) + n AS n FROM generate_series(1, ${count}) AS n),
       event AS (
         INSERT INTO events (id, merchant_id, type, endpoint_id, body, created_at)
         SELECT 'evt_0' || lpad(n::text, 25, '0'), e.merchant_id, 'endpoint.test', e.id, '{}', now() FROM n, endpoints e),
       collection AS (
         INSERT INTO payments (id, kind, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency,
           reference, phone, operator, operator_reference, operator_receipt, metadata, created_at, updated_at,
           send_deadline_at, send_begun_at)
         SELECT 'col_0' || lpad(n::text, 25, '0'), 'collection', e.merchant_id, n, ${isWaiting ? `'initiated', NULL, 0` : `'succeeded', 'prompted', 2`},
           1, 'UGX', 'r', '256772000100', 'mtn-momo', gen_random_uuid(), ${isWaiting ? 'NULL' : 'n'}, '{}', now(), now(), now(),
           ${isWaiting ? 'NULL' : 'now()'}
         FROM n, endpoints e),
       work AS (
         INSERT INTO work (id, task, kind, merchant_id, operator, priority, is_started, due_at)
         SELECT prefix || lpad(n::text, 25, '0'), task, kind, e.merchant_id, operator, ${isWaiting ? 'priority, is_started' : '2, NULL'}, now()
         FROM n, endpoints e, (VALUES ${
           isWaiting
             ? `('col_0', 'workflow', 'collection', 'mtn-momo', 0, false), ('dlv_0', 'workflow', 'delivery', NULL, 1, false)`
             : `('col_0', 'status_query', 'collection', 'mtn-momo', 2, NULL::boolean)`
         }) AS each (prefix, task, kind, operator, priority, is_started))
       INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, attempt_count, next_attempt_at, created_at, updated_at)
       SELECT 'dlv_0' || lpad(n::text, 25, '0'), 'evt_0' || lpad(n::text, 25, '0'), e.id, e.merchant_id, '${state}',
         ${isWaiting ? '0, now()' : '1, NULL'}, now(), now()
       FROM n, endpoints e`,
    );
  }
  const analyse = () => db.pool.query(`VACUUM ANALYZE ${QUEUES.join(', ')}`);

  /** The plans for these values and for any, which PostgreSQL may choose once it has run a prepared statement five times. */
  async function plansOf(work: (explaining: Queryable) => Promise<unknown>): Promise<string[]> {
    const plans: string[] = [];
    await work({
      ...db,
      async run({ text }, values) {
        for (const [options, given] of [
          ['', values],
          ['(GENERIC_PLAN)', undefined],
        ] as const) {
          const { rows } = await fixture.queues.pool.query<{ 'QUERY PLAN': string }>(
            `EXPLAIN ${options} ${text}`,
            given && [...given],
          );
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        }
        return [];
      },
    });
    return plans;
  }

  async function assertBound({ isTiny = false } = {}): Promise<void> {
    const inFlight = { byEndpoint: new Map(), byMerchant: new Map() };
    const claim = { limit: 500, leaseMs: 1000, perEndpoint: 32, endpointLimits: new Map(), perMerchant: 128, inFlight };
    const claimed = batch.map((n) => ({ id: idOf('col', n), dueAt: new Date() }) as LateWork);
    const statements: readonly (readonly [RegExp, (explaining: Queryable) => Promise<unknown>])[] = [
      [
        /Index Scan using deliveries_pending on [^]*Scan (using|on) deliveries_pkey/,
        (explaining) => claimDeliveries(explaining, claim),
      ],
      [/Index Scan using deliveries_pending on /, (explaining) => escalateDeliveries(explaining, 10)],
      [/Index Scan using deliveries_endpoint on /, (explaining) => withholdDeliveries(explaining, 500, new Date())],
      [
        /using work_unstarted on [^]*Scan (using|on) work_pkey/,
        (explaining) => claimUnstarted(explaining, 'collection', { limit: 100, graceMs: 0, leaseMs: 1000 }),
      ],
      [
        /using work_check_due on [^]*Scan (using|on) work_pkey/,
        (explaining) => claimLate(explaining, 'delivery', { limit: 100, leaseMs: 1000 }),
      ],
      [
        /using work_query_due on [^]*/,
        (explaining) =>
          claimQueries(explaining, 'mtn-momo', { limit: 100, kinds: PAYMENT_KINDS, leaseMs: 1000, gapMs: 1000 }),
      ],
      [
        /Scan (using|on) work_pkey/,
        (explaining) => finishQueries(explaining, [{ query: {} as ClaimedQuery, next: null }]),
      ],
      [
        /Scan (using|on) work_pkey/,
        (explaining) =>
          scheduleChecks(
            explaining,
            claimed.map((work) => ({ work, delayMs: 1 })),
          ),
      ],
      [/Scan (using|on) work_pkey/, (explaining) => markLost(explaining, claimed)],
      [/Scan (using|on) work_pkey/, (explaining) => endWorkflows(explaining, claimed)],
      [
        /(?=[^]*using deliveries_pending on )(?=[^]*using deliveries_retrying on )(?=[^]*using work_unstarted on )(?=[^]*using work_check_due on )/,
        // Explained, it returns no row.
        (explaining) => assert.rejects(findDueWork(explaining), /returned no row/),
      ],
      [/Scan (using|on) deliveries_pkey/, (explaining) => recordAttempts(explaining, batch.map(recordOf), 1000)],
      [
        /Scan (using|on) work_pkey/,
        (explaining) =>
          markStarted(
            explaining,
            claimed.map((work) => ({ ...work, checkInMs: 1000 })),
          ),
      ],
      [
        /Scan (using|on) work_pkey/,
        (explaining) =>
          postponeStarts(
            explaining,
            claimed.map((work) => ({ ...work, delayMs: 0, isFailure: false })),
          ),
      ],
    ];
    for (const [index, work] of statements) {
      for (const plan of await plansOf(work)) {
        // For a tiny table any index is fast: autovacuum analyses none.
        if (!isTiny) assert.match(plan, index, plan);
        assert.doesNotMatch(plan, /Seq Scan on (deliveries|events|payments|work)\b/, plan);
      }
    }
  }
  const batch = Array.from({ length: 4 }, (_, n) => n + 1);
  const recordOf = (n: number): AttemptRecord => ({
    id: idOf('dlv', n) as DeliveryId,
    attemptNumber: 1,
    replayCount: 0,
    attemptsBeforeReplay: 0,
    attempt: { startedAt: new Date(), durationMs: 1, result: { kind: 'no_answer', error: 'none' } },
    next: { state: 'delivered' },
    at: new Date(),
  });

  it('goes by an index on tables that were never analysed, empty or not', async () => {
    await assertBound();
    await addRows(FEWEST_ANALYSED, 'pending');
    await assertBound();
  });

  it('goes by an index although a table was analysed when it was empty or tiny', async () => {
    await analyse();
    await assertBound({ isTiny: true });
    await addRows(50, 'pending');
    await assertBound({ isTiny: true });
    await analyse();
    await assertBound({ isTiny: true });
  });

  it('goes by an index once everything that waited at the analysis is done', async () => {
    await addRows(FEWEST_ANALYSED, 'pending');
    await analyse();
    await assertBound();
    await tamper(db, `UPDATE deliveries SET state = 'delivered', attempt_count = 1, next_attempt_at = NULL`);
    await tamper(db, 'DELETE FROM work');
    await addRows(20_000, 'delivered');
    await assertBound();
    await analyse();
    await assertBound();
  });

  it('goes by an index when nothing waited at the analysis, and a backlog came after it', async () => {
    await addRows(FEWEST_ANALYSED, 'delivered');
    await analyse();
    await assertBound();
    await addRows(20_000, 'pending');
    await assertBound();
    await analyse();
    await assertBound();
  });

  it('is not made from the statistics of a tiny table: PostgreSQL looks at none', async () => {
    const { thresholds } = await oneRow<{ thresholds: number }>(
      db,
      `SELECT count(*)::int AS thresholds FROM pg_class, unnest(reloptions) AS option
       WHERE relname = ANY($1) AND relkind = 'r' AND option = ANY($2)`,
      [
        QUEUES,
        ['analyze', 'vacuum', 'vacuum_insert'].map(
          (what) => `autovacuum_${what}_threshold=${FEWEST_ANALYSED * 3 + 100}`,
        ),
      ],
    );
    assert.equal(thresholds, QUEUES.length * 3);
  });
});
