// Rules about events and webhooks: one event per change in order, each received at least once, signed, in the same bytes.
import { createHmac } from 'node:crypto';
import type { Endpoint, Received } from './evidence.ts';
import type { EventRow } from './records.ts';
import { groupBy, type Case, type Rules, type Violation } from './violation.ts';

export const eventRules: Rules = (evidence) => [
  ...checkEvents(evidence),
  ...checkDeliveries(evidence),
  ...checkReceived(evidence),
];

/** From each state, the states that may follow; the event of a change names both. */
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
  released: ['succeeded', 'failed', 'reconciling'],
  reconciling: ['succeeded', 'failed'],
  succeeded: ['reversed'],
};
const SIGNATURE_AGE_LIMIT_MS = 300_000;

type Subject = { readonly id: string; readonly state: string; readonly version: number };
type Body = {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: { readonly id: string; readonly state: string }; readonly previous_state: string };
};

function checkEvents({ records }: Case): Violation[] {
  const byPayment = groupBy(
    records.events.filter(({ paymentId }) => paymentId !== null),
    ({ paymentId }) => paymentId ?? '',
  );
  const check = (kind: 'collection' | 'payout', row: Subject): Violation[] => {
    const events = (byPayment.get(row.id) ?? []).sort((a, b) => (a.version ?? 0) - (b.version ?? 0));
    byPayment.delete(row.id);
    return checkChain(kind, row, events);
  };
  return [
    ...records.collections.flatMap((row) => check('collection', row)),
    ...records.payouts.flatMap((row) => check('payout', row)),
    ...[...byPayment].map(([id]): Violation => ({
      rule: 'event_surplus',
      id,
      text: 'an event is about a payment that does not exist',
    })),
  ];
}

function checkChain(kind: 'collection' | 'payout', row: Subject, events: readonly EventRow[]): Violation[] {
  const [steps, firstVersion, start] =
    kind === 'collection' ? [COLLECTION_STEPS, 1, 'initiated'] : [PAYOUT_STEPS, 0, ''];
  const violations: Violation[] = [];
  let state = start;
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
    const problem = problemWith(event, kind, row.id, state);
    if (problem !== null) violations.push({ rule: 'event_wrong', id: event.id, text: problem });
    const next = event.type.slice(kind.length + 1);
    if (!(steps[state] ?? []).includes(next)) {
      violations.push({ rule: 'event_wrong', id: event.id, text: `${row.id} cannot go from ${state} to ${next}` });
    }
    state = next;
  }
  if (state !== row.state && violations.length === 0) {
    violations.push({ rule: 'event_wrong', id: row.id, text: `it is ${row.state}, its last event says ${state}` });
  }
  const surplus = events.filter(({ version }) => version === null || version < firstVersion || version > row.version);
  for (const { id, version } of surplus) {
    violations.push({ rule: 'event_surplus', id, text: `${row.id} has no change ${version ?? 'without a number'}` });
  }
  return violations;
}

function problemWith({ id, type, body }: EventRow, kind: string, paymentId: string, before: string): string | null {
  const parsed = JSON.parse(body) as Body;
  const { object, previous_state: previous } = parsed.data;
  if (parsed.id !== id || parsed.type !== type) return `its body names ${parsed.id} (${parsed.type})`;
  if (object.id !== paymentId) return `its body is about ${object.id}, not ${paymentId}`;
  if (`${kind}.${object.state}` !== type) return `it is ${type}, its body shows ${object.state}`;
  return (previous as string | null) === (before === '' ? null : before)
    ? null
    : `its body says that the state before was ${previous}, not ${before}`;
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
