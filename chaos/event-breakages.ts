// Events and webhooks that are missing, doubled, untrue or never received: breakages that the checker must name.
import {
  change,
  changeEvent,
  changeLines,
  doubleEvent,
  eventIdIn,
  eventOfPaid,
  PAID_COLLECTION,
  type BreakagesByRule,
} from './break-evidence.ts';

export const EVENT_BREAKAGES: BreakagesByRule = {
  event_missing: {
    'an event that was deleted': change(
      PAID_COLLECTION,
      'DELETE FROM events WHERE payment_id = $1 AND resource_version = 1',
    ),
  },
  event_surplus: {
    'an event that was doubled': doubleEvent,
  },
  webhook_not_received: {
    'a delivery that counts as delivered and was never sent': async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) => (eventIdIn(line) === id ? [] : [line]));
      return id;
    },
  },
  webhook_wrong: {
    'a webhook whose bytes are not those of its event': async (copy) => {
      const id = await eventOfPaid(copy);
      changeLines(copy.evidence.receiverFile, (line) =>
        eventIdIn(line) === id ? [{ ...line, body: Buffer.from('{}').toString('base64') }] : [line],
      );
      return id;
    },
  },
  delivery_unfinished: {
    'a delivery that is still owed': change(
      'SELECT id FROM deliveries ORDER BY id LIMIT 1',
      `UPDATE deliveries SET state = 'pending', next_attempt_at = now() WHERE id = $1`,
    ),
  },
  event_wrong: {
    'an event that shows another amount': changeEvent({ type: 'collection.prompted' }, ({ data: { object } }) => {
      object['amount'] = Number(object['amount']) + 1;
    }),
    'an event that shows another reason': changeEvent({ type: 'payout.failed' }, ({ data: { object } }) => {
      object['failure'] = { code: 'insufficient_funds', message: 'Another one.' };
    }),
    'an event that says that the money came back': changeEvent({ type: 'payout.succeeded' }, ({ data: { object } }) => {
      object['amount_reversed'] = object['amount'];
    }),
    'an event that leaves out who approved': changeEvent({ type: 'payout.released' }, ({ data: { object } }) => {
      object['approvals'] = [];
    }),
    'an event that calls a timely outcome late': changeEvent({ type: 'collection.succeeded' }, ({ data }) => {
      data.late = true;
    }),
    'an event that does not call a late outcome late': changeEvent(
      { type: 'collection.succeeded', text: '"late":true' },
      ({ data }) => {
        delete data.late;
      },
    ),
    'an event that lacks a field': changeEvent({ type: 'collection.failed' }, ({ data: { object } }) => {
      delete object['reference'];
    }),
  },
};
