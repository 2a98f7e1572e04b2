// Events: their bodies, made once.
import assert from 'node:assert/strict';
import { COLLECTION_STATES, collectionObject } from '../../src/domain/collection.ts';
import { collectionEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import { AT, collectionWith } from './collections.ts';

const EVENT = { id: newId('evt'), at: AT, environment: 'test' } as const;

describe('an event', () => {
  it('exists for every state but the first', () => {
    const told = COLLECTION_STATES.filter((state) => state !== 'initiated');
    assert.deepEqual([...EVENT_TYPES].sort(), told.map((state) => `collection.${state}`).sort());
    for (const state of told)
      assert.equal(collectionEvent(collectionWith({ state }), EVENT).type, `collection.${state}`);
  });

  it('does not exist for a collection as it was made', () => {
    assert.throws(() => collectionEvent(collectionWith(), EVENT), /has no event/);
  });

  it('tells who, what, when and from which state, with the object as the fetch route shows it', () => {
    const collection = collectionWith({ state: 'prompted', previousState: 'initiated', promptExpiresAt: AT });
    assert.deepEqual(JSON.parse(collectionEvent(collection, EVENT).body), {
      id: EVENT.id,
      type: 'collection.prompted',
      created_at: '2026-01-31T12:00:00.000Z',
      environment: 'test',
      data: {
        object: JSON.parse(JSON.stringify(collectionObject(collection))) as unknown,
        previous_state: 'initiated',
      },
    });
  });

  it('says late of a late success, and nothing of it otherwise', () => {
    const late = collectionWith({ state: 'succeeded', previousState: 'expired' });
    const timely = collectionWith({ state: 'succeeded', previousState: 'prompted' });
    assert.match(collectionEvent(late, EVENT).body, /"previous_state":"expired","late":true\}/);
    assert.doesNotMatch(collectionEvent(timely, EVENT).body, /late/);
  });

  it('is the same bytes whenever it is made of the same things', () => {
    const collection = collectionWith({ state: 'failed', failureCode: 'wrong_pin', metadata: { b: '1', a: '2' } });
    assert.equal(collectionEvent(collection, EVENT).body, collectionEvent({ ...collection }, EVENT).body);
  });
});
