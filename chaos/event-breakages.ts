// Events and webhooks that are missing, doubled, untrue or never received: breakages that the checker must name.
import {
  change,
  changeEvent,
  changeLines,
  doubleEvent,
  eventIdIn,
  eventOfPaid,
  PAID_COLLECTION,
  type Breakage,
} from './break-evidence.ts';

export const EVENT_BREAKAGES: readonly Breakage[] = [
  {
    name: 'an event that was deleted',
    rule: 'event_missing',
    apply: change(PAID_COLLECTION, 'DELETE FROM events WHERE payment_id = $1 AND resource_version = 1'),
  },
  {
    name: 'an event that was doubled',
    rule: 'event_surplus',
    apply: doubleEvent,
  },
  {
    name: 'a delivery that counts as delivered and was never sent',
    rule: 'webhook_not_received',
    apply: async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) => (eventIdIn(line) === id ? [] : [line]));
      return id;
    },
  },
  {
    name: 'a webhook whose bytes are not those of its event',
    rule: 'webhook_wrong',
    apply: async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) =>
        eventIdIn(line) === id ? [{ ...line, body: Buffer.from('{}').toString('base64') }] : [line],
      );
      return id;
    },
  },
  {
    name: 'a delivery that is still owed',
    rule: 'delivery_unfinished',
    apply: change(
      'SELECT id FROM deliveries ORDER BY id LIMIT 1',
      `UPDATE deliveries SET state = 'pending', next_attempt_at = now() WHERE id = $1`,
    ),
  },
  {
    name: 'an event that shows another amount',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'collection.prompted' }, ({ data: { object } }) => {
      object['amount'] = Number(object['amount']) + 1;
    }),
  },
  {
    name: 'an event that shows another reason',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'payout.failed' }, ({ data: { object } }) => {
      object['failure'] = { code: 'insufficient_funds', message: 'Another one.' };
    }),
  },
  {
    name: 'an event that says that the money came back',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'payout.succeeded' }, ({ data: { object } }) => {
      object['amount_reversed'] = object['amount'];
    }),
  },
  {
    name: 'an event that leaves out who approved',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'payout.released' }, ({ data: { object } }) => {
      object['approvals'] = [];
    }),
  },
  {
    name: 'an event that calls a timely outcome late',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'collection.succeeded' }, ({ data }) => {
      data.late = true;
    }),
  },
  {
    name: 'an event that does not call a late outcome late',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'collection.succeeded', text: '"late":true' }, ({ data }) => {
      delete data.late;
    }),
  },
  {
    name: 'an event that lacks a field',
    rule: 'event_wrong',
    apply: changeEvent({ type: 'collection.failed' }, ({ data: { object } }) => {
      delete object['reference'];
    }),
  },
];
