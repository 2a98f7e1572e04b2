// Tests the types and bodies of events.
import assert from 'node:assert/strict';
import { COLLECTION_STATES, collectionObject, type Collection } from '../../../src/domain/payments/collection.ts';
import { endpointTestEvent, EVENT_TYPES, PAYMENT_EVENT_TYPES, paymentEvent } from '../../../src/domain/event.ts';
import { newId } from '../../../src/domain/ids.ts';
import { PAYOUT_STATES, payoutObject, type Payout } from '../../../src/domain/payments/payout.ts';
import { eventBodySchema } from '../../../src/api/schemas/webhooks/event-body.ts';
import { endpointObject, type Endpoint } from '../../../src/domain/webhooks/endpoint.ts';
import { AT, collectionWith } from '../payments/collections.ts';
import { payoutWith } from '../payments/payouts.ts';

const ENDPOINT: Endpoint = {
  id: newId('whe'),
  merchantId: newId('mer'),
  url: 'https://shop.example',
  description: null,
  eventTypes: null,
  state: 'enabled',
  disabledReason: null,
  disabledAt: null,
  failingSince: AT,
  previousSecretUntil: null,
  createdAt: AT,
  updatedAt: AT,
};
const EVENT = { id: newId('evt'), at: AT, environment: 'test' } as const;

describe('the types of events', () => {
  it('offer an endpoint one type for each payout state and for each collection state except the first', () => {
    const ofCollections = COLLECTION_STATES.filter((state) => state !== 'initiated').map(
      (state) => `collection.${state}`,
    );
    const ofPayouts = PAYOUT_STATES.map((state) => `payout.${state}`);
    assert.deepEqual([...PAYMENT_EVENT_TYPES].sort(), [...ofCollections, ...ofPayouts].sort());
  });

  it('also include the test of an endpoint, which cannot be selected', () => {
    assert.deepEqual(EVENT_TYPES, [...PAYMENT_EVENT_TYPES, 'endpoint.test']);
  });
});

function assertBody(payment: Collection | Payout, type: string, object: object, previousState: string): void {
  assert.deepEqual(JSON.parse(paymentEvent(payment, EVENT).body), {
    id: EVENT.id,
    type,
    created_at: '2026-01-31T12:00:00.000Z',
    environment: 'test',
    data: { object: JSON.parse(JSON.stringify(object)) as unknown, previous_state: previousState },
  });
}

describe('an event of a collection', () => {
  it('exists for every state except the first', () => {
    const states = COLLECTION_STATES.filter((state) => state !== 'initiated');
    for (const state of states)
      assert.equal(paymentEvent(collectionWith({ state }), EVENT).type, `collection.${state}`);
  });

  it('does not exist for a new collection', () => {
    assert.throws(() => paymentEvent(collectionWith(), EVENT), /has no event/);
  });

  it('contains its id, type, time and previous state, with the object as the fetch route shows it', () => {
    const collection = collectionWith({ state: 'prompted', previousState: 'initiated', promptExpiresAt: AT });
    assertBody(collection, 'collection.prompted', collectionObject(collection), 'initiated');
  });

  it('has the field `late` for a late success, and not otherwise', () => {
    const late = collectionWith({ state: 'succeeded', previousState: 'expired' });
    const timely = collectionWith({ state: 'succeeded', previousState: 'prompted' });
    assert.match(paymentEvent(late, EVENT).body, /"previous_state":"expired","late":true\}/);
    assert.doesNotMatch(paymentEvent(timely, EVENT).body, /late/);
  });

  it('has the same bytes whenever it is built from the same collection', () => {
    const collection = collectionWith({ state: 'failed', failureCode: 'wrong_pin', metadata: { b: '1', a: '2' } });
    assert.equal(paymentEvent(collection, EVENT).body, paymentEvent({ ...collection }, EVENT).body);
  });
});

describe('an event of a payout', () => {
  it('exists for every state, including the first', () => {
    for (const state of PAYOUT_STATES) assert.equal(paymentEvent(payoutWith({ state }), EVENT).type, `payout.${state}`);
  });

  it('contains its id, type, time and previous state, with the object as the fetch route shows it', () => {
    const approvals = [{ userId: newId('usr'), approvedAt: AT, attestation: 'attested' }];
    const payout = payoutWith({ state: 'released', previousState: 'queued', approvals, sendDeadlineAt: AT });
    assertBody(payout, 'payout.released', payoutObject(payout), 'queued');
  });

  it('has no previous state for a new payout', () => {
    assert.match(paymentEvent(payoutWith(), EVENT).body, /"previous_state":null\}\}$/);
  });
});

describe('the document', () => {
  it('describes the body of every event as built', () => {
    const failure = { failureCode: 'wrong_pin' } as const;
    const collections = COLLECTION_STATES.filter((state) => state !== 'initiated').flatMap((state) => [
      paymentEvent(collectionWith({ state, previousState: 'initiated' }), EVENT),
      paymentEvent(collectionWith({ state, previousState: 'expired', promptExpiresAt: AT, ...failure }), EVENT),
    ]);
    const approvals = [{ userId: newId('usr'), approvedAt: AT, attestation: 'attested' }];
    const payouts = PAYOUT_STATES.flatMap((state) => [
      paymentEvent(payoutWith({ state }), EVENT),
      paymentEvent(payoutWith({ state, previousState: 'queued', approvals, rejectionReason: 'late' }), EVENT),
    ]);
    const test = endpointTestEvent(endpointObject(ENDPOINT, { at: AT, failingLimitMs: 1000 }), EVENT);
    const events = [...collections, ...payouts, test];
    for (const { type, body } of events) eventBodySchema(type).parse(JSON.parse(body));
    assert.equal(new Set(events.map(({ type }) => type)).size, EVENT_TYPES.length);
  });
});

describe('a test event', () => {
  it('shows the endpoint that it tests, and no previous state', () => {
    const { type, body } = endpointTestEvent({ id: 'whe_1', url: 'https://shop.example' }, EVENT);
    assert.deepEqual(JSON.parse(body), {
      id: EVENT.id,
      type,
      created_at: '2026-01-31T12:00:00.000Z',
      environment: 'test',
      data: { object: { id: 'whe_1', url: 'https://shop.example' } },
    });
    assert.equal(type, 'endpoint.test');
  });
});
