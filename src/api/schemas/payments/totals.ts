// Totals of payments on the wire, and the overview that contains them.
import { z } from 'zod';
import { COLLECTION_STATES } from '../../../domain/payments/collection.ts';
import { PAYOUT_STATES } from '../../../domain/payments/payout.ts';
import {
  MAX_TOTAL_DAYS,
  OPERATOR_HEALTH,
  TOTAL_KINDS,
  type DayTotal,
  type PaymentTotal,
} from '../../../domain/payments/totals.ts';
import { endpointObject } from '../../../domain/webhooks/endpoint.ts';
import { clocksOf, dateShown, isTimeZone } from '../../../domain/time-zone.ts';
import type { Overview, SpanTotals } from '../../../operations/get-overview.ts';
import { objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { endpointSchema } from '../webhooks/endpoint.ts';
import { balanceObject, balanceSchema } from './balance.ts';
import { currency, operator } from './payment.ts';

const DAY_MS = 86_400_000;
const DATE = '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$';
const states = [...new Set([...COLLECTION_STATES, ...PAYOUT_STATES])];

const day = (name: string) =>
  z
    .string()
    .refine((text) => new RegExp(DATE).test(text) && isDate(text), {
      error: `${name} must be a date as YYYY-MM-DD.`,
    })
    .optional();

function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

const timeZone = z
  .string()
  .refine(isTimeZone, {
    error: 'time_zone must be the name of a time zone, for example Africa/Kampala.',
  })
  .default('UTC')
  .meta({
    description: 'The time zone in which the days begin: a current or former IANA name.',
    example: 'Africa/Kampala',
    pattern: '^[A-Z][A-Za-z0-9_+/-]{1,40}$',
  });

export const getTotalsSchema = z.strictObject({
  from: day('from').meta({
    description: 'The first day. Default: 29 days before `to`.',
    example: '2026-01-01',
    format: 'date',
  }),
  to: day('to').meta({ description: 'The last day. Default: today.', example: '2026-01-31', format: 'date' }),
  time_zone: timeZone,
});

export const getOverviewSchema = z.strictObject({ time_zone: timeZone });

/** The days that a query requests, or the issue with its range. */
export function daysOf(query: z.output<typeof getTotalsSchema>, at: Date) {
  const { time_zone: zone } = query;
  const to = query.to ?? dateShown(clocksOf(zone), at);
  const from = query.from ?? new Date(Date.parse(to) - 29 * DAY_MS).toISOString().slice(0, 10);
  return { from, to, timeZone: zone, isInRange: isInRange(from, to) };
}

function isInRange(from: string, to: string): boolean {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return days >= 1 && days <= MAX_TOTAL_DAYS;
}

const totalSchema = objectSchema('PaymentTotal', {
  kind: z.enum(TOTAL_KINDS),
  operator,
  state: z.enum(states).meta({
    description: 'The current state, whenever the payment reached it.',
    example: 'succeeded',
  }),
  count: z.int().min(0).meta({ example: 12 }),
  amount: z.int().min(0).meta({ description: 'The sum of their amounts, in the smallest unit.', example: 60000 }),
});
const shownDay = z.string().regex(new RegExp(DATE)).meta({ example: '2026-01-31' });

export const totalsSchema = objectSchema('Totals', {
  from: shownDay,
  to: shownDay,
  time_zone: z.string().meta({ example: 'Africa/Kampala' }),
  currency,
  data: z
    .array(objectSchema('DayTotal', { date: shownDay, ...totalSchema.shape }))
    .meta({ description: 'Newest day first. A combination without payments is left out.' }),
});

const spanSchema = z
  .strictObject({ from: time, to: time, totals: z.array(totalSchema) })
  .meta({ id: 'SpanTotals', description: 'The payments created at or after `from` and before `to`.' });
const rate = z.number().min(0).max(1).nullable().meta({
  description: 'The paid share of the payments with a known outcome. Null: there are none.',
  example: 0.94,
});
const waitsForYouSchema = z
  .strictObject({
    payouts: z.int().min(0),
    reversals: z.int().min(0),
    invitations: z.int().min(0),
    member_changes: z.int().min(0),
    policy_changes: z.int().min(0),
  })
  .meta({ id: 'WaitsForYou', description: 'For payouts and reversals, 1000 means that many or more.' });
const waitingSchema = z
  .strictObject({ payouts: z.int().min(0), reversals: z.int().min(0) })
  .meta({ id: 'Waiting', description: '1000 means that many or more.' });

const operatorOverviewSchema = z
  .strictObject({
    operator,
    collection_success_rate: rate,
    payout_success_rate: rate,
    health: z.enum(OPERATOR_HEALTH).meta({
      description:
        'Derived from your own payments of the last hour. `undecided`: the operator has reported no outcome for a fifth ' +
        'or more of them. `unknown`: nothing was sent to the operator.',
    }),
  })
  .meta({ id: 'OperatorOverview', description: 'The rates cover the payments of the last 24 hours.' });

export const overviewSchema = objectSchema('Overview', {
  as_of: time,
  time_zone: z.string().meta({ example: 'Africa/Kampala' }),
  balance: balanceSchema,
  today: spanSchema,
  week_ago: spanSchema,
  operators: z.array(operatorOverviewSchema),
  waits_for_you: waitsForYouSchema,
  waits_for_others: waitingSchema,
  failing_endpoints: z.array(endpointSchema).meta({ example: [] }),
});

const totalObject = (total: PaymentTotal) => wireObject(totalSchema, { ...total, amount: total.amountMinor });

export function dayTotalObject(total: DayTotal) {
  return { date: total.date, ...totalObject(total) };
}

const spanObject = ({ from, to, totals }: SpanTotals) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  totals: totals.map(totalObject),
});

export function overviewObject(overview: Overview, zone: string, failingLimitMs: number) {
  return {
    as_of: overview.asOf.toISOString(),
    time_zone: zone,
    balance: balanceObject(overview.balance),
    today: spanObject(overview.today),
    week_ago: spanObject(overview.weekAgo),
    operators: overview.operators.map((each) => wireObject(operatorOverviewSchema, each)),
    waits_for_you: wireObject(waitsForYouSchema, overview.waitsForYou),
    waits_for_others: overview.waitsForOthers,
    failing_endpoints: overview.failingEndpoints.map((endpoint) =>
      endpointObject(endpoint, { at: overview.asOf, failingLimitMs }),
    ),
  };
}
