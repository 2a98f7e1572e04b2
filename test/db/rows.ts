// Rows for tests: merchants, members, endpoints, and collections that the service's own operations bring to any state.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { insertCollection } from '../../src/db/payments/collection.ts';
import type { Database } from '../../src/db/platform/database.ts';
import { foldStateChanges, IS_UNFOLDED } from '../../src/db/state-changes.ts';
import type { Collection, CollectionState } from '../../src/domain/payments/collection.ts';
import { REAL_CLOCKS, type Clocks } from '../../src/domain/clocks.ts';
import type { PaymentContext } from '../../src/operations/payments/payment-context.ts';
import type { CollectionTransitionInput } from '../../src/domain/payments/collection-progress.ts';
import { coverageOf } from '../../src/domain/payments/operator-catalogue.ts';
import type { Payment, PaymentKind } from '../../src/domain/payments/payment.ts';
import { needsOperatorStatus, type TransitionInput } from '../../src/domain/payments/lifecycle.ts';
import type { StatusBasis } from '../../src/domain/payments/operator-status.ts';
import { idTimeMs, newId, type EndpointId, type MerchantId, type UserId } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/accounts/member.ts';
import { createReleaseAttestor } from '../../src/security/release-attestation.ts';
import { createMerchant } from '../../src/operations/accounts/create-merchant.ts';
import { enrolMember } from '../../src/operations/accounts/enrol-member.ts';
import { collectionWith } from '../domain/payments/collections.ts';
import { recordTransition, type RecordTransition } from '../../src/operations/payments/record-transition.ts';
import { recordOperatorCallback } from '../../src/operations/payments/record-operator-callback.ts';
import { registerEndpoint } from '../../src/operations/webhooks/register-endpoint.ts';
import { ATTESTATION_RING } from '../support/attestation.ts';

export const KEY_RING = ATTESTATION_RING;

/** Changes rows as only a superuser of the database can, past all constraints and triggers. */
export async function tamper(db: Database, sql: string, values: readonly unknown[] = []): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    await client.query(sql, [...values]);
  } finally {
    // Nothing else may get this connection.
    client.release(true);
  }
}

/** How many changes that meet the condition are not folded. */
export function countUnfolded(db: Database, condition = 'true', values: readonly unknown[] = []): Promise<number> {
  return countRows(db, `state_changes WHERE ${IS_UNFOLDED} AND ${condition}`, values);
}

/** Folds all changes. If a transaction of any database of the server is in progress, waits for its end. */
export async function foldAll(db: Database, limit = 1000): Promise<void> {
  do {
    await foldStateChanges(db, limit);
  } while ((await countUnfolded(db)) > 0);
}

export async function makeMerchant(db: Database): Promise<MerchantId> {
  return createMerchant(db, { name: 'Test merchant', currency: 'UGX', at: new Date() });
}

/** A member in these roles, whose password nobody knows. */
export async function makeMember(db: Database, merchantId: MerchantId, roles: readonly Role[]): Promise<UserId> {
  return enrolMember(db, {
    merchantId,
    email: `${randomUUID()}@shop.example`,
    name: 'Test member',
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    roles,
    totpSecret: null,
    keyRing: KEY_RING,
    at: new Date(),
  });
}

export async function makeEndpoint(db: Database, merchantId: MerchantId): Promise<EndpointId> {
  const at = new Date();
  const input = { merchantId, url: 'https://merchant.example/hook', description: null, eventTypes: null };
  return (await registerEndpoint(db, { ...input, keyRing: KEY_RING, at })).id;
}

export function newCollection(merchantId: MerchantId, fields: Partial<Collection> = {}): Collection {
  const id = newId('col');
  const createdAt = new Date(idTimeMs(id));
  return collectionWith({
    id,
    merchantId,
    idempotencyKey: randomUUID(),
    reference: 'INV-1',
    operatorReference: randomUUID(),
    createdAt,
    updatedAt: createdAt,
    promptDeadlineAt: new Date(createdAt.getTime() + 300_000),
    ...fields,
  });
}

/** The operator says that it was paid, with a receipt that no other payment has. */
export function paid(): { readonly kind: 'paid'; readonly operatorReceipt: string } {
  return { kind: 'paid', operatorReceipt: randomUUID() };
}

const STEPS: Readonly<Record<CollectionState, () => readonly CollectionTransitionInput[]>> = {
  initiated: () => [],
  prompted: () => [{ kind: 'prompt_accepted' }],
  reconciling: () => [{ kind: 'outcome_unknown' }],
  succeeded: () => [{ kind: 'prompt_accepted' }, paid()],
  failed: () => [{ kind: 'declined', failureCode: 'wrong_pin' }],
  expired: () => [{ kind: 'prompt_accepted' }, { kind: 'expired', failureCode: 'prompt_expired' }],
  reversed: () => [{ kind: 'prompt_accepted' }, paid(), { kind: 'returned' }],
};

/** A collection that the service's own operations brought to `state`. */
export async function makeCollection(
  db: Database,
  merchantId: MerchantId,
  state: CollectionState = 'initiated',
  fields: Partial<Collection> = {},
): Promise<Collection> {
  const collection = newCollection(merchantId, fields);
  await db.withTransaction((tx) => insertCollection(tx, collection));
  let moved = collection;
  for (const transition of STEPS[state]()) {
    // One that expired was prompted long enough ago.
    const agoMs = state === 'expired' && transition.kind === 'prompt_accepted' ? TEST_CLOCKS.promptWindowMs : 0;
    moved = await record(db, collection, transition, new Date(Date.now() - agoMs));
  }
  return moved;
}

/** Clocks whose moments a test can compute. */
export const TEST_CLOCKS: Clocks = {
  ...REAL_CLOCKS,
  promptWindowMs: 60_000,
  staleAfterMs: 60_000,
  lateCheckAgesMs: [60_000],
  notFoundGraceMs: 60_000,
  notFoundGapMs: 10_000,
  notFoundSpanMs: 60_000,
};

/** What payment operations are bound to in tests. */
export function contextOf(db: Database, clocks: Partial<Clocks> = {}): PaymentContext {
  return {
    db,
    environment: 'test',
    clocks: { ...TEST_CLOCKS, ...clocks },
    coverage: coverageOf({ 'mtn-momo': null }),
    releases: createReleaseAttestor({ environment: 'test', keyRing: KEY_RING }),
  };
}

/** Records transition inputs of one kind of payment, each as of a status that was queried then; returns the payment after it. */
export function recorderOf<Kind extends PaymentKind>(kind: Kind) {
  return async (
    db: Database,
    { id, merchantId }: Pick<Payment<Kind>, 'id' | 'merchantId'>,
    transition: RecordTransition<Kind>['transition'],
    at = new Date(),
  ): Promise<Payment<Kind>> => {
    const ref = { kind, id, merchantId } as unknown as RecordTransition<Kind>['ref'];
    const input = { ref, transition, at, basis: basisFor(transition, at) };
    return (await recordTransition(contextOf(db), input)).payment;
  };
}

export const record = recorderOf('collection');

/** What a recorder knows of a status that supports the transition and was queried at that time. */
export function basisFor(transition: TransitionInput, at: Date): StatusBasis | null {
  if (!needsOperatorStatus(transition)) return null;
  return { kind: STATUS_OF[transition.kind], queriedAtMs: at.getTime() };
}

const STATUS_OF: Readonly<Record<TransitionInput['kind'], StatusBasis['kind']>> = {
  prompt_accepted: 'pending',
  paid: 'paid',
  refunded: 'paid',
  returned: 'returned',
  declined: 'declined',
  expired: 'declined',
  never_accepted: 'not_found',
  undecided: 'unknown',
  outcome_unknown: 'unknown',
  approval_expired: 'unknown',
  never_sent: 'unknown',
};

/** Records a callback of the operator for this reference. */
export function callBack(
  db: Database,
  operatorReference: string,
  isProven = false,
): ReturnType<typeof recordOperatorCallback> {
  return recordOperatorCallback(db, {
    operator: 'mtn-momo',
    operatorReference,
    isProven,
    body: '{}',
    contentType: 'application/json',
    sourceAddress: '127.0.0.1',
    receivedAt: new Date(),
  });
}

/** As if the idempotency key had been used longer ago than its response is stored for. */
export async function expireIdempotencyKey(db: Database, key: string): Promise<void> {
  await db.pool.query(`UPDATE idempotency_keys SET created_at = now() - interval '31 days' WHERE key = $1`, [key]);
}

/** How many rows this has: a table, with a WHERE clause or without. */
export async function countRows(db: Database, from: string, values: readonly unknown[] = []): Promise<number> {
  return (await oneRow<{ count: number }>(db, `SELECT count(*)::int AS count FROM ${from}`, values)).count;
}

export async function allRows<Row>(db: Database, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await db.pool.query(sql, [...values])).rows as Row[];
}

export async function oneRow<Row>(db: Database, sql: string, values: readonly unknown[] = []): Promise<Row> {
  const rows = await allRows<Row>(db, sql, values);
  assert.equal(rows.length, 1, sql);
  return rows[0] as Row;
}

/** Runs the work in a transaction of another connection, which is rolled back. */
export async function inOpenTransaction<Result>(
  db: Database,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    return await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/**
 * Runs `sql` in an open transaction of another connection, calls `begin` and waits until it is blocked, runs `meanwhile`,
 * which may use that transaction, and commits. Returns what `begin` then resolves to.
 */
export async function whileLocked<Result>(
  db: Database,
  { sql, values = [] }: { readonly sql: string; readonly values?: unknown[] },
  begin: () => Promise<Result>,
  meanwhile: (locking: PoolClient) => Promise<unknown> = () => Promise.resolve(),
): Promise<Result> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(sql, values);
    const result = begin();
    await untilOneWaits(db);
    await meanwhile(client);
    await client.query('COMMIT');
    return await result;
  } finally {
    client.release(true);
  }
}

/** Resolves when a connection to this database waits for a lock; fails when none does within a minute. */
export function untilOneWaits(db: Database): Promise<void> {
  return untilSoManyWait(db, 1);
}

export async function untilSoManyWait(db: Database, count: number): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (Date.now() < endsAt) {
    const { waiting } = await oneRow<{ waiting: number }>(
      db,
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (waiting >= count) return;
    await sleep(10);
  }
  assert.fail(`fewer than ${count} connections wait for a lock`);
}
