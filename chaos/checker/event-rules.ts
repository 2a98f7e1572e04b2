// Rules about events and webhooks: one true event per change, in order; each received at least once, signed, unchanged.
import { createHmac } from 'node:crypto';
import { problemsWith, type Subject } from './event-bodies.ts';
import type { Endpoint, Received } from './evidence.ts';
import type { EventRow } from './records.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';

export const eventRules: Rules = (evidence) => [
  ...checkEvents(evidence),
  ...checkDeliveries(evidence),
  ...checkReceived(evidence),
];

/** The states that may follow each state. The event of a change names both. */
const COLLECTION_STEPS: Readonly<Record<string, readonly string[]>> = {
  initiated: ['prompted', 'reconciling', 'failed', 'expired'],
  prompted: ['reconciling', 'succeeded', 'failed', 'expired'],
  reconciling: ['succeeded', 'failed', 'expired'],
  succeeded: ['reversed'],
  expired: ['succeeded', 'failed'],
};
const PAYOUT_STEPS: Readonly<Record<string, readonly string[]>> = {
  '': ['queued'],
  queued: ['released', 'rejected', 'cancelled', 'expired'],
  released: ['succeeded', 'failed', 'reconciling', 'cancelled'],
  reconciling: ['succeeded', 'failed'],
  succeeded: ['reversed'],
};
const SIGNATURE_AGE_LIMIT_MS = 300_000;

function checkEvents({ records }: Case): Violation[] {
  const byPayment = groupBy(
    records.events.filter(({ paymentId }) => paymentId !== null),
    ({ paymentId }) => paymentId ?? '',
  );
  const approvals = groupBy(records.approvals, ({ paymentId }) => paymentId);
  const check = (subject: Subject): Violation[] => {
    const { id } = subject.row;
    const events = (byPayment.get(id) ?? []).sort((a, b) => (a.version ?? 0) - (b.version ?? 0));
    byPayment.delete(id);
    return checkChain(subject, events);
  };
  return [
    ...records.collections.flatMap((row) => check({ kind: 'collection', row })),
    ...records.payouts.flatMap((row) => check({ kind: 'payout', row, approvals: approvals.get(row.id) ?? [] })),
    ...[...byPayment].map(([id]): Violation => ({
      rule: 'event_surplus',
      id,
      text: 'an event is about a payment that does not exist',
    })),
  ];
}

function checkChain(subject: Subject, events: readonly EventRow[]): Violation[] {
  const { kind, row } = subject;
  const [steps, firstVersion, start] =
    kind === 'collection' ? ([COLLECTION_STEPS, 1, 'initiated'] as const) : ([PAYOUT_STEPS, 0, ''] as const);
  const violations: Violation[] = [];
  let before: string = start;
  let isPrompted = false;
  for (let version = firstVersion; version <= row.version; version++) {
    const [event, ...more] = events.filter((candidate) => candidate.version === version);
    if (!event) {
      violations.push({ rule: 'event_missing', id: row.id, text: `its change ${version} has no event` });
      continue;
    }
    for (const { id } of more.length > 0 ? [event, ...more] : []) {
      const text = `it is one of ${more.length + 1} events of change ${version} of ${row.id}`;
      violations.push({ rule: 'event_surplus', id, text });
    }
    const state = event.type.slice(kind.length + 1);
    isPrompted ||= state === 'prompted';
    const previous = before === '' ? null : before;
    const change = { event, state, previous, isPrompted, isLast: version === row.version };
    const problems = problemsWith(subject, change);
    if (!(steps[before] ?? []).includes(state)) problems.push(`${row.id} cannot go from ${before} to ${state}`);
    violations.push(...problems.map((text): Violation => ({ rule: 'event_wrong', id: event.id, text })));
    before = state;
  }
  if (before !== row.state && violations.length === 0) {
    violations.push({ rule: 'event_wrong', id: row.id, text: `it is ${row.state}, its last event says ${before}` });
  }
  const surplus = events.filter(({ version }) => version === null || version < firstVersion || version > row.version);
  for (const { id, version } of surplus) {
    violations.push({ rule: 'event_surplus', id, text: `${row.id} has no change ${version ?? 'without a number'}` });
  }
  return violations;
}

function checkDeliveries({ records, received, endpoints }: Case): Violation[] {
  const deliveries = groupBy(records.deliveries, ({ eventId, endpointId }) => `${eventId} ${endpointId}`);
  const accepted = new Set(
    received
      .filter(({ status }) => status === 200)
      .map(({ path, headers }) => `${headers['malipo-event-id'] ?? ''} ${path}`),
  );
  const endpointsOf = groupBy(endpoints, ({ merchantId }) => merchantId);
  return records.events.flatMap(({ id, merchantId }) =>
    (endpointsOf.get(merchantId) ?? []).flatMap((endpoint): Violation[] => {
      const [delivery, ...more] = deliveries.get(`${id} ${endpoint.id}`) ?? [];
      if (!delivery || more.length > 0) {
        return [
          {
            rule: 'delivery_missing',
            id,
            text: `it has ${delivery ? more.length + 1 : 0} deliveries to ${endpoint.id}`,
          },
        ];
      }
      if (delivery.state !== 'delivered') {
        return [{ rule: 'delivery_unfinished', id: delivery.id, text: `it is ${delivery.state}` }];
      }
      if (accepted.has(`${id} ${endpoint.path}`)) return [];
      return [{ rule: 'webhook_not_received', id, text: `${delivery.id} is delivered, and the receiver never got it` }];
    }),
  );
}

function checkReceived({ records, received, endpoints }: Case): Violation[] {
  const events = new Map(records.events.map((event) => [event.id, event]));
  const deliveries = new Map(records.deliveries.map((delivery) => [delivery.id, delivery]));
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  return received.flatMap((request): Violation[] => {
    const body = Buffer.from(request.body, 'base64');
    const id = request.headers['malipo-event-id'] ?? '';
    const event = events.get(id);
    const endpoint = byPath.get(request.path);
    const delivery = deliveries.get(request.headers['malipo-delivery-id'] ?? '');
    const problems = [
      !event && 'the database does not have this event',
      event && !body.equals(Buffer.from(event.body, 'utf8')) && 'its bytes are not those of the event',
      (delivery?.eventId !== id || delivery.endpointId !== endpoint?.id) &&
        'its delivery is of another event or endpoint',
      endpoint?.merchantId !== event?.merchantId && 'it went to another merchant',
      !isSignatureValid(request, body, endpoint) && 'its signature is not valid',
    ].filter((problem) => typeof problem === 'string');
    return problems.map((text) => ({ rule: 'webhook_wrong', id, text }));
  });
}

function isSignatureValid({ headers, atMs }: Received, body: Buffer, endpoint: Endpoint | undefined): boolean {
  const pairs = (headers['malipo-signature'] ?? '').split(',').map((pair) => pair.split('='));
  const t = pairs.find(([name]) => name === 't')?.[1] ?? '';
  if (!endpoint || Math.abs(atMs - Number(t) * 1000) > SIGNATURE_AGE_LIMIT_MS) return false;
  const expected = createHmac('sha256', endpoint.secret).update(`${t}.`).update(body).digest('hex');
  return pairs.some(([name, value]) => name === 'v1' && value === expected);
}
