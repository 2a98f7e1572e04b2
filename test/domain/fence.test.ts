// When a database counts as set back: the fence in it, the database that it is on, and the markers outside of it.
import assert from 'node:assert/strict';
import { findRestore, newest, type Fence, type KeptMarker } from '../../src/domain/fence.ts';

const AT = new Date('2026-11-01T10:00:00Z');
const PRESENT = { systemIdentifier: '7', timeline: 1, databaseOid: 5 };
const WRITTEN: Fence = { counter: 10, writtenAt: AT, identity: PRESENT };
const NEVER: Fence = { counter: 0, writtenAt: null, identity: null };
const marker = (counter: number, place: KeptMarker['place'] = 'file'): KeptMarker => ({
  ...{ counter, place, writtenAt: AT, lsn: '0/1' },
});

describe('a fence beside its markers', () => {
  const reasonOf = (fence: Fence, markers: readonly KeptMarker[], present = PRESENT, hasLooked = true) =>
    findRestore(fence, present, markers, hasLooked)?.reason ?? null;

  it('is that of this deployment with a marker of the last write, and of the write before', () => {
    assert.deepEqual([reasonOf(WRITTEN, [marker(10)]), reasonOf(WRITTEN, [marker(9)])], [null, null]);
  });

  it('is behind one marker of several', () => {
    const ahead = marker(11, 'temporal');
    assert.deepEqual(findRestore(WRITTEN, PRESENT, [marker(9), ahead], true), { reason: 'behind', marker: ahead });
  });

  it('is behind when it was never written and a marker says that it was', () => {
    assert.equal(reasonOf(NEVER, [marker(1)]), 'behind');
  });

  it('is that of a new database without any marker', () => {
    assert.equal(reasonOf(NEVER, []), null);
  });

  it('is on another cluster, another database and another timeline', () => {
    const reasons = [{ systemIdentifier: '8' }, { databaseOid: 6 }, { timeline: 2 }].map((other) =>
      reasonOf(WRITTEN, [marker(10)], { ...PRESENT, ...other }),
    );
    assert.deepEqual(reasons, ['other_cluster', 'other_database', 'other_timeline']);
  });

  it('has no marker only once every place was looked at', () => {
    assert.deepEqual([reasonOf(WRITTEN, []), reasonOf(WRITTEN, [], PRESENT, false)], ['no_marker', null]);
  });

  it('has as its newest marker the one that counted furthest', () => {
    assert.deepEqual(newest([marker(3), marker(5), marker(4)]), marker(5));
    assert.equal(newest([]), null);
  });
});
