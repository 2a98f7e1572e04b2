// The keeper of the fence: it writes, others take over, and a database that was set back puts the service in recovery.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFence, listOpenRestores } from '../../src/db/platform/fence.ts';
import { markSendBegun } from '../../src/db/payments/payment-progress.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { MarkerPlace } from '../../src/domain/fence.ts';
import { markerFile, type MarkerStore } from '../../src/server/fence-file.ts';
import { startFenceKeeper, type FenceKeeper } from '../../src/server/fence-keeper.ts';
import { createFencePlaces } from '../../src/server/fence-places.ts';
import { addFirstStaff, agree } from '../support/staff.ts';
import { createTestDatabase, openAt, runFolder, testLog, type TestDatabase } from '../support/engines.ts';
import { useFixturePerCase } from '../support/use-fixture.ts';
import { eventually } from '../support/test-environment.ts';
import { makeCollection, makeMerchant, oneRow, tamper } from '../db/rows.ts';

const STRICT = `UPDATE fence SET lasts = '5 seconds', counter = 0, writer = NULL, written_at = NULL, lsn = NULL,
  server_started_at = NULL, system_identifier = NULL, timeline = NULL, database_oid = NULL`;

type TemporalStub = { texts: Map<string, string>; isAway: boolean };

/** A Temporal that keeps texts, as the namespace does; `test/temporal/namespace-texts.test.ts` has the real one. */
function temporalOf(stub: TemporalStub) {
  return {
    whenConnected: () => Promise.resolve({} as never),
    readNamespaceText: (name: string) =>
      Promise.resolve(stub.isAway ? ('away' as const) : { text: stub.texts.get(name) ?? null }),
    writeNamespaceText(name: string, text: string) {
      if (stub.isAway) return Promise.resolve('away' as const);
      stub.texts.set(name, text);
      return Promise.resolve('kept' as const);
    },
  };
}

describe('the keeper of the fence', () => {
  const running: FenceKeeper[] = [];

  // Before the hook that drops the database, which waits for nobody.
  afterEach(() => Promise.all(running.splice(0).map((keeper) => keeper.stop())));

  const database = useFixturePerCase(
    async () => {
      const created: TestDatabase = await createTestDatabase();
      await tamper(created.db, STRICT);
      return { ...created, path: join(runFolder(), `fence-${randomUUID()}.json`) };
    },
    ({ drop }) => drop(),
  );
  type Places = { file?: MarkerStore | null; temporal?: TemporalStub };
  function start({ file = markerFile(database.path), temporal }: Places = {}): FenceKeeper {
    const keeper = startFenceKeeper({
      db: openAt(database.url, { poolSize: 1 }),
      places: createFencePlaces({ file, temporal: temporal ? temporalOf(temporal) : null, log: testLog }),
      isReadable: () => true,
      log: testLog,
    });
    running.push(keeper);
    return keeper;
  }
  const end = async (keeper: FenceKeeper): Promise<void> => {
    running.splice(running.indexOf(keeper), 1);
    await keeper.stop();
  };
  const counter = async (): Promise<number> => (await findFence(database.db)).counter;
  const writes = async (beyond: number): Promise<number> =>
    eventually('another write', async () => ((await counter()) > beyond ? counter() : null));
  const markerIn = (path: string): { counter: number; writtenAt: string } => {
    const [marker] = Object.values(JSON.parse(readFileSync(path, 'utf8')) as Record<string, never>);
    return marker!;
  };
  /** Requests a collection, and begins to send it. */
  async function begin(): Promise<boolean> {
    const { id, merchantId } = await makeCollection(database.db, await makeMerchant(database.db));
    return markSendBegun(database.db, { kind: 'collection', id, merchantId }, new Date());
  }
  const refused = (error: unknown) => error instanceof DomainError && error.code === 'service_unavailable';
  /** The database is what it was this many writes ago. */
  const setBack = (by: number) => tamper(database.db, `UPDATE fence SET counter = counter - ${by}`);
  async function recovers(keeper: FenceKeeper): Promise<{ reason: string; marker: MarkerPlace | null }> {
    const { reason, marker } = await eventually('the recovery', () => {
      const found = keeper.recovery();
      return found === 'unknown' ? null : found;
    });
    await assert.rejects(begin(), refused);
    return { reason, marker };
  }

  it('lets nothing be sent before it wrote, and after it stopped for five seconds', async () => {
    await assert.rejects(begin(), refused);
    const keeper = start();
    await writes(0);
    assert.equal(await begin(), true);
    await end(keeper);
    await tamper(database.db, "UPDATE fence SET written_at = written_at - interval '5 seconds'");
    await assert.rejects(begin(), refused);
  });

  it('keeps in the file what it wrote, beside the markers of other deployments', async () => {
    const other = { other: { counter: 7, writtenAt: new Date().toISOString(), lsn: '0/1' } };
    writeFileSync(database.path, JSON.stringify(other));
    const keeper = start();
    await writes(1);
    await end(keeper);
    const kept = JSON.parse(readFileSync(database.path, 'utf8')) as Record<string, { counter: number }>;
    const { deployment } = await findFence(database.db);
    assert.deepEqual(kept[deployment]?.counter, await counter());
    assert.equal(kept['other']?.counter, 7);
  });

  it('goes on where it stopped', async () => {
    await end(await compared(start()));
    const before = await writes(0);
    const keeper = await compared(start());
    assert.equal(keeper.recovery(), null);
    assert.ok((await writes(before)) > before);
  });

  it('takes over from a process that was killed, and writes alone while another one does', async () => {
    const [one, other] = [await compared(start()), await compared(start())];
    await writes(2);
    const writerOf = async () => (await findFence(database.db)).writer;
    const first = await writerOf();
    await writes(await counter());
    assert.equal(await writerOf(), first);
    // Whichever of the two it is.
    await tamper(
      database.db,
      `UPDATE fence SET writer = gen_random_uuid(), written_at = written_at - interval '3 seconds'`,
    );
    await writes(await counter());
    assert.notEqual(await writerOf(), null);
    assert.deepEqual([one.recovery(), other.recovery()], [null, null]);
    assert.equal(await begin(), true);
  });

  it('writes again after the clock of the database was set back, and forward', async () => {
    const keeper = await compared(start());
    for (const jump of ["- interval '1 hour'", "+ interval '1 hour'"]) {
      await writes(await counter());
      await tamper(database.db, `UPDATE fence SET written_at = written_at ${jump}`);
      await writes(await counter());
      assert.equal(await begin(), true);
    }
    assert.equal(keeper.recovery(), null);
  });

  it('writes no more while the marker file cannot be written', async () => {
    const path = join(database.path, 'fence.json');
    const keeper = start({ file: markerFile(path) });
    await writes(0);
    await sleep(2500);
    assert.equal(await counter(), 1);
    await mkdir(database.path);
    await writes(1);
    assert.equal((await compared(keeper)).recovery(), null);
  });

  it('puts the service in recovery when the file is ahead, at its start and while it runs', async () => {
    const keeper = await compared(start());
    await writes(3);
    await setBack(3);
    const found = await recovers(keeper);
    assert.equal(found.reason, 'behind');
    await end(keeper);
    const again = await compared(start());
    assert.equal((await recovers(again)).reason, 'behind');
  });

  it('knows by the file alone that the database was set back while nothing ran', async () => {
    await compared(start());
    await writes(3);
    await end(running[0]!);
    await setBack(2);
    assert.deepEqual(await recovers(start()), { reason: 'behind', marker: 'file' });
  });

  it('knows by Temporal alone, and goes on while Temporal is unavailable', async () => {
    const temporal: TemporalStub = { texts: new Map(), isAway: false };
    const keeper = await compared(start({ temporal }));
    await eventually('the marker in Temporal', () => temporal.texts.size === 1);
    temporal.isAway = true;
    const before = await counter();
    await writes(before + 2);
    assert.equal(await begin(), true);
    await end(keeper);
    temporal.isAway = false;
    for (const name of temporal.texts.keys())
      temporal.texts.set(name, JSON.stringify({ counter: 1_000_000, writtenAt: new Date(), lsn: '0/1' }));
    assert.deepEqual(await recovers(start({ temporal })), { reason: 'behind', marker: 'temporal' });
  });

  it('waits for Temporal where there is no file', async () => {
    const temporal: TemporalStub = { texts: new Map(), isAway: true };
    const keeper = start({ file: null, temporal });
    await sleep(1500);
    assert.deepEqual([keeper.recovery(), await counter()], ['unknown', 0]);
    temporal.isAway = false;
    await writes(1);
    assert.equal((await compared(keeper)).recovery(), null);
  });

  it('puts the service in recovery when every marker is gone', async () => {
    await end(await compared(start()));
    await writes(0);
    const file = markerFile(`${database.path}.other`);
    assert.deepEqual(await recovers(start({ file })), { reason: 'no_marker', marker: null });
  });

  it('believes a process that has a marker, where it has none itself', async () => {
    await compared(start());
    const other = await compared(start({ file: markerFile(`${database.path}.other`) }));
    assert.equal(other.recovery(), null);
  });

  it('puts the service in recovery on a copy of the database', async () => {
    await end(await compared(start()));
    await writes(0);
    await tamper(database.db, 'UPDATE fence SET database_oid = database_oid::bigint - 1');
    assert.equal((await recovers(start())).reason, 'other_database');
  });

  it('records one restore however many processes find it, ends all sessions, and is written on', async () => {
    await end(await compared(start()));
    const before = await writes(0);
    writeFileSync(
      database.path,
      JSON.stringify({ [(await findFence(database.db)).deployment]: { ...markerIn(database.path), counter: 500 } }),
    );
    await Promise.all([start(), start(), start()].map((keeper) => recovers(keeper)));
    const found = await listOpenRestores(database.db);
    assert.equal(found.length, 1);
    assert.ok((await writes(501)) > before);
    const entry = await oneRow<{ after: { reason: string } }>(
      database.db,
      "SELECT after FROM audit_entries WHERE action = 'restore.found'",
    );
    assert.equal(entry.after.reason, 'behind');
  });

  it('sends again once two of the staff opened it, and says so in the audit log', async () => {
    const keeper = await compared(start());
    await writes(3);
    await setBack(3);
    await recovers(keeper);
    const [{ id: latest } = { id: '' }] = await listOpenRestores(database.db);
    await addFirstStaff(database.db);
    await agree(database.db, { kind: 'recovery_opening', payload: { restore: latest, reason: 'compared by hand' } });
    await eventually('the end of the recovery', () => keeper.recovery() === null);
    assert.equal(await begin(), true);
    const entry = await oneRow<{ staff: string; after: { reason: string } }>(
      database.db,
      "SELECT staff, after FROM audit_entries WHERE action = 'restore.opened'",
    );
    assert.deepEqual([entry.staff, entry.after.reason], ['brian', 'compared by hand']);
  });

  it('counts from the opening on what may be sent as sent, and more than once', async () => {
    const keeper = await compared(start());
    await writes(3);
    const unsent = await makeCollection(database.db, await makeMerchant(database.db));
    await setBack(3);
    await recovers(keeper);
    const [{ id: restore } = { id: '' }] = await listOpenRestores(database.db);
    await addFirstStaff(database.db);
    await agree(database.db, { kind: 'recovery_opening', payload: { restore, reason: 'compared by hand' } });
    const row = await oneRow<{ begun: boolean; repeated: boolean }>(
      database.db,
      'SELECT send_begun_at IS NOT NULL AS begun, send_repeated_at IS NOT NULL AS repeated FROM payments WHERE id = $1',
      [unsent.id],
    );
    assert.deepEqual(row, { begun: true, repeated: true });
    const { id, merchantId } = unsent;
    assert.equal(await markSendBegun(database.db, { kind: 'collection', id, merchantId }, new Date()), false);
  });

  it('is not opened by an agreement from before the latest restore', async () => {
    const keeper = await compared(start());
    await writes(3);
    await setBack(3);
    await recovers(keeper);
    const [{ id: first } = { id: '' }] = await listOpenRestores(database.db);
    const payload = { restore: String(Number(first) + 1), reason: 'too early' };
    await addFirstStaff(database.db);
    await assert.rejects(agree(database.db, { kind: 'recovery_opening', payload }), /Another restore was found since/);
  });

  it('is fresh again soon after PostgreSQL started again', async () => {
    await compared(start());
    await writes(0);
    await tamper(database.db, "UPDATE fence SET server_started_at = server_started_at - interval '1 hour'");
    await eventually('the next write', async () => begin().catch(() => false));
  });
});

async function compared(keeper: FenceKeeper): Promise<FenceKeeper> {
  await keeper.compared;
  return keeper;
}
